// SPDX-License-Identifier: Apache-2.0
// The part of LinkDirection that sends bulk writes.
#include "host_pcie/link/link_direction.h"

namespace ssdtlm {

void LinkDirection::offer_bulk(const TlpTrain& train, SimTime ready, bool prompt, LinkDelivery& burst,
                               void (*arrive)(LinkDelivery&)) {
    burst.arrive = arrive;  // a write that has begun stays in front, because its data were there before
    const bool is_last = bulk_.add({train, ready, &burst, prompt, times_.time_for(train.wire_prefix(train.count() - 1)),
                                    times_.time_for(train.wire_bytes())});
    if (prompt && (bulk_.prompts() == 1 || !is_last)) ask_for_prompt();
    if (!prompt && (bulk_.waiting() == 1 || !is_last)) ask_for_arrival();
}

/// Sends a whole bulk write that begins at `start`. Returns false and does nothing if it may lack credits.
inline bool LinkDirection::send_whole(BulkWrites::Burst& b, SimTime start) {
    CreditAccount& credits = account(TlpKind::mem_write);
    const SimTime end = start + b.length;
    if (!credits.infinite() && !(closed_forms_ && credits.take_if_fits(b.train, start, end))) return false;
    sent_until(b, BulkRun{start, 0}, b.train.count(), start, end);
    return true;
}

/// Sends TLPs of bulk writes that begin before `limit`, which is at most the next instant. With Settle::whole_writes it
/// leaves out a write that has not begun, if its last TLP does not begin before `limit`, because its end is not needed
/// yet. If credits may be short, it sends TLPs of this write as well.
__attribute__((noinline)) void LinkDirection::settle(SimTime limit, Settle what) {
    const bool partly = what == Settle::all || !account(TlpKind::mem_write).infinite();
    while (bulk_.any()) {
        BulkWrites::Burst& b = bulk_.front();
        const SimTime start = std::max(free_, b.ready);
        const bool is_whole = b.next == 0 && start + b.to_last < limit;
        if (b.next == 0 && !is_whole && !partly) return;
        if (!(is_whole && send_whole(b, start)) && !send(b, limit)) return;
        bulk_.front_sent(free_ + latency_);
        run_end_ = kNever;
    }
}

/// Sends TLPs of a bulk write. Returns false if some of its TLPs do not begin before `limit`.
bool LinkDirection::send(BulkWrites::Burst& b, SimTime limit) {
    CreditAccount& credits = account(TlpKind::mem_write);
    do {
        const SimTime start = std::max(free_, b.ready);
        if (start >= limit) return false;
        BulkRun run = start == run_end_ && run_end_ == free_ ? run_ : BulkRun{start, b.next};
        const std::uint32_t n = run.begun_before(limit, b.train, rate_);
        const SimTime end = run.begin_of(b.train, n, rate_);
        if (credits.infinite() ||
            (closed_forms_ && credits.take_if_fits(b.train, run.first, b.next, n, run.start, start, end))) {
            sent_until(b, run, n, start, end);
            continue;
        }
        // Sends one TLP when it has its credits.
        const CreditWait wait = credits.would_start(b.train, b.next, start);
        const SimTime at = wait.until();
        if (wait.any()) {
            stalls_.bulk_waits(wait);
            run = BulkRun{at, b.next};
        }
        if (at >= limit) return false;
        const SimTime one_end = run.begin_of(b.train, b.next + 1, rate_);
        credits.earliest(b.train, b.next, at);
        credits.take(b.train, run.first, b.next, b.next + 1, run.start, one_end);
        sent_until(b, run, b.next + 1, at, one_end);
    } while (b.next != b.train.count());
    return true;
}

/// Counts the write's TLPs up to `limit`, which are on the wire from `start` to `end` in this run.
void LinkDirection::sent_until(BulkWrites::Burst& b, const BulkRun& run, std::uint32_t limit, SimTime start,
                               SimTime end) {
    const std::uint32_t tlps = limit - b.next;
    const std::uint64_t wire =
        tlps == b.train.count() ? b.train.wire_bytes() : b.train.wire_prefix(limit) - b.train.wire_prefix(b.next);
    const std::uint64_t overhead = std::uint64_t{tlps} * b.train.overhead();
    constexpr auto k = static_cast<std::size_t>(TlpKind::mem_write);
    counters_.tlps[k] += tlps;
    counters_.overhead_bytes[k] += overhead;
    counters_.payload_bytes[k] += wire - overhead;
    counters_.busy += end - start;
    stalls_.begins(start);
    if (__builtin_expect(probe_ != nullptr, 0))
        probe_->on_wire(WireBurst{TlpKind::mem_write, tlps,
                                  static_cast<std::uint32_t>(b.train.data_credits(b.next, limit)), wire, start, end,
                                  end + credit_loop_, true, limit == b.train.count()});
    if (b.next == 0) b.start = start;
    b.next = limit;
    free_ = run_end_ = end;
    run_ = run;
}

/// Returns the next TLPs of the first bulk write, if no burst cuts in. If credits are missing, they may begin later.
BulkRun LinkDirection::run_of_front() {
    const BulkWrites::Burst& b = bulk_.front();
    CreditAccount& credits = account(TlpKind::mem_write);
    SimTime start = std::max(free_, b.ready);
    if (!credits.infinite() && !(closed_forms_ && credits.room_for(b.train.credits_of(b.next))))
        start = credits.would_start(b.train, b.next, start).until();
    return start == run_end_ && run_end_ == free_ ? run_ : BulkRun{start, b.next};
}

/// Returns when the last TLP of the first prompt write begins, if no burst goes before. If credits are short, it may
/// begin later.
SimTime LinkDirection::last_tlp_of_prompt() {
    const BulkWrites::Burst& front = bulk_.front();
    const BulkRun run = run_of_front();
    if (front.prompt) return front.last_tlp(run, rate_);
    SimTime free = front.end(run, rate_);
    for (auto b = bulk_.begin() + 1;; ++b) {
        const SimTime start = std::max(free, b->ready);
        if (b->prompt) return start + b->to_last;
        free = start + b->length;
    }
}

/// Tells owners the places of their bulk writes on the wire, before the writes arrive.
void LinkDirection::tell() {
    while (const BulkWrites::Sent* const next = bulk_.next_to_tell()) {
        const BulkWrites::Sent s = *next;  // the handler may offer more
        on_grant_({s.burst, s.tlps, s.start, s.delivered, s.delivered});
    }
}

/// Posts an entry for the next arrival, or for a time at which more is known about it.
void LinkDirection::ask_for_arrival() {
    SimTime at = kNever;
    if (!bulk_.sent().empty())
        at = bulk_.sent().front().delivered;
    else if (bulk_.any() && !bulk_.front().prompt)
        at = bulk_.front().end(run_of_front(), rate_) + latency_;
    if (at >= arrival_at_) return;
    arrival_at_ = at;
    agenda_.post(at, Then::to<&LinkDirection::bulk_arrives>(this));
}

void LinkDirection::bulk_arrives() {
    if (arrival_at_ != agenda_.now()) return;  // an earlier entry has posted this one anew
    arrival_at_ = kNever;
    settle(agenda_.now(), Settle::whole_writes);
    if (bulk_.sent().empty() || bulk_.sent().front().delivered != agenda_.now()) return ask_for_arrival();
    const BulkWrites::Sent s = bulk_.sent().front();
    const bool told = bulk_.arrived();
    ask_for_arrival();
    if (!told) on_grant_({s.burst, s.tlps, s.start, s.delivered, s.delivered});
    s.burst->arrive(*s.burst);
}

void LinkDirection::ask_for_prompt() {
    if (bulk_.prompts() == 0) return;
    const SimTime at = last_tlp_of_prompt();
    if (at >= prompt_at_) return;
    prompt_at_ = at;
    agenda_.post(at, Then::to<&LinkDirection::prompt_begins>(this));
}

void LinkDirection::prompt_begins() {
    const SimTime now = agenda_.now();
    if (prompt_at_ != now) return;  // an earlier entry has posted this one anew
    prompt_at_ = kNever;
    if (waiting_.empty())
        settle(now, Settle::whole_writes);
    else
        pump();  // bursts that were offered by now go first
    if (last_tlp_of_prompt() == now) place_prompt(now);
    ask_for_prompt();
    ask_for_arrival();
}

/// Grants the first bulk write, as its last TLP begins now.
void LinkDirection::place_prompt(SimTime now) {
    BulkWrites::Burst& b = bulk_.front();
    if (b.next != 0 || now - b.to_last != std::max(free_, b.ready) || !send_whole(b, now - b.to_last))
        send(b, now + Ps{1});
    run_end_ = kNever;
    const LinkGrant grant{b.burst, b.train.count(), b.start, free_ + latency_, free_ + latency_};
    bulk_.pop_front();
    deliver(grant.delivered, *grant.burst, grant.burst->arrive);
    tell();  // the owners of earlier writes are told first
    on_grant_(grant);
}

}  // namespace ssdtlm
