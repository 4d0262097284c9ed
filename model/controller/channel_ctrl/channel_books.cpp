// SPDX-License-Identifier: Apache-2.0
// Report of a channel for the watchdog, and its check that every waiting transaction will continue.
#include <string>

#include "common/report/error.h"
#include "controller/channel_ctrl/channel_controller.h"

namespace ssdtlm {

void ChannelController::check_waiters() const {
    const std::string where = std::string(name()) + ": ";
    const bool asked = deciding_ || (kick_at_ != kNever && kick_at_ >= agenda_.now());
    if (!asked && arbiter_.data_waits())
        throw CheckFailed(where + "data of a finished read waits for the bus, and nobody will use it");
    // A block of hardware holds a bounded number of requests: what is still behind them has to wait for a die of
    // theirs.
    const bool held_outside = answers_later_ && dies_.anything_runs();
    if (!asked && !held_outside && dies_.idle_die_has_work())
        throw CheckFailed(where + "work waits for an idle die, and nobody will ask the scheduler");
    if (const std::string found = dies_.inconsistency(); !found.empty()) throw CheckFailed(where + found);
    for (std::uint32_t die = 0; suspends_ != nullptr && !asked && die < suspends_->dies(); ++die) {
        if (suspends_->suspended(die) && !dies_.anything_runs(die))
            throw CheckFailed(where + "die " + std::to_string(die) +
                              " is suspended, no read runs there, and nobody will go on with it");
        if (suspends_->stop_at(die, agenda_.now()) != kNever && suspends_due_at_ == kNever)
            throw CheckFailed(where + "reads wait for die " + std::to_string(die) +
                              ", and nobody will suspend what runs there");
    }
    // A scheduler that is deciding may have taken out what it is about to grant.
    const std::uint32_t waiting = dies_.waiting();
    if (waiting != arbiter_.commands() + arbiter_.programs() || (!deciding_ && waiting != scheduler_.queued(channel_)))
        throw CheckFailed(where + std::to_string(waiting) + " transactions wait for dies, but " +
                          std::to_string(arbiter_.commands()) + " reads and erases and " +
                          std::to_string(arbiter_.programs()) + " programs are counted, and the scheduler has " +
                          std::to_string(scheduler_.queued(channel_)));
}

std::string ChannelController::dump() const {
    const SimTime now = agenda_.now();
    std::string text = std::string(name()) + ": bus " +
                       (bus_free_at() > now ? "held for " + std::to_string((bus_free_at() - now).count()) + " ps more"
                                            : std::string("free")) +
                       ", outstanding " + std::to_string(outstanding_) + ", waiting reads and erases " +
                       std::to_string(arbiter_.commands()) + ", waiting programs " +
                       std::to_string(arbiter_.programs()) + "\n" + dies_.dump(now);
    const std::string waiting = scheduler_.dump(channel_);
    if (!waiting.empty()) text += std::string("  scheduler") + (deciding_ ? ", deciding" : "") + ":\n" + waiting;
    return text;
}

}  // namespace ssdtlm
