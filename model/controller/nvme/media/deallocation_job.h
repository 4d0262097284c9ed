// SPDX-License-Identifier: Apache-2.0
// Deallocates a part of the drive from end to end, in pieces of whole mapping units. Deallocation has no effect on a
// unit that is only partly inside, so its blocks are overwritten with zeros. A flush follows, so that deallocated data
// do not come back after a loss of power.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "controller/nvme/media/media_work.h"

namespace ssdtlm {

class DeallocationJob final : public MediaJob {
public:
    /// Blocks of one command: 64 MiB at blocks of 4 KiB. assumed
    static constexpr std::uint32_t kPiece = 1u << 14;
    using Progress = std::function<void(std::uint64_t blocks_to_go)>;
    using Done = std::function<void(bool well)>;

    struct Part {
        std::uint64_t first = 0, blocks = 0;  ///< blocks of the drive
        std::uint32_t lba_bytes = 4096;
        std::uint32_t unit_blocks = 1;  ///< blocks of a mapping unit
    };
    /// `unit_bytes` is the size of a mapping unit.
    static Part part(std::uint64_t first, std::uint64_t blocks, std::uint32_t lba_bytes, std::uint32_t unit_bytes) {
        return {first, blocks, lba_bytes, std::max(unit_bytes / lba_bytes, 1u)};
    }

    DeallocationJob(const char* name, const Part& part, Progress progress, Done done)
        : name_(name),
          part_(part),
          at_(part.first),
          end_(part.first + part.blocks),
          to_go_(part.blocks),
          progress_(std::move(progress)),
          done_(std::move(done)) {}

    const char* name() const override { return name_; }
    bool next(NvmeCommand& c) override {
        if (at_ == end_) {
            if (std::exchange(flushes_, true)) return false;
            c.op = IoOp::flush;
            return true;
        }
        const std::uint64_t unit = part_.unit_blocks, from = at_;
        const std::uint64_t next_unit = (from / unit + 1) * unit;
        if (from % unit != 0 || next_unit > end_) {
            at_ = std::min(next_unit, end_);
            c.op = IoOp::write;
            c.slba = from;
            c.bytes = (at_ - from) * part_.lba_bytes;
            c.special.data = SpecialCommand::Data::kept;
            c.special.kept.assign(c.bytes, 0);
        } else {
            const std::uint64_t most = std::max<std::uint64_t>(kPiece / unit, 1) * unit;
            at_ = std::min(from + most, end_ / unit * unit);
            c.op = IoOp::deallocate;
            c.ranges.assign(1, LbaRange{from, static_cast<std::uint32_t>(at_ - from)});
        }
        c.blocks = static_cast<std::uint32_t>(at_ - from);
        return true;
    }
    void ended(const NvmeCommand& c) override {
        well_ = well_ && c.status == CommandStatus::success;
        to_go_ -= c.blocks;
        progress_(to_go_);
    }
    void done() override { done_(well_); }
    bool waits_for_host() const override { return true; }

private:
    const char* name_;
    const Part part_;
    std::uint64_t at_, end_, to_go_;
    bool well_ = true, flushes_ = false;
    Progress progress_;
    Done done_;
};

}  // namespace ssdtlm
