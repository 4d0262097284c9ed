// SPDX-License-Identifier: Apache-2.0
// The boundary of file systems. A file system turns calls of a job into I/O of the drive, and says what a sync has to
// wait for. It is kernel-free: its caller gives it the time, and it never waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// One I/O of the drive. Addresses are bytes from the beginning of the file system.
struct FileIo {
    HostOp op = HostOp::write;
    bool fua = false;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  ///< 0 for a flush
};

/// A file system on a drive, or on a part of a drive. Files are numbered from 0 in the order of create(). Offsets and
/// lengths of calls are bytes in the file.
///
/// The file system also has I/O of its own (journal, write-back). next() returns it. The caller calls completed() once
/// for each such I/O that has ended, in any order.
class FileSystem {
public:
    virtual ~FileSystem() = default;

    /// The I/Os that make the file system, in steps. I/Os of one step may be in the drive together; the next step
    /// begins when they have ended. An empty list means that the file system exists already.
    virtual std::vector<std::vector<FileIo>> format() = 0;
    /// The bytes that are free for files.
    virtual std::uint64_t room() const = 0;
    /// Creates a file and returns its number. `allocated`: bytes that fallocate() gives it at once; they count as
    /// unwritten.
    virtual std::uint32_t create(std::uint64_t allocated, SimTime now) = 0;

    /// Appends the reads of the drive to `io`. It appends none if these bytes were never written.
    virtual void read(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now,
                      std::vector<FileIo>& io) = 0;
    /// Finds room for the data, and appends the writes to `io`.
    virtual void write(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now,
                       std::vector<FileIo>& io) = 0;
    /// Call it when the data of a write() are on the drive.
    virtual void written(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now) = 0;

    /// The work that a sync of the file waits for.
    struct Sync {
        std::uint64_t transaction = 0;  ///< wait until it is durable(); then the sync has ended
        bool flush = false;             ///< it is durable already, and the drive must be flushed
    };
    /// Does fsync(2), or fdatasync(2) with `data_only`. It asks for the commit that the sync needs.
    virtual Sync sync(std::uint32_t file, bool data_only) = 0;
    virtual bool durable(std::uint64_t transaction) const = 0;

    /// Sets `io` to the next I/O of the file system's own. Returns false if it has none now.
    virtual bool next(SimTime now, FileIo& io) = 0;
    virtual void completed(SimTime now) = 0;
    /// The time at which next() may have an I/O although nothing has happened since. kNever: there is no such time.
    virtual SimTime wakes() const = 0;

    /// Sentences for the report about what the file system did in the run.
    virtual std::vector<std::string> outcomes() const = 0;

    /// The file has its final length, so the blocks that were reserved for its growth become free.
    virtual void close(std::uint32_t file) = 0;
};

}  // namespace ssdtlm
