// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/clocked/clocked_scheduler.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

ClockedScheduler::ClockedScheduler(Agenda& agenda, Clock clock, std::vector<std::unique_ptr<SchedulerCore>> cores)
    : agenda_(agenda), clock_(clock), channels_(cores.size()) {
    for (std::size_t c = 0; c < cores.size(); ++c) channels_[c].core = std::move(cores[c]);
}

std::uint64_t ClockedScheduler::next_edge(const Channel& channel) {
    const SimTime now = agenda_.now();
    if (now_at_ != now || now_edge_ == 0) {
        now_at_ = now;
        // An estimate in floating point is off by less than a few edges within the range of SimTime.
        const auto ps = static_cast<double>(now.time_since_epoch().count());
        now_edge_ = static_cast<std::uint64_t>(ps * 1e-12 * clock_.hertz()) + 1;
        while (now_edge_ > 1 && time_of(now_edge_ - 1) > now) --now_edge_;
        while (time_of(now_edge_) <= now) ++now_edge_;
    }
    return channel.edge < now_edge_ ? now_edge_ : channel.edge + 1;
}

bool ClockedScheduler::proven() const {
    return std::all_of(channels_.begin(), channels_.end(), [](const Channel& c) { return c.core->proven(); });
}

std::optional<SchedulerFairness> ClockedScheduler::fairness() const {
    std::optional<SchedulerFairness> all;
    for (const Channel& channel : channels_)
        if (const std::optional<SchedulerFairness> one = channel.core->fairness()) {
            if (!all) all.emplace();
            *all += *one;
        }
    return all;
}

void ClockedScheduler::push(const SchedulerRequest& request) {
    Channel& channel = channels_[request.channel];
    ++channel.queued;
    const bool in_order = channel.backlog_first == channel.backlog.size();
    if (!channel.deciding && in_order && !channel.core->full()) {
        present(channel, request);
        return;
    }
    if (!channel.deciding) ++counters_.held_back;
    channel.backlog.push_back(request);
}

GrantAnswer ClockedScheduler::grant(const GrantQuery& query, Grant&) {
    Channel& channel = channels_[query.channel];
    SSDTLM_CHECK(!channel.deciding, "a channel asked while its question was pending");
    const std::uint64_t edge = next_edge(channel);
    channel.core->decide(query, edge, channel.decision);
    channel.edge = edge + channel.decision.cycles;
    channel.deciding = true;
    ++counters_.questions;
    counters_.cycles += channel.decision.cycles;
    agenda_.post(time_of(channel.edge), Then::to<&ClockedScheduler::answered>(this, query.channel));
    return GrantAnswer::pending;
}

void ClockedScheduler::answered(std::uint64_t c) {
    Channel& channel = channels_[c];
    channel.deciding = false;
    if (channel.decision.answer == GrantAnswer::granted) {
        channel.queued -= channel.decision.grant.count;
        ++counters_.grants;
    }
    while (channel.backlog_first != channel.backlog.size() && !channel.core->full())
        present(channel, channel.backlog[channel.backlog_first++]);
    if (channel.backlog_first == channel.backlog.size()) {
        channel.backlog.clear();
        channel.backlog_first = 0;
    } else if (channel.backlog_first >= 1024) {
        channel.backlog.erase(channel.backlog.begin(),
                              channel.backlog.begin() + static_cast<std::ptrdiff_t>(channel.backlog_first));
        channel.backlog_first = 0;
    }
    channel.listener->grant_decided(channel.decision.answer, channel.decision.grant);
}

}  // namespace ssdtlm
