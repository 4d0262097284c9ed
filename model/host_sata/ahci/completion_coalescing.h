// SPDX-License-Identifier: Apache-2.0
// Command completion coalescing (CCC): one interrupt for several commands, or for those of a time span. It needs no
// SystemC kernel. Source: AHCI 1.3.1, 3.1.6, 3.1.7 and 11: an interrupt comes when CCC_CTL.CC commands have ended, or
// when CCC_CTL.TV has passed. The timer runs while commands are outstanding. It is assumed that the timer also runs
// while ended commands wait for their interrupt; otherwise the last command would never be reported. It is also assumed
// that no interrupt comes if no command has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "common/tlm/agenda.h"
#include "protocol/ahci.h"

namespace ssdtlm {

class CompletionCoalescing {
public:
    CompletionCoalescing(Agenda& agenda, std::function<void()> interrupt)
        : agenda_(agenda), interrupt_(std::move(interrupt)) {}

    std::uint32_t control() const { return control_ | kInterrupt << ahci::CccCtl::kIntShift; }
    std::uint32_t ports() const { return ports_; }
    /// CCC's own bit of IS, which follows those of the ports.
    static constexpr std::uint32_t kInterrupt = 1;

    /// 3.1.6: CC and TV can change only while EN is 0, and EN can be set only with a timeout.
    void write_control(std::uint32_t value) {
        using C = ahci::CccCtl;
        const bool on = (value & C::kEn) != 0;
        if ((control_ & C::kEn) == 0) control_ = value & ~(0x1Fu << C::kIntShift) & ~std::uint32_t{6};
        control_ = (control_ & ~C::kEn) | (on && C::milliseconds(control_) != 0 ? C::kEn : 0);
        start_over();
    }
    void write_ports(std::uint32_t value) {
        ports_ = value & 1u;
        start_over();
    }
    /// Reports that commands have ended.
    void ended(std::uint32_t count) {
        if (!on()) return;
        ended_ += count;
        const std::uint32_t enough = ahci::CccCtl::completions(control_);
        if (enough == 0 || ended_ < enough) return look();
        fire();
    }
    void outstanding(bool any) {
        outstanding_ = any;
        if (on()) look();
    }
    void reset() {
        control_ = ports_ = 0;
        outstanding_ = false;
        start_over();
    }
    /// True if commands have ended and no interrupt will report them.
    bool forgets() const { return on() && ended_ != 0 && timer_ == Agenda::Entry{}; }

private:
    bool on() const { return (control_ & ahci::CccCtl::kEn) != 0 && ports_ != 0; }
    void start_over() {
        ended_ = 0;
        agenda_.cancel(timer_);
        timer_ = {};
        look();
    }
    /// The timer runs while there are commands to report, or some may still end.
    void look() {
        const bool runs = on() && (outstanding_ || ended_ != 0);
        if (runs == (timer_ != Agenda::Entry{})) return;
        if (!runs) {
            agenda_.cancel(timer_);
            timer_ = {};
            return;
        }
        const Ps after{std::int64_t{ahci::CccCtl::milliseconds(control_)} * 1'000'000'000};
        timer_ = agenda_.post_cancellable(agenda_.now() + after, Then::to<&CompletionCoalescing::expired>(this));
    }
    void expired() {
        timer_ = {};
        if (ended_ == 0) return look();
        fire();
    }
    void fire() {
        start_over();
        interrupt_();
    }

    Agenda& agenda_;
    std::function<void()> interrupt_;
    std::uint32_t control_ = 0;
    std::uint32_t ports_ = 0;
    std::uint32_t ended_ = 0;
    bool outstanding_ = false;
    Agenda::Entry timer_{};
};

}  // namespace ssdtlm
