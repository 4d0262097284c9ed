// SPDX-License-Identifier: Apache-2.0
// One of fio's log files (<prefix>_{bw,iops,slat,clat,lat}.<n>.log): lines of "time ms, value, direction, block size,
// priority", with the offset before the priority under log_offset=1, one per I/O or one mean per log_avg_msec.
// Lines go to the file in blocks; nothing is written per I/O.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class FioLog {
public:
    /// Throws UserError when the file cannot be created. avg_msec 0: every sample is a line.
    FioLog(const std::string& path, std::uint32_t avg_msec, bool with_offset);
    /// Removes a file that is not finished.
    ~FioLog();
    FioLog(const FioLog&) = delete;
    FioLog& operator=(const FioLog&) = delete;

    /// Adds a sample of an I/O that completed `ms` after the job's start: a read, write or trim.
    void add(std::uint64_t ms, std::uint64_t value, HostOp op, std::uint32_t bytes, std::uint64_t offset);
    /// Writes the last, incomplete means; the file has its name from here on. Throws OutputError when the disk is full.
    void finish(std::uint64_t ms);
    bool averaging() const { return avg_msec_ != 0; }
    const std::string& path() const { return path_; }

private:
    struct Line {
        std::uint64_t ms;
        std::uint64_t value;
        std::uint64_t offset;
        std::uint32_t bytes;
        HostOp op;
    };
    struct Mean {
        std::uint64_t count = 0;
        std::uint64_t sum = 0;
        std::uint64_t begin = 0;  // ms
    };
    struct Close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    void append(const Line& line);
    void flush();
    void emit_mean(HostOp op, std::uint64_t ms);

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    std::uint32_t avg_msec_;
    bool with_offset_;
    bool failed_ = false;
    std::vector<Line> lines_;
    std::array<Mean, 3> means_{};
};

}  // namespace ssdtlm
