// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/link/link_direction.h"

#include <fmt/format.h>

#include "common/report/error.h"

namespace ssdtlm {

std::uint64_t LinkCounters::wire_bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < kTlpKinds; ++k) sum += overhead_bytes[k] + payload_bytes[k];
    return sum;
}

LinkDirection::LinkDirection(Agenda& agenda, const LinkDirectionConfig& config, GrantHandler on_grant)
    : agenda_(agenda),
      rate_(config.rate),
      times_(config.rate),
      latency_(config.latency),
      credit_loop_(config.latency + config.credit_return_latency),
      on_grant_(on_grant),
      closed_forms_(!config.account_every_credit),
      credits_{CreditAccount{config.posted_headers, config.posted_data, credit_loop_, config.rate},
               CreditAccount{config.nonposted_headers, 0, credit_loop_, config.rate},
               CreditAccount{0, 0, credit_loop_, config.rate}},
      waiting_(64) {
    if (closed_forms_)
        for (std::size_t c = 0; c < kTlpClasses; ++c)
            credits_[c].lift_unreachable(config.min_overhead, c == static_cast<std::size_t>(TlpClass::posted) ? 4 : 0,
                                         config.max_payload);
}

void LinkDirection::queue(TlpKind kind, const TlpTrain& train, LinkDelivery& burst) {
    catch_up();
    if (waiting_.full()) waiting_.set_capacity(2 * waiting_.capacity());
    waiting_.push_back(Burst{train, kind, &burst});
    if (!pumping_) pump();
}

/// Delivers all that arrives next. Deliveries often come before any other event (a CQE and its MSI-X message behind the
/// data, two doorbells). They then need no entry in the agenda.
void LinkDirection::deliver_next() {
    LinkDelivery* d = first_;
    for (;;) {
        LinkDelivery* const next = d->next;  // read before arrive(), which may release d
        if (next == nullptr) {
            last_ = nullptr;
            d->arrive(*d);
            return;
        }
        d->arrive(*d);
        if (!agenda_.claim(next->at)) {
            first_ = next;
            agenda_.post(next->at, Then::to<&LinkDirection::deliver_next>(this));
            return;
        }
        d = next;
    }
}

std::uint32_t LinkDirection::sendable_with_credits(const TlpTrain& train, SimTime t) {
    CreditAccount& a = account(TlpKind::mem_read);
    if (closed_forms_ && a.fits(train, t)) return train.count();
    return a.runnable(train, t);
}

/// Takes the credits of a burst whose class has finite credits. Returns when the last TLP has left. If the burst
/// stalls, `start` and this time are later.
SimTime LinkDirection::take_credits(TlpKind kind, const TlpTrain& train, std::uint32_t tlps, SimTime t, SimTime end,
                                    SimTime& start) {
    CreditAccount& a = account(kind);
    if (tlp_class(kind) == TlpClass::non_posted) {
        a.take(train, 0, tlps, t, end);  // sendable() has found these credits
        return end;
    }
    if (closed_forms_ && a.take_if_fits(train, t, end)) return end;
    return send_stalling(a, train, t, start);
}

/// Sends a posted burst TLP by TLP, where each waits for its credits. Returns the end of the last. It is the slow path.
SimTime LinkDirection::send_stalling(CreditAccount& a, const TlpTrain& train, SimTime t, SimTime& start) {
    // The wire is granted to the burst, but is idle while it waits.
    const CreditWait first_wait = a.earliest(train, 0, t);
    if (first_wait.any()) stalls_.stalls(first_wait, agenda_.now());
    start = first_wait.until();
    SimTime base = start;
    SimTime end = start + rate_.time_for(train.wire_prefix(1));
    std::uint32_t first = 0;
    a.take(train, 0, 1, start, end);
    for (std::uint32_t i = 1; i < train.count(); ++i) {
        const CreditWait wait = a.earliest(train, i, end);
        const SimTime at = wait.until();
        const bool gap = at != end;
        if (gap) {
            stalls_.stalls(wait, agenda_.now());
            base = at;
            first = i;
        }
        end = base + rate_.time_for(train.wire_prefix(i + 1) - train.wire_prefix(first));
        if (gap)
            a.take(train, i, i + 1, at, end);
        else
            a.take_next();
    }
    return end;
}

