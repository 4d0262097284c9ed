// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/controller_state.h"

#include <utility>

namespace ssdtlm {

void ControllerState::act(NvmeRegisters::Action action) {
    switch (action) {
        case NvmeRegisters::Action::none:
            // The host may have cleared CC.SHN, which allows fetching again.
            if (!registers_.is_shutting_down()) flush_wanted_ = false;
            work_.resume();
            break;
        case NvmeRegisters::Action::enable:
            work_.create_admin_queues(registers_);
            becomes_ready_ =
                agenda_.post_cancellable(agenda_.now() + ready_time_, Then::to<&ControllerState::become_ready>(this));
            break;
        case NvmeRegisters::Action::disable:
            ++counters_.resets;
            stop();
            break;
        case NvmeRegisters::Action::shutdown:
            flush_wanted_ = true;
            settling_ = true;
            settle();
            break;
    }
}

void ControllerState::stop() {
    agenda_.cancel(becomes_ready_);
    waits_for_drive_ = false;
    flush_wanted_ = false;
    settling_ = true;
    work_.abort_waits(true);
    settle();
}

void ControllerState::reset_function(std::function<void()> stopped) {
    if (nvme::Cc::en(registers_.cc())) ++counters_.resets;
    registers_.reset_function();
    stopped_ = std::move(stopped);
    stop();
}

void ControllerState::become_ready() {
    waits_for_drive_ = !drive_is_up_;
    if (!drive_is_up_) return;
    registers_.ready();
    work_.resume();  // resumes the controller's own jobs
}

void ControllerState::drive_is_up() {
    drive_is_up_ = true;
    if (waits_for_drive_) become_ready();
}

void ControllerState::settle_slow() {
    if (!work_.idle()) return;
    if (registers_.is_stopping()) {
        settling_ = false;
        flush_running_ = false;
        work_.drop_queues();
        work_.abort_waits(false);
        if (stopped_) std::exchange(stopped_, nullptr)();
        act(registers_.stopped());
        if (registers_.is_asked_to_shut_down()) act(NvmeRegisters::Action::shutdown);
    } else if (flush_wanted_) {
        flush_wanted_ = false;
        flush_running_ = true;
        work_.flush();
    } else if (!flush_running_) {
        settling_ = false;
    }
}

void ControllerState::flushed() {
    flush_running_ = false;
    if (!registers_.is_stopping()) registers_.shutdown_complete();
}

void ControllerState::check_waiters() const {
    if (settling_ && work_.idle() && !flush_running_)
        throw CheckFailed("nvme: a reset or shutdown waits for work to end, and there is none");
    if (waits_for_drive_ && drive_is_up_) throw CheckFailed("nvme: the drive is up, and CSTS.RDY still waits for it");
}

}  // namespace ssdtlm
