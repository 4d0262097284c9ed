// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/power_fail_flush.h"

#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

void PowerFailFlush::start(std::function<void()> saved) {
    SSDTLM_CHECK(step_ == Step::none, "the supply of a drive fails twice");
    saved_ = std::move(saved);
    step_ = Step::begins;
    services_.cores.run(0, services_.costs.other_command, CoreStep::flush, Then::to<&PowerFailFlush::begin>(this));
}

void PowerFailFlush::begin() {
    generation_ = services_.buffer.begin_flush();
    if (begun_) begun_();
    services_.journal.demand();
    step_ = Step::buffer;
    services_.wait_queues.wait(WaitQueues::For::flush, Attempt::to<&PowerFailFlush::try_end>(this));
    services_.wait_queues.settle();
}

/// The journal comes last: what it waited for may have been deallocated.
bool PowerFailFlush::try_end() {
    if (!is_done()) return false;
    if (step_ == Step::buffer) {
        step_ = Step::journal;
        journal_ = services_.journal.demand();
        if (!is_done()) return false;
    }
    step_ = Step::done;
    saved_();
    return true;
}

void PowerFailFlush::check_waiters() const {
    if ((step_ == Step::buffer || step_ == Step::journal) && is_done())
        throw CheckFailed("firmware: what capacitors protect is in flash, and nobody was told");
}

std::string PowerFailFlush::dump() const {
    static constexpr const char* kSteps[] = {"", "begins", "waits for the buffer", "waits for the journal",
                                             "has ended"};
    return step_ == Step::none ? ""
                               : std::string("the supply has failed: the flush of what capacitors protect ") +
                                     kSteps[static_cast<std::size_t>(step_)] + "\n";
}

}  // namespace ssdtlm
