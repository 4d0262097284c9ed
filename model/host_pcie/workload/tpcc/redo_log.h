// SPDX-License-Identifier: Apache-2.0
// A redo log: a ring on the drive. One thread writes it in order, with one write at a time and a flush at the end of a
// round. All commits that come while it is busy share the next round. A write begins with the block in which the last
// write ended, and rewrites this block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class RedoLog {
public:
    static constexpr std::uint64_t kMostBytes = 65536;  ///< of one write (assumed)

    /// `size` and `begin` are multiples of `block`.
    RedoLog(std::uint64_t begin, std::uint64_t size, std::uint32_t block) : begin_(begin), size_(size), block_(block) {}

    /// Bytes logged so far. It is the LSN of the next change.
    std::uint64_t lsn() const { return lsn_; }
    std::uint64_t append(std::uint64_t bytes) { return lsn_ += bytes; }
    /// All changes before this LSN survive a loss of power.
    std::uint64_t flushed() const { return flushed_; }
    /// Counts everything logged so far as flushed. Call it before the run.
    void settle() { flushed_ = written_ = wanted_ = lsn_; }
    /// Asks for a flush of the log up to this LSN.
    void want(std::uint64_t lsn) { wanted_ = std::max(wanted_, lsn); }
    bool idle() const { return phase_ == Phase::idle && wanted_ <= flushed_; }

    /// The next write or flush; false when there is none now.
    bool next(HostRequest& request) {
        if (under_way_ || idle()) return false;
        if (phase_ == Phase::idle) {
            phase_ = Phase::writing;
            target_ = lsn_;
        }
        under_way_ = true;
        if (written_ == target_) {
            phase_ = Phase::flushing;
            request.op = HostOp::flush;
            ++flushes_;
            return true;
        }
        const std::uint64_t from = written_ / block_ * block_;
        const std::uint64_t ring_end = (from / size_ + 1) * size_;
        write_end_ = std::min({(target_ + block_ - 1) / block_ * block_, from + kMostBytes, ring_end});
        request.op = HostOp::write;
        request.offset = begin_ + from % size_;
        request.bytes = static_cast<std::uint32_t>(write_end_ - from);
        bytes_ += request.bytes;
        ++writes_;
        return true;
    }
    /// The write or flush under way has completed.
    void completed() {
        under_way_ = false;
        if (phase_ == Phase::flushing) {
            flushed_ = target_;
            phase_ = Phase::idle;
        } else {
            written_ = std::min(write_end_, target_);
        }
    }

    std::uint64_t writes() const { return writes_; }
    std::uint64_t flushes() const { return flushes_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    enum class Phase : std::uint8_t { idle, writing, flushing };
    std::uint64_t begin_, size_;
    std::uint32_t block_;
    Phase phase_ = Phase::idle;
    bool under_way_ = false;
    std::uint64_t lsn_ = 0;
    std::uint64_t wanted_ = 0;
    std::uint64_t target_ = 0;  // of this round
    std::uint64_t written_ = 0;
    std::uint64_t write_end_ = 0;  // of the write under way
    std::uint64_t flushed_ = 0;
    std::uint64_t writes_ = 0, flushes_ = 0, bytes_ = 0;
};

}  // namespace ssdtlm
