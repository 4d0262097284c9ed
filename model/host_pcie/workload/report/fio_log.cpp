// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/report/fio_log.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>

#include "common/report/error.h"
#include "common/report/part_file.h"

namespace ssdtlm {

namespace {
constexpr std::size_t kBlock = 1u << 14;
}

FioLog::FioLog(const std::string& path, std::uint32_t avg_msec, bool with_offset)
    : path_(path), file_(std::fopen(part_of(path).c_str(), "w")), avg_msec_(avg_msec), with_offset_(with_offset) {
    if (!file_)
        throw UserError(
            Problem{path, std::string("cannot create: ") + std::strerror(errno), "a writable place for fio logs", ""});
    lines_.reserve(kBlock);
}

FioLog::~FioLog() {
    if (!file_) return;
    file_.reset();
    std::remove(part_of(path_).c_str());
}

void FioLog::append(const Line& line) {
    lines_.push_back(line);
    if (lines_.size() == kBlock) flush();
}

void FioLog::flush() {
    if (!file_) return;
    for (const Line& l : lines_) {
        int n;
        if (with_offset_) {
            n = std::fprintf(file_.get(), "%" PRIu64 ", %" PRIu64 ", %u, %" PRIu32 ", %" PRIu64 ", 0\n", l.ms, l.value,
                             static_cast<unsigned>(l.op), l.bytes, l.offset);
        } else {
            n = std::fprintf(file_.get(), "%" PRIu64 ", %" PRIu64 ", %u, %" PRIu32 ", 0\n", l.ms, l.value,
                             static_cast<unsigned>(l.op), l.bytes);
        }
        failed_ |= n < 0;
    }
    lines_.clear();
}

void FioLog::add(std::uint64_t ms, std::uint64_t value, HostOp op, std::uint32_t bytes, std::uint64_t offset) {
    if (!averaging()) {
        append(Line{ms, value, offset, bytes, op});
        return;
    }
    Mean& mean = means_[static_cast<std::size_t>(op)];
    ++mean.count;
    mean.sum += value;
    // As in fio, the sample that crosses the boundary still belongs to the old mean, and the grid stays fixed.
    if (ms >= mean.begin + avg_msec_) {
        emit_mean(op, ms);
        mean.begin = ms - ms % avg_msec_;
    }
}

void FioLog::emit_mean(HostOp op, std::uint64_t ms) {
    Mean& mean = means_[static_cast<std::size_t>(op)];
    if (mean.count == 0) return;
    append(Line{ms, (mean.sum + mean.count / 2) / mean.count, 0, 0, op});
    mean.count = mean.sum = 0;
}

void FioLog::finish(std::uint64_t ms) {
    if (averaging())
        for (HostOp op : {HostOp::read, HostOp::write, HostOp::trim}) emit_mean(op, ms);
    flush();
    if (!file_) return;
    errno = 0;
    if (std::fflush(file_.get()) != 0 || failed_)
        throw OutputError(Problem{path_, "cannot be written: " + system_reason(), "", "free some disk space"});
    file_.reset();
    publish(path_);
}

}  // namespace ssdtlm
