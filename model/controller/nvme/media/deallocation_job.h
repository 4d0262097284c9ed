// SPDX-License-Identifier: Apache-2.0
// Deallocates parts of the drive from end to end, in pieces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "controller/nvme/media/media_work.h"

namespace ssdtlm {

class DeallocationJob final : public MediaJob {
public:
    /// Of one command; assumed. 64 MiB at blocks of 4 KiB.
    static constexpr std::uint32_t kPiece = 1u << 14;
    using Progress = std::function<void(std::uint64_t blocks_to_go)>;
    using Done = std::function<void(bool well)>;

    /// `blocks` of the drive from `first` on.
    DeallocationJob(const char* name, std::uint64_t first, std::uint64_t blocks, Progress progress, Done done)
        : name_(name),
          at_(first),
          end_(first + blocks),
          to_go_(blocks),
          progress_(std::move(progress)),
          done_(std::move(done)) {}

    const char* name() const override { return name_; }
    bool next(NvmeCommand& c) override {
        if (at_ == end_) return false;
        c.op = IoOp::deallocate;
        const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(end_ - at_, kPiece));
        c.ranges.assign(1, LbaRange{at_, blocks});
        c.blocks = blocks;
        at_ += blocks;
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
    std::uint64_t at_, end_, to_go_;
    bool well_ = true;
    Progress progress_;
    Done done_;
};

}  // namespace ssdtlm
