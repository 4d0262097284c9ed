// SPDX-License-Identifier: Apache-2.0
// Where the files of fio jobs lie on the drive, side by side in order of first use, and which of them fio writes in
// full before the jobs start ("Laying out IO file"; fio 3.33, filesetup.c). A file system's own blocks, its journal
// and its choice of places are in host_files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job.h"

namespace ssdtlm {

/// The place of one file, as jobs address it.
struct FioFilePlace {
    std::uint64_t begin = 0;      ///< device address, or of a file system's files
    std::uint64_t bytes = 0;      ///< that any job uses
    std::uint64_t allocated = 0;  ///< that fallocate() gives it before the jobs start
};
/// One file that is written before the jobs start, on behalf of job clone `job`.
struct FioFill {
    std::uint32_t job = 0;
    std::uint64_t offset = 0;  ///< device address
    std::uint64_t bytes = 0;
};

class FioLayout {
public:
    /// How fio treats a file that is shorter than a job needs.
    enum class Extend : std::uint8_t {
        nothing,   ///< the job makes it longer as it writes
        lengthen,  ///< it gets its length, but no room and no data
        allocate,  ///< it gets its length and room, but no data
        write_out  ///< it is written in full
    };
    /// Job clone `job` uses file `name` up to `bytes`. Returns the file's number.
    std::size_t use(const std::string& name, std::uint64_t bytes, std::uint32_t job, Extend extend);
    /// Gives every file its place. Returns the bytes that all of them take, from address 0.
    std::uint64_t place(std::uint64_t lba_bytes);
    std::uint64_t offset(std::size_t file) const { return files_[file].offset; }
    std::uint64_t bytes(std::size_t file) const { return files_[file].bytes; }
    bool empty() const { return files_.empty(); }
    /// The places of all files, by address. Call it after place().
    std::vector<FioFilePlace> places() const;
    /// The files that are written before the jobs start, in order. Call it after place().
    std::vector<FioFill> fills() const;

private:
    struct File {
        std::uint64_t bytes = 0;
        std::uint64_t offset = 0;
        std::uint64_t length = 0;  // that it has before the jobs
        std::uint64_t allocated = 0;
        std::uint64_t filled = 0;  // bytes from its begin that are written before the jobs
        std::uint32_t filler = 0;
    };
    std::vector<File> files_;
    std::map<std::string, std::size_t> by_name_;
};

}  // namespace ssdtlm
