// SPDX-License-Identifier: Apache-2.0
// Whether the host has commands in the device, and since when it has none. Garbage collection uses this when it makes
// way for the host, or waits for a pause of the host.
#pragma once

#include <functional>
#include <utility>

#include "common/tlm/agenda.h"
#include "controller/ports/command_ends.h"

namespace ssdtlm {

class HostActivity {
public:
    /// `idle_after`: the drive is idle after this long without a command. Zero: it never is.
    HostActivity(Agenda& agenda, const CommandEnds& commands, Ps idle_after)
        : agenda_(agenda), commands_(commands), idle_after_(idle_after) {}

    /// Called when the last command has ended, and when the drive has become idle.
    void on_quiet(std::function<void()> callback) { quiet_ = std::move(callback); }
    /// Called each time that a command has ended.
    void on_each_end(std::function<void()> callback) { each_ = std::move(callback); }
    /// Commands of the host that are under way in the device.
    std::uint32_t commands() const { return commands_.under_way(); }
    bool idle() const { return idle_ && commands_.all_begun() == quiet_since_; }

    /// A command of the host has left the firmware.
    void one_ended() {
        if (each_) each_();
    }
    /// Called after one_ended() when no command is left.
    void last_ended() {
        quiet_since_ = commands_.all_begun();
        idle_ = false;
        agenda_.cancel(timer_);
        if (idle_after_ != Ps{})
            timer_ = agenda_.post_cancellable(agenda_.now() + idle_after_, Then::to<&HostActivity::becomes_idle>(this));
        if (quiet_) quiet_();
    }

private:
    void becomes_idle() {
        idle_ = true;
        if (idle() && quiet_) quiet_();
    }

    Agenda& agenda_;
    const CommandEnds& commands_;
    const Ps idle_after_;
    std::function<void()> quiet_, each_;
    Agenda::Entry timer_{};
    std::uint64_t quiet_since_ = 0;  ///< commands begun by then
    bool idle_ = false;
};

}  // namespace ssdtlm
