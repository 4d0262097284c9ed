// SPDX-License-Identifier: Apache-2.0
#include "controller/destage/row_choice.h"

#include <algorithm>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
/// Of flash that is programmed in two steps: lower pages that wait for their upper ones. They are in flash, and take
/// nobody's turn.
std::uint32_t held_most(const Ftl& ftl, std::uint32_t planes) {
    return ftl.geometry().two_step ? 2 * planes * (1 + ftl.lanes().streams()) : 0;
}
}  // namespace

RowChoice::RowChoice(const FtlConfig& config, const Ftl& ftl, const WriteBuffer& buffer, const Waiters& waiters)
    : buffer_(buffer),
      waiters_(waiters),
      program_limit_(ftl.geometry().dies() * config.flush_depth(ftl.geometry()) +
                     held_most(ftl, ftl.geometry().planes())),
      row_pages_(std::min(ftl.shape().joined(), ftl.geometry().dies() * config.flush_depth(ftl.geometry()))),
      row_units_(row_pages_ * ftl.geometry().units_per_page()),
      start_level_(static_cast<std::uint32_t>(std::uint64_t{buffer.capacity()} * config.flush_start_percent / 100)),
      stop_level_(std::min(start_level_, static_cast<std::uint32_t>(std::uint64_t{buffer.capacity()} *
                                                                    config.flush_stop_percent / 100))) {
    const Lanes& lanes = ftl.lanes();
    if (lanes.count() == 1) return;
    of_lane_.resize(lanes.count());
    for (std::uint32_t lane = 0; lane < lanes.count(); ++lane) {
        const auto groups = static_cast<std::uint32_t>(lanes.groups(lane).size());
        limit_of_lane_.push_back(std::max(row_pages_ + held_most(ftl, groups * ftl.shape().planes()),
                                          program_limit_ * groups / ftl.shape().groups()));
    }
}

inline bool RowChoice::is_room_wanted() const {
    return waiters_.anybody_for_room() &&
           (__builtin_expect(buffer_.quotas().shared(), 1) || buffer_.programs_give_room());
}

bool RowChoice::may_form() const {
    if (buffer_.demanded()) return true;
    const bool room_wanted = is_room_wanted();
    if (buffer_.queued() >= row_units_) return empties_ || room_wanted || buffer_.is_wanted();
    const bool data_on_its_way = buffer_.used() != buffer_.held();
    return (room_wanted || buffer_.is_wanted()) && programs_ == 0 && !data_on_its_way;
}

bool RowChoice::is_held_back() const {
    if (buffer_.queued() == 0) return false;
    const bool all_full = programs_ + row_pages_ > program_limit_;
    if (of_lane_.empty()) return all_full && may_form();
    const bool full_rows = empties_ || is_room_wanted() || buffer_.is_wanted();
    for (std::uint32_t lane = 0; lane < of_lane_.size(); ++lane)
        if ((all_full || of_lane_[lane] + row_pages_ > limit_of_lane_[lane]) &&
            (buffer_.demanded(lane) || (full_rows && buffer_.queued(lane) >= row_units_)))
            return true;
    return false;
}

__attribute__((noinline)) std::uint32_t RowChoice::next_of_several() {
    const bool room_wanted = is_room_wanted();
    const bool full_rows = empties_ || room_wanted || buffer_.is_wanted();
    const auto lanes = static_cast<std::uint32_t>(of_lane_.size());
    bool any_full = false;
    std::uint32_t fullest = kNoLane;
    for (std::uint32_t i = 0; i < lanes; ++i) {
        const std::uint32_t lane = turn_ + i < lanes ? turn_ + i : turn_ + i - lanes, queued = buffer_.queued(lane);
        if (queued == 0) continue;
        any_full = any_full || queued >= row_units_;
        if (of_lane_[lane] + row_pages_ > limit_of_lane_[lane]) continue;
        if (buffer_.demanded(lane) || (full_rows && queued >= row_units_)) {
            turn_ = lane + 1 < lanes ? lane + 1 : 0;
            return lane;
        }
        if (of_lane_[lane] == 0 && (fullest == kNoLane || queued > buffer_.queued(fullest))) fullest = lane;
    }
    const bool data_on_its_way = buffer_.used() != buffer_.held();
    const std::size_t most = room_wanted ? waiters_.count_for_room() : buffer_.is_wanted();
    return !any_full && !data_on_its_way && programs_ < most ? fullest : kNoLane;
}

void RowChoice::check() const {
    const auto lanes = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(of_lane_.size()));
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t running = programs(lane), limit = of_lane_.empty() ? program_limit_ : limit_of_lane_[lane];
        const bool must_form =
            buffer_.demanded(lane) ||
            (buffer_.queued(lane) >= row_units_ &&
             (buffer_.dirty() > start_level_ || (empties_ && buffer_.dirty() > stop_level_) || buffer_.is_wanted()));
        if (must_form && running + row_pages_ <= limit && programs_ + row_pages_ <= program_limit_)
            throw CheckFailed("destage: " + std::to_string(buffer_.queued(lane)) + " dirty units" +
                              (lanes == 1 ? "" : " of lane " + std::to_string(lane)) + " may be programmed, but only " +
                              std::to_string(running) + " of " + std::to_string(limit) + " programs are under way");
    }
}

}  // namespace ssdtlm
