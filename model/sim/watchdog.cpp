// SPDX-License-Identifier: Apache-2.0
#include "sim/watchdog.h"

#include <fmt/format.h>

#include <algorithm>

namespace ssdtlm {

namespace {

std::string seconds(Ps t) {
    return fmt::format("{:.6g} s", to_seconds(t));
}

const char* word(HostOp op) {
    static constexpr const char* kWords[] = {"read", "write", "trim", "flush"};
    return kWords[static_cast<std::size_t>(op)];
}

bool same(const PendingCommand& a, const PendingCommand& b) {
    return a.queue == b.queue && a.tag == b.tag && a.submitted == b.submitted;
}

}  // namespace

std::string Watchdog::describe(const Sight& s) const {
    const PendingCommand& c = *s.oldest;
    return fmt::format("the oldest of {} commands, a {}{} (queue {}, CID {}), was submitted {} ago", s.outstanding,
                       word(c.op),
                       c.op == HostOp::flush ? "" : fmt::format(" of {} blocks at LBA {}", c.blocks, c.slba), c.queue,
                       c.tag, seconds(s.now - c.submitted));
}

void Watchdog::follow(const Sight& s) {
    if (!s.oldest) return followed_.reset();
    if (followed_ && same(followed_->command, *s.oldest)) return;
    followed_ = Followed{*s.oldest, s.completed, s.host_pages, s.gc_pages};
}

std::string Watchdog::look(const Sight& s) {
    const bool flash = s.flash_held || !looked_ || s.flash_work != last_.flash_work;
    const bool any = flash || s.others_held || s.host_work != last_.host_work || s.link_busy != last_.link_busy;
    if (flash) {
        flash_active_ = s.now;
        completed_when_flash_ended_ = s.completed;
    }
    if (s.flash_idle || flash) flash_waits_since_ = s.now;
    if (any) active_ = s.now;
    if (!s.workload_waits_for_nothing)
        waits_since_ = kNever;
    else
        waits_since_ = std::min(waits_since_, s.now);
    looked_ = true;
    last_ = s;
    follow(s);

    const Ps patience = limits_.patience;
    if (waits_since_ != kNever && s.now - waits_since_ >= patience)
        return fmt::format("the workload has waited for a completion for {}, and no command is outstanding",
                           seconds(s.now - waits_since_));
    if (s.ends_in_nothing) return "the workload has ended, nothing is under way, and the controller has not shut down";
    if (!s.oldest || s.now - s.oldest->submitted < patience) return {};
    if (s.now - active_ >= patience)
        return fmt::format(
            "nothing has happened for {} of simulated time (run.watchdog): no completion, nothing on the link, no die "
            "or bus "
            "in use; {}",
            seconds(s.now - active_), describe(s));
    if (s.now - flash_waits_since_ >= patience)
        return fmt::format("the flash has had work for {} of simulated time (run.watchdog) and done none of it; {}",
                           seconds(s.now - flash_waits_since_), describe(s));
    if (s.now - flash_active_ >= patience &&
        s.completed - std::max(completed_when_flash_ended_, followed_->completed) > 4 * limits_.queue_slots)
        return fmt::format(
            "a command has been left behind: {} others completed since the flash last did anything, {} ago "
            "(run.watchdog); {}",
            s.completed - completed_when_flash_ended_, seconds(s.now - flash_active_), describe(s));
    if (s.host_pages == followed_->host_pages && s.gc_pages - followed_->gc_pages > limits_.device_pages)
        return fmt::format(
            "garbage collection goes round in circles: it has moved {} pages, more than the {} of the device, and none "
            "was "
            "programmed for the host; {}",
            s.gc_pages - followed_->gc_pages, limits_.device_pages, describe(s));
    return {};
}

}  // namespace ssdtlm