__attribute__((noinline, cold)) void LinkDirection::report(TlpKind kind, const TlpTrain& train, std::uint32_t tlps,
                                                           SimTime start, SimTime end) const {
    const bool whole = tlps == train.count();
    probe_->on_wire(WireBurst{kind, tlps, static_cast<std::uint32_t>(whole ? train.data_credits() : 0),
                              whole ? train.wire_bytes() : train.wire_prefix(tlps), start, end, end + credit_loop_});
}

void LinkDirection::pump() {
    pumping_ = true;
    catch_up();
    const SimTime now = agenda_.now();
    while (!waiting_.empty() && grant_one(now)) {
    }
    pumping_ = false;
}

/// Grants the burst whose turn it is, or arranges to try again. Returns true if it has granted one.
bool LinkDirection::grant_one(SimTime now) {
    const SimTime t = std::max(now, free_);
    std::size_t i = 0;
    std::uint32_t n = 0;
    SimTime credit_time = kNever;
    for (; i < waiting_.size(); ++i) {
        const Burst& b = waiting_[i];
        if (credit_time != kNever && tlp_class(b.kind) == TlpClass::non_posted) continue;  // blocked by another one
        if (!accepts(b.train.wire_bytes(), now)) {
            wake_at(b.train.wire_bytes() <= kTransmitBufferBytes ? buffer_start_ : free_);
            return false;
        }
        n = sendable(b.kind, b.train, t);
        if (n > 0) break;
        credit_time = account(b.kind).next_return();
        stalls_.read_waits(t);
    }
    if (i == waiting_.size()) {
        wake_at(std::max(credit_time, t));
        return false;
    }
    const Burst b = waiting_[i];
    if (n < b.train.count())
        waiting_[i].train = b.train.without_first(n);
    else if (i == 0)
        waiting_.pop_front();
    else
        waiting_.rerase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));  // rerase() moves the few bursts before it
    if (tlp_class(b.kind) == TlpClass::non_posted) stalls_.read_begins(t);
    LinkGrant grant = place(b.kind, b.train, n, t);
    grant.burst = b.burst;
    on_grant_(grant);
    return true;
}

void LinkDirection::wake_at(SimTime t) {
    if (wake_time_ <= t) return;
    if (wake_time_ != kNever) agenda_.cancel(wake_);
    wake_time_ = t;
    wake_ = agenda_.post_cancellable(t, Then::to<&LinkDirection::wake>(this));
}

void LinkDirection::wake() {
    wake_time_ = kNever;
    pump();
}

void LinkDirection::check_waiters(const char* name) const {
    if (!waiting_.empty() && (wake_time_ == kNever || wake_time_ < agenda_.now()))
        throw CheckFailed(fmt::format("{} link: {} bursts wait for the wire, and nothing will grant it to them", name,
                                      waiting_.size()));
    const SimTime now = agenda_.now();
    const bool arrival = arrival_at_ != kNever && arrival_at_ >= now,
               prompt = prompt_at_ != kNever && prompt_at_ >= now;
    const bool is_next = bulk_.any() && bulk_.begin()->prompt;  // it asks for its arrival when it was granted
    if ((bulk_.prompts() != 0 && !prompt) || ((!bulk_.sent().empty() || (bulk_.any() && !is_next)) && !arrival))
        throw CheckFailed(
            fmt::format("{} link: {} bulk writes wait, {} are on their way, and nothing will go on with them", name,
                        bulk_.waiting(), bulk_.sent().size()));
}

std::string LinkDirection::dump(const char* name) const {
    std::string s =
        fmt::format("{}: {} bursts waiting, {} bulk writes waiting and {} on their way, wire free at {} ps\n", name,
                    waiting_.size(), bulk_.waiting(), bulk_.sent().size(), free_.time_since_epoch().count());
    constexpr const char* kinds[] = {"MWr", "MRd", "CplD", "Cpl"};
    for (const auto& b : waiting_)
        s += fmt::format("  {} x{} {} bytes\n", kinds[static_cast<std::size_t>(b.kind)], b.train.count(),
                         b.train.wire_bytes());
    return s;
}

}  // namespace ssdtlm
