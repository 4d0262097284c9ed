// SPDX-License-Identifier: Apache-2.0
// Firmware::check_waiters: who wakes those who wait.
#include <string>

#include "common/report/error.h"
#include "controller/cpu/firmware.h"

namespace ssdtlm {

void Firmware::check_waiters() const {
    const auto require = [](bool ok, const std::string& what) {
        if (!ok) throw CheckFailed("firmware: " + what);
    };
    buffer_.check_waiters();
    require(buffer_.merging() == merging_, std::to_string(buffer_.merging()) + " units wait for the rest of their old copy, but " +
                                               std::to_string(merging_) + " merge reads are in flight");
    gc_.check_waiters();
    // Programs end by themselves once they have a page: the flash or a core holds them.
    std::uint32_t without_page = 0;
    for (const FlashJob* job : stalled_)
        for (; job != nullptr; job = job->next) ++without_page;
    require(without_page + issuing_ <= programs_,
            std::to_string(without_page) + " programs wait for a page and cores form others, of " + std::to_string(programs_));
    // One without a page is woken by an erase, or by the deallocation that makes the first victim.
    const bool programs_under_way = programs_ > without_page || (without_page != 0 && gc_.active() != 0);
    require(without_page == 0 || programs_under_way,
            std::to_string(without_page) + " programs wait for a free block, no group is collected, and no other program runs");
    // What the buffer may program without waiting for more is formed at once, up to the limit.
    const bool must_form = buffer_.demanded() ||
                           (buffer_.queued() >= row_pages_ * units_per_page_ && buffer_.dirty() > flush_threshold_);
    require(!must_form || programs_ + row_pages_ > program_limit_,
            std::to_string(buffer_.queued()) + " dirty units may be programmed, but only " + std::to_string(programs_) + " of " +
                std::to_string(program_limit_) + " programs are under way");
    if (!space_waiters_.empty())
        require(programs_under_way || fetching_ != 0 || merging_ != 0,
                std::to_string(space_waiters_.size()) +
                    " commands wait for room in the buffer, and no program, no data on its way and no merge will give it");
    if (!flushes_.empty()) {
        const CommandState& s = states_[flushes_.front()];
        require(!buffer_.flush_done(s.flush_generation), "a flush that is done was not completed");
        require(programs_under_way || merging_ != 0,
                std::to_string(flushes_.size()) + " flushes wait, and no program and no merge is under way");
    }
    require(fetching_ + buffer_.held() == buffer_.used(),
            std::to_string(buffer_.used()) + " units of the buffer are taken, " + std::to_string(fetching_) + " by data on its way and " +
                std::to_string(buffer_.held()) + " by data");
}

}  // namespace ssdtlm
