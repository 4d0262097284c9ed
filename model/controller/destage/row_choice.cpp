// SPDX-License-Identifier: Apache-2.0
#include "controller/destage/row_choice.h"

#include <algorithm>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
/// Most lower pages that wait for their upper ones, with flash that is programmed in two steps. They are in flash, and
/// do not count against the limit.
std::uint32_t held_most(const Ftl& ftl, std::uint32_t planes) {
    return ftl.geometry().two_step ? 2 * planes * (1 + ftl.partitions().streams()) : 0;
}
}  // namespace

RowChoice::RowChoice(const FtlConfig& config, const Ftl& ftl, const WriteBuffer& buffer, const WaitQueues& wait_queues)
    : buffer_(buffer),
      wait_queues_(wait_queues),
      program_limit_(ftl.geometry().dies() * config.flush_depth(ftl.geometry()) +
                     held_most(ftl, ftl.geometry().planes())),
      row_pages_(std::min(ftl.shape().joined(), ftl.geometry().dies() * config.flush_depth(ftl.geometry()))),
      row_units_(row_pages_ * ftl.geometry().units_per_page()),
      start_level_(static_cast<std::uint32_t>(std::uint64_t{buffer.capacity()} * config.flush_start_percent / 100)),
      stop_level_(std::min(start_level_, static_cast<std::uint32_t>(std::uint64_t{buffer.capacity()} *
                                                                    config.flush_stop_percent / 100))) {
    const WritePartitions& partitions = ftl.partitions();
    if (partitions.count() == 1) return;
    of_partition_.resize(partitions.count());
    for (std::uint32_t partition = 0; partition < partitions.count(); ++partition) {
        const auto groups = static_cast<std::uint32_t>(partitions.groups(partition).size());
        limit_of_partition_.push_back(std::max(row_pages_ + held_most(ftl, groups * ftl.shape().planes()),
                                               program_limit_ * groups / ftl.shape().groups()));
    }
}

inline bool RowChoice::is_room_wanted() const {
    return wait_queues_.anybody_for_room() &&
           (__builtin_expect(buffer_.quotas().shared(), 1) || buffer_.programs_give_room());
}

bool RowChoice::may_form() const {
    if (buffer_.demanded()) return true;
    const bool room_wanted = is_room_wanted();
    if (buffer_.queued() >= row_units_) return empties_ || room_wanted || buffer_.is_wanted();
    const bool data_on_its_way = buffer_.used() != buffer_.held();
    return (room_wanted || buffer_.is_wanted()) && programs_ == 0 && !data_on_its_way;
}

double RowChoice::held_back() const {
    if (buffer_.queued() == 0) return 0;
    const bool all_full = programs_ + row_pages_ > program_limit_;
    if (of_partition_.empty()) return all_full && may_form();
    const bool full_rows = empties_ || is_room_wanted() || buffer_.is_wanted();
    std::uint32_t held = 0, in_use = 0;
    for (std::uint32_t partition = 0; partition < of_partition_.size(); ++partition) {
        in_use += of_partition_[partition] != 0 || buffer_.queued(partition) != 0;
        held += (all_full || of_partition_[partition] + row_pages_ > limit_of_partition_[partition]) &&
                (buffer_.demanded(partition) || (full_rows && buffer_.queued(partition) >= row_units_));
    }
    return in_use == 0 ? 0 : static_cast<double>(held) / in_use;
}

__attribute__((noinline)) std::uint32_t RowChoice::next_of_several() {
    const bool room_wanted = is_room_wanted();
    const bool full_rows = empties_ || room_wanted || buffer_.is_wanted();
    const auto partitions = static_cast<std::uint32_t>(of_partition_.size());
    bool any_full = false;
    std::uint32_t fullest = kNoPartition;
    for (std::uint32_t i = 0; i < partitions; ++i) {
        const std::uint32_t partition = turn_ + i < partitions ? turn_ + i : turn_ + i - partitions,
                            queued = buffer_.queued(partition);
        if (queued == 0) continue;
        any_full = any_full || queued >= row_units_;
        if (of_partition_[partition] + row_pages_ > limit_of_partition_[partition]) continue;
        if (buffer_.demanded(partition) || (full_rows && queued >= row_units_)) {
            turn_ = partition + 1 < partitions ? partition + 1 : 0;
            return partition;
        }
        if (of_partition_[partition] == 0 && (fullest == kNoPartition || queued > buffer_.queued(fullest)))
            fullest = partition;
    }
    const bool data_on_its_way = buffer_.used() != buffer_.held();
    const std::size_t most = room_wanted ? wait_queues_.count_for_room() : buffer_.is_wanted();
    return !any_full && !data_on_its_way && programs_ < most ? fullest : kNoPartition;
}

void RowChoice::check() const {
    const auto partitions = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(of_partition_.size()));
    for (std::uint32_t partition = 0; partition < partitions; ++partition) {
        const std::uint32_t running = programs(partition),
                            limit = of_partition_.empty() ? program_limit_ : limit_of_partition_[partition];
        const bool must_form =
            buffer_.demanded(partition) ||
            (buffer_.queued(partition) >= row_units_ &&
             (buffer_.dirty() > start_level_ || (empties_ && buffer_.dirty() > stop_level_) || buffer_.is_wanted()));
        if (must_form && running + row_pages_ <= limit && programs_ + row_pages_ <= program_limit_)
            throw CheckFailed("destage: " + std::to_string(buffer_.queued(partition)) + " dirty units" +
                              (partitions == 1 ? "" : " of partition " + std::to_string(partition)) +
                              " may be programmed, but only " + std::to_string(running) + " of " +
                              std::to_string(limit) + " programs are under way");
    }
}

}  // namespace ssdtlm
