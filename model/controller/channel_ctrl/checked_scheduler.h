// SPDX-License-Identifier: Apache-2.0
// Stands between the channels and a scheduler that is not proven: every answer is held against the contract of
// SchedulerPort before a channel acts on it. The first answer that breaks it ends the run with CheckFailed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "common/tlm/agenda.h"
#include "controller/ports/grant_rules.h"
#include "controller/ports/scheduler_port.h"

namespace ssdtlm {

class CheckedScheduler final : public SchedulerPort {
public:
    /// `scheduler` and `agenda` must outlive this.
    CheckedScheduler(SchedulerPort& scheduler, Agenda& agenda, std::uint32_t channels,
                     const GrantRules::Limits& limits);

    void push(const SchedulerRequest& request) override;
    bool grant_at_once(const SchedulerRequest& request) override { return scheduler_.grant_at_once(request); }
    GrantAnswer grant(const GrantQuery& query, Grant& out) override;
    void listen(std::uint16_t channel, GrantListener& listener) override;
    std::uint32_t queued(std::uint16_t channel) const override { return scheduler_.queued(channel); }
    const PlanesHeld* planes_held(std::uint16_t channel) const override { return scheduler_.planes_held(channel); }
    std::string dump(std::uint16_t channel) const override { return scheduler_.dump(channel); }
    bool open_trace(std::uint16_t channel, const std::string& path) override {
        return scheduler_.open_trace(channel, path);
    }
    std::string name() const override { return scheduler_.name(); }
    bool proven() const override { return true; }
    std::optional<SchedulerFairness> fairness() const override;

private:
    /// Stands for the channel's listener towards the scheduler.
    class Channel final : public GrantListener {
    public:
        Channel(CheckedScheduler& owner, std::uint16_t channel, const GrantRules::Limits& limits)
            : rules(limits), owner_(owner), channel_(channel) {}
        void grant_decided(GrantAnswer answer, const Grant& grant) override;
        void check(GrantAnswer answer, const Grant& grant);
        [[noreturn]] void refuse(const std::string& found, std::optional<std::uint64_t> cycle = {}) const;

        GrantRules rules;
        GrantListener* listener = nullptr;
        bool pending = false;

    private:
        CheckedScheduler& owner_;
        const std::uint16_t channel_;
    };

    SchedulerPort& scheduler_;
    Agenda& agenda_;
    std::deque<Channel> channels_;
};

}  // namespace ssdtlm
