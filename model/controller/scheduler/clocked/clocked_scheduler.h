// SPDX-License-Identifier: Apache-2.0
// A scheduler that takes clock cycles to decide: one synchronous core per channel, behind SchedulerPort. The core sees
// an action of its channel controller at the next clock edge. It takes one request per edge, in order. It takes a
// question after the requests before it, and one question at a time. Requests wait here, in order, while a question is
// being decided or while the core is full.
//
// A core has no other inputs. So each call runs it ahead to the edge at which it is done, and the answer is given at
// the time of that edge. Between calls its clock stands still, so idle time costs nothing. Not modelled: clock-domain
// crossing; the controllers run on the scheduler's clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/units/units.h"
#include "controller/ports/scheduler_port.h"
#include "controller/scheduler/clocked/scheduler_core.h"

namespace ssdtlm {

class ClockedScheduler final : public SchedulerPort {
public:
    ClockedScheduler(Agenda& agenda, Clock clock, std::vector<std::unique_ptr<SchedulerCore>> cores);

    void push(const SchedulerRequest& request) override;
    GrantAnswer grant(const GrantQuery& query, Grant& out) override;
    void listen(std::uint16_t channel, GrantListener& listener) override { channels_[channel].listener = &listener; }
    std::uint32_t queued(std::uint16_t channel) const override { return channels_[channel].queued; }

    bool proven() const override;
    std::optional<SchedulerFairness> fairness() const override;
    /// True: a question of this channel is being decided.
    bool deciding(std::uint16_t channel) const { return channels_[channel].deciding; }

    bool open_trace(std::uint16_t channel, const std::string& path) override {
        return channels_[channel].core->open_trace(path);
    }
    std::string dump(std::uint16_t channel) const override { return channels_[channel].core->dump(); }

    struct Counters {
        std::uint64_t questions = 0;
        std::uint64_t grants = 0;
        std::uint64_t cycles = 0;     ///< of questions being decided
        std::uint64_t held_back = 0;  ///< requests that found the core full
    };
    const Counters& counters() const { return counters_; }

private:
    struct Channel {
        std::unique_ptr<SchedulerCore> core;
        GrantListener* listener = nullptr;
        std::vector<SchedulerRequest> backlog;  // [backlog_first, end), in order
        std::size_t backlog_first = 0;
        std::uint64_t edge = 0;  // the last one used
        std::uint32_t queued = 0;
        bool deciding = false;
        CoreDecision decision;
    };
    /// The first edge after now that the core has not used.
    std::uint64_t next_edge(const Channel& channel);
    SimTime time_of(std::uint64_t edge) const { return SimTime{clock_.cycles(edge)}; }
    void present(Channel& channel, const SchedulerRequest& request) {
        channel.edge = channel.core->push(request, next_edge(channel));
    }
    void answered(std::uint64_t channel);

    Agenda& agenda_;
    const Clock clock_;
    std::uint64_t now_edge_ = 0;  // the first edge behind now_at_
    SimTime now_at_{};
    std::vector<Channel> channels_;
    Counters counters_;
};

}  // namespace ssdtlm
