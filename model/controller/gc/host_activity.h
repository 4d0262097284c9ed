// SPDX-License-Identifier: Apache-2.0
// Whether the host has commands in the device, and since when not: what garbage collection goes by that makes way for the host,
// or waits for a pause of its.
#pragma once

#include <functional>
#include <utility>

#include "common/tlm/agenda.h"
#include "controller/ports/command.h"

namespace ssdtlm {

class HostActivity final : public CommandWatch {
public:
    /// `idle_after`: without a command for so long the drive is idle; zero: it never is.
    HostActivity(Agenda& agenda, Ps idle_after) : agenda_(agenda), idle_after_(idle_after) {}

    /// Called when the last command has ended, and when the drive has become idle.
    void on_quiet(std::function<void()> callback) { quiet_ = std::move(callback); }
    /// 0: the device has none of the host's.
    std::uint32_t commands() const { return busy_ ? 1 : 0; }
    bool idle() const { return idle_; }

    void first_began() override {
        busy_ = true;
        idle_ = false;
        agenda_.cancel(timer_);
    }
    void last_ended() override {
        busy_ = false;
        if (idle_after_ != Ps{}) timer_ = agenda_.post_cancellable<&HostActivity::becomes_idle>(agenda_.now() + idle_after_, this);
        if (quiet_) quiet_();
    }

private:
    void becomes_idle(std::uint64_t) {
        idle_ = true;
        if (quiet_) quiet_();
    }

    Agenda& agenda_;
    const Ps idle_after_;
    std::function<void()> quiet_;
    Agenda::Entry timer_{};
    bool busy_ = false;
    bool idle_ = false;
};

}  // namespace ssdtlm
