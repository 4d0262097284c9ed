// SPDX-License-Identifier: Apache-2.0
// When a row of pages is formed out of the write buffer, and of which partition (ftl/allocation/write_partitions.h).
//
// A full row is a page of each plane of a group. It is formed when someone waits for room. It is also formed when more
// of the buffer is dirty than its high watermark, until no more is than its low one. The rest stays, even in an idle
// drive, until a flush wants it.
//
// Less than a row is formed for a unit that must become durable. It is also formed when a command waits for room, or a
// unit that was read has found none, and nothing under way will give it any. With several partitions, some of which
// always wait for more, that would leave most dies idle. There, if no partition has a full row, as many programs may be
// under way as commands wait for room. The fullest partition with nothing under way goes first.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/wait_queues/wait_queues.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class RowChoice {
public:
    static constexpr std::uint32_t kNoPartition = 0xFFFFFFFFu;

    RowChoice(const FtlConfig& config, const Ftl& ftl, const WriteBuffer& buffer, const WaitQueues& wait_queues);

    std::uint32_t row_pages() const { return row_pages_; }
    std::uint32_t row_units() const { return row_units_; }
    /// The partition whose units are to be programmed now; kNoPartition: none.
    std::uint32_t next() {
        if (buffer_.dirty() <= stop_level_)
            empties_ = false;
        else if (buffer_.dirty() > start_level_)
            empties_ = true;
        if (programs_ + row_pages_ > program_limit_ || buffer_.queued() == 0) return kNoPartition;
        if (__builtin_expect(of_partition_.empty(), 1)) return may_form() ? 0 : kNoPartition;
        return next_of_several();
    }
    /// The share of the partitions with queued units or programs under way whose units would be programmed now if fewer
    /// programs were under way.
    double held_back() const;
    std::uint32_t limit() const { return program_limit_; }
    /// begun() and ended() count programs; a program is a page.
    void begun(std::uint32_t partition, std::uint32_t programs) {
        programs_ += programs;
        if (__builtin_expect(!of_partition_.empty(), 0)) of_partition_[partition] += programs;
    }
    void ended(std::uint32_t partition) {
        --programs_;
        if (__builtin_expect(!of_partition_.empty(), 0)) --of_partition_[partition];
    }
    std::uint32_t programs() const { return programs_; }
    std::uint32_t programs(std::uint32_t partition) const {
        return of_partition_.empty() ? programs_ : of_partition_[partition];
    }
    /// Throws CheckFailed if the buffer may program units without waiting for more, and the limit would allow it, but
    /// no row is formed.
    void check() const;
    template <class Archive>
    void state(Archive& s) {
        s(turn_);
        s.require(of_partition_.empty() ? turn_ == 0 : turn_ < of_partition_.size(),
                  "a turn of a partition that there is not");
    }

private:
    bool is_room_wanted() const;
    bool may_form() const;
    std::uint32_t next_of_several();

    const WriteBuffer& buffer_;
    const WaitQueues& wait_queues_;
    const std::uint32_t program_limit_;
    const std::uint32_t row_pages_;  ///< pages that are programmed together, if there is data for them
    const std::uint32_t row_units_;
    const std::uint32_t start_level_;  ///< dirty units above which full rows begin to be formed
    const std::uint32_t stop_level_;   ///< and down to which they are
    bool empties_ = false;             ///< was above the one, and not yet down at the other
    std::vector<std::uint32_t> limit_of_partition_;
    std::uint32_t programs_ = 0;
    std::vector<std::uint32_t> of_partition_;  // programs of each partition; empty when there is one
    std::uint32_t turn_ = 0;
};

}  // namespace ssdtlm
