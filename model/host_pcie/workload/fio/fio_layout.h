// SPDX-License-Identifier: Apache-2.0
// Puts the files of fio jobs on the drive, side by side in the order of first use. It also finds the files that fio
// writes completely before the jobs start ("Laying out IO file"; fio 3.33, filesetup.c). The blocks of a file system,
// its journal and its choice of places are in host_files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job.h"

namespace ssdtlm {

/// The place of one file, as jobs address it.
struct FioFilePlace {
    std::uint64_t begin = 0;      ///< address on the device, or among the files of a file system
    std::uint64_t bytes = 0;      ///< length that the jobs use
    std::uint64_t allocated = 0;  ///< bytes that fallocate() gives it before the jobs start
};
/// A file that is written before the jobs start, for job clone `job`.
struct FioFill {
    std::uint32_t job = 0;
    std::uint64_t offset = 0;  ///< device address
    std::uint64_t bytes = 0;
};

class FioLayout {
public:
    /// How fio treats a file that is shorter than a job needs.
    enum class Extend : std::uint8_t {
        nothing,   ///< the job lengthens it by its writes
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
        std::uint64_t length = 0;  // length before the jobs start
        std::uint64_t allocated = 0;
        std::uint64_t filled = 0;  // bytes from its begin that are written before the jobs
        std::uint32_t filler = 0;
    };
    std::vector<File> files_;
    std::map<std::string, std::size_t> by_name_;
};

}  // namespace ssdtlm
