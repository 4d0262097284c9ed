// SPDX-License-Identifier: Apache-2.0
// What a file system does with the calls of a job: it turns them into I/O of the drive, and says what a sync has to
// wait for. Kernel-free; it is told the time and never waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// One I/O of the drive. Addresses count from the begin of the file system, in bytes.
struct FileIo {
    HostOp op = HostOp::write;
    bool fua = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  ///< 0 for a flush
};

/// One file system on one drive, or on a part of it. Files have numbers, in the order of create(). Offsets and lengths
/// of calls are bytes in the file.
///
/// Besides the I/O of calls there is that of the file system itself (journal, write-back): next() gives it, as long as
/// it has some, and completed() must be told of the end of each, in any order.
class FileSystem {
public:
    virtual ~FileSystem() = default;

    /// The I/Os that make the file system, in steps. Those of a step may be under way together; the next step comes
    /// after them. Empty: the file system is there already.
    virtual std::vector<std::vector<FileIo>> format() = 0;
    /// Bytes that all files together can have.
    virtual std::uint64_t room() const = 0;
    /// Creates a file. `allocated`: bytes that fallocate() gives it at once; none of them is written.
    virtual std::uint32_t create(std::uint64_t allocated, SimTime now) = 0;

    /// Appends what has to be read. If nothing is appended, these bytes were never written.
    virtual void read(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now,
                      std::vector<FileIo>& io) = 0;
    /// Appends what has to be written, after it has found room for it.
    virtual void write(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now,
                       std::vector<FileIo>& io) = 0;
    /// The written data are on the drive.
    virtual void written(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now) = 0;

    /// The work that a sync of the file waits for.
    struct Sync {
        std::uint64_t transaction = 0;  ///< until it is durable(); then nothing else
        bool flush = false;             ///< it is durable, and a flush of the drive is needed
    };
    /// fsync(2), or with `data_only` fdatasync(2). Begins to commit what is needed.
    virtual Sync sync(std::uint32_t file, bool data_only) = 0;
    virtual bool durable(std::uint64_t transaction) const = 0;

    /// Gives the next I/O of its own. False: there is none now.
    virtual bool next(SimTime now, FileIo& io) = 0;
    virtual void completed(SimTime now) = 0;
    /// When next() may have an I/O although nothing has completed; kNever: not before the next call.
    virtual SimTime wakes() const = 0;

    /// Sentences about what it did, after the run.
    virtual std::vector<std::string> outcomes() const = 0;

    /// The file has its final length: what is kept for it to grow into is free.
    virtual void close(std::uint32_t file) = 0;
};

}  // namespace ssdtlm
