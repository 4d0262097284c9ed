// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/flow_waits.h"

#include <algorithm>
#include <array>

#include "common/report/error.h"

namespace ssdtlm {

bool FlowWaits::Waiting::end(SimTime began, SimTime now) {
    if (began < newer_from)
        --older;
    else
        --newer;
    if (older != 0) return false;
    older = newer;
    newer = 0;
    newer_from = now + Ps{1};  // what begins at this instant still counts to those that are now older
    return true;
}

/// Like BusyMeter::settle(), it charges the time to the first running kind. Within that kind, it is charged to the flow
/// that started first.
void FlowWaits::settle(Meter& m, SimTime now) {
    if (!m.running.empty() && now > m.since) {
        const Running* first = &m.running.front();
        for (const Running& r : m.running)
            if (r.kind < first->kind) first = &r;
        if (!m.spans.empty() && m.spans.back().to == m.since && m.spans.back().kind == first->kind &&
            m.spans.back().flow == first->flow)
            m.spans.back().to = now;
        else
            m.spans.push_back({m.since, now, first->kind, first->flow});
    }
    m.since = now;
}

void FlowWaits::start(std::uint32_t meter, BusyKind kind, std::uint8_t flow, SimTime now) {
    Meter& m = meters_[meter];
    settle(m, now);
    m.running.push_back({kind, flow});
    if (m.waiting.older + m.waiting.newer == 0) m.spans.clear();
}

void FlowWaits::stop(std::uint32_t meter, BusyKind kind, std::uint8_t flow, SimTime now) {
    Meter& m = meters_[meter];
    settle(m, now);
    const auto at = std::find_if(m.running.begin(), m.running.end(),
                                 [&](const Running& r) { return r.kind == kind && r.flow == flow; });
    SSDTLM_CHECK(at != m.running.end(), "a flow's operation ends that has not begun");
    m.running.erase(at);
}

void FlowWaits::hold_bus(std::uint8_t flow, SimTime from, SimTime to) {
    if (bus_waiting_.older + bus_waiting_.newer == 0) drop_before(bus_, from);
    if (to > from) bus_.push_back({from, to, BusyKind::count, flow});
}

void FlowWaits::begin(std::uint32_t meter, FlashTransaction& txn, SimTime now) {
    settle(meters_[meter], now);
    txn.waits = true;
    Waiting& w = meters_[meter].waiting;
    ++(now < w.newer_from ? w.older : w.newer);  // before it only within one instant
    count_bus_waiter(now);
}

void FlowWaits::drop_before(std::vector<Span>& spans, SimTime time) {
    spans.erase(spans.begin(), std::find_if(spans.begin(), spans.end(), [time](const Span& s) { return s.to > time; }));
}

void FlowWaits::leave(Meter& m, FlashTransaction& txn, SimTime now) {
    txn.waits = false;
    const SimTime before = m.waiting.newer_from;
    if (m.waiting.end(txn.queued_at, now)) drop_before(m.spans, before);
    bus_waiter_gone(txn.queued_at, now);
}

void FlowWaits::bus_waiter_gone(SimTime began, SimTime now) {
    const SimTime before = bus_waiting_.newer_from;
    if (bus_waiting_.end(began, now)) drop_before(bus_, before);
}

void FlowWaits::started(std::uint32_t meter, FlashTransaction& txn, SimTime now) {
    if (const std::uint8_t flow = flow_of(txn); flow < totals_.transactions.size()) ++totals_.transactions[flow];
    if (txn.waits) leave(meters_[meter], txn, now);
}

void FlowWaits::add(Stage stage, std::uint8_t flow, Ps time) {
    if (time <= Ps{}) return;
    for (Part& p : parts_)
        if (p.stage == stage && p.flow == flow) {
            p.ps += time.count();
            return;
        }
    parts_.push_back({stage, flow, time.count()});
}

void FlowWaits::add_bus(SimTime from, SimTime to) {
    Ps free = to - from;
    auto span = std::partition_point(bus_.begin(), bus_.end(), [from](const Span& s) { return s.to <= from; });
    for (; span != bus_.end() && span->from < to; ++span) {
        const Ps held = std::min(span->to, to) - std::max(span->from, from);
        add(Stage::channel_wait, span->flow, held);
        free -= held;
    }
    add(Stage::channel_wait, 0, free);
}

void FlowWaits::charge(FlashTransaction& txn) {
    std::sort(parts_.begin(), parts_.end(),
              [](const Part& a, const Part& b) { return a.stage != b.stage ? a.stage < b.stage : a.flow < b.flow; });
    for (const Part& p : parts_) txn.path->charge_wait(p.stage, txn.path->last() + Ps{p.ps}, p.flow);
    parts_.clear();
}

void FlowWaits::end(std::uint32_t meter, FlashTransaction& txn, const BusyMeter::Totals& before,
                    const BusyMeter::Totals& totals, SimTime asked, SimTime now) {
    Meter& m = meters_[meter];
    settle(m, now);
    std::array<std::int64_t, kBusyKinds> of_kind{};
    Ps busy{};
    std::size_t first = m.spans.size();
    while (first != 0 && m.spans[first - 1].to > txn.queued_at) {
        const Span& s = m.spans[--first];
        const Ps time = s.to - std::max(s.from, txn.queued_at);
        add(wait_stage(static_cast<std::size_t>(s.kind)), s.flow, time);
        of_kind[static_cast<std::size_t>(s.kind)] += time.count();
        busy += time;
    }
    for (std::size_t k = 0; k < kBusyKinds; ++k)
        SSDTLM_CHECK(of_kind[k] == totals[k] - before[k], "waits by flow do not add up to those by kind of work");
    // While the die was free it waited for the bus, up to what is charged so: the earliest of it.
    Ps bus = asked - (txn.queued_at + busy);
    SimTime free_from = txn.queued_at;
    for (std::size_t i = first; i <= m.spans.size() && bus > Ps{}; ++i) {
        const SimTime free_to = i == m.spans.size() ? now : m.spans[i].from;
        if (const Ps time = std::min(bus, free_to - free_from); time > Ps{}) {
            add_bus(free_from, free_from + time);
            bus -= time;
        }
        if (i != m.spans.size()) free_from = m.spans[i].to;
    }
    charge(txn);
    if (const std::uint8_t flow = flow_of(txn); flow < totals_.waited_ps.size())
        totals_.waited_ps[flow] += (now - txn.queued_at).count();
    started(meter, txn, now);
}

void FlowWaits::end_data_wait(FlashTransaction& txn, SimTime now) {
    const SimTime began = txn.path->last();
    if (now != began) {
        add_bus(began, now);
        charge(txn);
    }
    bus_waiter_gone(began, now);
}

}  // namespace ssdtlm
