// SPDX-License-Identifier: Apache-2.0
// Random traffic on one direction against a model that knows nothing of closed forms, transmit buffers or grants ahead
// of their time: who is on the wire when, how long something waits for which credits, and what is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <vector>

#include "common/random/random.h"
#include "unit/link/direction_bench.h"

namespace ssdtlm {
namespace {

using Offer = DirectionBench::Offer;

/// TLPs of one class that are away, and what may be away. A limit of 0: infinite.
struct Credits {
    std::uint32_t headers, data;
    Ps loop;
    struct Out {
        SimTime back;
        std::uint32_t data;
    };
    std::deque<Out> out;
    std::uint64_t data_out = 0;

    bool lacks_headers() const { return headers != 0 && out.size() >= headers; }
    bool lacks_data(std::uint32_t need) const { return data != 0 && data_out + need > data; }
    bool suffice(SimTime at, std::uint32_t need) {
        for (; !out.empty() && out.front().back <= at; out.pop_front()) data_out -= out.front().data;
        return !lacks_headers() && !lacks_data(need);
    }
    void take(SimTime end, std::uint32_t need) {
        out.push_back({end + loop, need});
        data_out += need;
    }
};

struct Sent {
    std::uint64_t cookie;
    std::uint32_t tlps;
    SimTime start, first_delivered, delivered;
    SimTime last_start{};  // of bulk writes
};
/// What has been sent of a bulk write.
struct Bulk {
    std::uint32_t next = 0;
    SimTime base{}, end{};  // of the TLPs that follow each other without a gap
    std::uint64_t bytes = 0;
    Sent sent{};
};
/// For want of which credits.
struct Wait {
    SimTime from, until;
    bool headers, data, reads;
};
struct Expected {
    std::vector<Sent> sent;
    std::vector<Sent> bulk;
    std::vector<Wait> waits;

    CreditStalls until(SimTime now) const {
        CreditStalls s;
        for (const Wait& w : waits) {
            const Ps passed = std::clamp(now, w.from, w.until) - w.from;
            if (w.reads) s.reads += passed;
            if (w.headers) s.posted_headers += passed;
            if (w.data) s.posted_data += passed;
            if (!w.reads) s.posted += passed;
        }
        return s;
    }
};

/// From one instant at which the wire is free to the next, one TLP after the other.
Expected reference(const std::vector<Offer>& offers, const LinkDirectionConfig& c) {
    const Ps loop = std::max(Ps{1}, c.latency + c.credit_return_latency);
    std::array<Credits, kTlpClasses> credits{Credits{c.posted_headers, c.posted_data, loop, {}},
                                             Credits{c.nonposted_headers, 0, loop, {}}, Credits{0, 0, loop, {}}};
    struct Waiting {
        std::uint64_t cookie;
        std::uint32_t first;  // TLP that has not been sent
    };
    std::deque<Waiting> waiting;
    std::vector<std::uint64_t> bulk;  // with TLPs left, by the time of their data
    std::map<std::uint64_t, Bulk> begun;
    std::size_t arrived = 0;
    SimTime t{}, reads_wait_since = kNever;
    Expected expected;
    while (arrived < offers.size() || !waiting.empty() || !bulk.empty()) {
        for (; arrived < offers.size() && offers[arrived].at <= t; ++arrived) {
            if (offers[arrived].bulk)
                bulk.insert(std::upper_bound(bulk.begin(), bulk.end(), arrived,
                                             [&](auto a, auto b) { return offers[a].ready < offers[b].ready; }),
                            arrived);
            else
                waiting.push_back({arrived, 0});
        }
        // Nothing passes but what is no read, and only reads, and those only for want of credits.
        Credits& of_reads = credits[static_cast<std::size_t>(TlpClass::non_posted)];
        const bool reads_go = of_reads.suffice(t, 0);
        const auto w = std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& x) {
            return reads_go || offers[x.cookie].kind != TlpKind::mem_read;
        });
        const bool a_read_waits = std::any_of(
            waiting.begin(), w, [&](const Waiting& x) { return offers[x.cookie].kind == TlpKind::mem_read; });
        if (a_read_waits && reads_wait_since == kNever) reads_wait_since = t;
        if (w == waiting.end()) {
            // One TLP of the bulk write whose data came first, if it has its credits.
            SimTime next = arrived < offers.size() ? offers[arrived].at : kNever;
            if (!waiting.empty()) next = std::min(next, of_reads.out.front().back);
            if (!bulk.empty() && offers[bulk.front()].ready <= t) {
                const std::uint64_t cookie = bulk.front();
                Credits& posted = credits[static_cast<std::size_t>(TlpClass::posted)];
                const TlpTrain& train = offers[cookie].train;
                Bulk& b = begun[cookie];
                if (posted.suffice(t, train.credits_of(b.next))) {
                    if (b.next == 0) b.sent = Sent{cookie, train.count(), t, {}, {}};
                    if (b.next == 0 || b.end != t) {
                        b.base = t;
                        b.bytes = 0;
                    }
                    b.bytes += train.overhead() + train.payload_of(b.next);
                    b.end = b.base + c.rate.time_for(b.bytes);
                    posted.take(b.end, train.credits_of(b.next));
                    b.sent.last_start = t;
                    t = b.end;
                    if (++b.next == train.count()) {
                        b.sent.delivered = b.end + c.latency;
                        expected.bulk.push_back(b.sent);
                        bulk.erase(bulk.begin());
                    }
                    continue;
                }
                next = std::min(next, posted.out.front().back);
                expected.waits.push_back(
                    {t, next, posted.lacks_headers(), posted.lacks_data(train.credits_of(b.next)), false});
            } else if (!bulk.empty()) {
                next = std::min(next, offers[bulk.front()].ready);
            }
            t = next;
            continue;
        }
        const TlpKind kind = offers[w->cookie].kind;
        const TlpTrain& train = offers[w->cookie].train;
        Credits& own = credits[static_cast<std::size_t>(tlp_class(kind))];
        Sent sent{w->cookie, 0, {}, {}, {}};
        if (kind == TlpKind::mem_read && reads_wait_since != kNever) {
            expected.waits.push_back({reads_wait_since, t, false, false, true});
            reads_wait_since = kNever;
        }
        SimTime base = t, end = t;  // the TLPs since `base` follow each other without a gap
        std::uint64_t bytes = 0;
        for (; w->first < train.count(); ++w->first, ++sent.tlps) {
            const std::uint32_t need = train.credits_of(w->first);
            if (!own.suffice(end, need)) {
                if (kind == TlpKind::mem_read) break;  // others may have the wire now
                base = end;
                for (SimTime back; !own.suffice(base, need); base = back) {
                    back = own.out.front().back;
                    expected.waits.push_back({base, back, own.lacks_headers(), own.lacks_data(need), false});
                }
                bytes = 0;
            }
            if (sent.tlps == 0) sent.start = base;
            bytes += train.overhead() + train.payload_of(w->first);
            end = base + c.rate.time_for(bytes);
            own.take(end, need);
            if (sent.tlps == 0) sent.first_delivered = end + c.latency;
        }
        sent.delivered = end + c.latency;
        expected.sent.push_back(sent);
        if (w->first == train.count()) waiting.erase(w);
        t = end;
    }
    return expected;
}

/// What a TLP of 20 bytes takes on the slowest link.
constexpr std::uint64_t kStep = 80'000;

/// A link of the dice. `round`: the slowest, and all times are multiples of a small TLP's, so that much happens at one
/// instant.
LinkDirectionConfig draw_direction(Random& r, bool round, std::uint32_t max_payload) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(r.below(n)); };
    const auto time = [&](std::uint64_t ps) {
        return Ps{static_cast<std::int64_t>(round ? kStep * r.below(ps / kStep) : r.below(ps))};
    };
    LinkDirectionConfig c;
    c.rate = round ? link_rate(1, 1, 1'000'000) : link_rate(1 + below(6), 1u << below(5), 900'000 + below(100'001));
    c.latency = time(400'000);
    c.credit_return_latency = time(300'000);
    c.posted_headers = below(8) == 0 ? 0 : 1 + below(100);
    c.posted_data = below(8) == 0 ? 0 : max_payload / kCreditBytes + below(500);
    c.nonposted_headers = below(8) == 0 ? 0 : 1 + below(12);
    c.min_overhead = 20;
    c.max_payload = max_payload;
    return c;
}

/// Bursts of up to 16 at an instant, `classes` kinds of them.
std::vector<Offer> draw_traffic(Random& r, bool round, std::uint32_t max_payload, std::uint64_t classes, bool bulk) {
    constexpr TlpKind kKinds[] = {TlpKind::mem_write, TlpKind::mem_read, TlpKind::completion_data, TlpKind::completion};
    const std::uint64_t pause = std::uint64_t{20'000} << r.below(9);
    std::vector<Offer> offers;
    SimTime at{};
    while (offers.size() < 300) {
        const std::uint64_t ps = r.below(pause);
        at += Ps{static_cast<std::int64_t>(round ? ps / kStep * kStep : ps)};
        for (std::uint64_t i = r.below(3) == 0 ? r.below(16) : 1; i > 0; --i) {
            const TlpKind kind = kKinds[r.below(classes)];
            const std::uint32_t overhead = round || r.below(2) ? 20 : 24;
            if (bulk && r.below(3) == 0) {
                const std::uint64_t bytes = r.below(2) ? 1 + r.below(600) : 1 + r.below(16384);
                const std::uint64_t until = r.below(2) ? 0 : r.below(4 * pause);
                const SimTime ready = at + Ps{static_cast<std::int64_t>(round ? until / kStep * kStep : until)};
                offers.push_back({at, TlpKind::mem_write, TlpTrain::data(r.below(4096), bytes, max_payload, overhead),
                                  true, r.below(2) == 0, ready});
                continue;
            }
            if (kind == TlpKind::mem_read || kind == TlpKind::completion) {
                offers.push_back({at,
                                  kind,
                                  TlpTrain::headers(static_cast<std::uint32_t>(1 + r.below(20)), overhead),
                                  false,
                                  false,
                                  {}});
            } else {
                const std::uint64_t bytes = r.below(2) ? 1 + r.below(100) : 1 + r.below(4096);
                offers.push_back(
                    {at, kind, TlpTrain::data(r.below(4096), bytes, max_payload, overhead), false, false, {}});
            }
        }
    }
    return offers;
}

void expect_bulk_as(const std::vector<Sent>& expected, const DirectionBench& b) {
    std::vector<std::size_t> grants;
    for (std::size_t i = 0; i < b.grants.size(); ++i)
        if (b.schedule[b.grants[i].cookie].bulk) grants.push_back(i);
    ASSERT_EQ(grants.size(), expected.size());
    ASSERT_EQ(b.arrivals.size(), expected.size());
    SimTime told = kNever;  // when the next prompt one begins its last TLP
    for (std::size_t i = expected.size(); i-- > 0;) {
        SCOPED_TRACE(i);
        const auto& g = b.grants[grants[i]];
        const Sent& e = expected[i];
        ASSERT_EQ(g.cookie, e.cookie);
        ASSERT_EQ(g.tlps, e.tlps);
        ASSERT_EQ(g.start, e.start);
        ASSERT_EQ(g.delivered, e.delivered);
        ASSERT_EQ(b.arrivals[i].first, e.cookie);
        ASSERT_EQ(b.arrivals[i].second, e.delivered);
        if (b.schedule[e.cookie].prompt) told = e.last_start;
        ASSERT_EQ(b.granted_at[grants[i]], std::min(told, e.delivered));
    }
}

void expect_as(const Expected& expected, const DirectionBench& b) {
    expect_bulk_as(expected.bulk, b);
    std::vector<std::size_t> grants;
    for (std::size_t i = 0; i < b.grants.size(); ++i)
        if (!b.schedule[b.grants[i].cookie].bulk) grants.push_back(i);
    ASSERT_EQ(grants.size(), expected.sent.size());
    for (std::size_t n = 0; n < expected.sent.size(); ++n) {
        SCOPED_TRACE(n);
        const std::size_t i = grants[n];
        const auto& g = b.grants[i];
        const Sent& e = expected.sent[n];
        ASSERT_EQ(g.cookie, e.cookie);
        ASSERT_EQ(g.tlps, e.tlps);
        ASSERT_EQ(g.start, e.start);
        ASSERT_EQ(g.delivered, e.delivered);
        if (b.schedule[e.cookie].kind == TlpKind::mem_read) {
            ASSERT_EQ(g.first_delivered, e.first_delivered);
        }
        // Never before it was offered; at the latest when it begins, or would if it had its credits.
        ASSERT_GE(b.granted_at[i], b.schedule[e.cookie].at);
        ASSERT_LE(b.granted_at[i], e.start);
    }
}

void expect_same(const CreditStalls& a, const CreditStalls& b) {
    EXPECT_EQ(a.posted, b.posted);
    EXPECT_EQ(a.posted_headers, b.posted_headers);
    EXPECT_EQ(a.posted_data, b.posted_data);
    EXPECT_EQ(a.reads, b.reads);
}

void expect_counted(const DirectionBench& b, Rate rate, const CreditStalls& stalls, bool cuts) {
    LinkCounters sums;
    for (const auto& o : b.schedule) {
        const auto k = static_cast<std::size_t>(o.kind);
        sums.tlps[k] += o.train.count();
        sums.overhead_bytes[k] += std::uint64_t{o.train.count()} * o.train.overhead();
        sums.payload_bytes[k] += o.train.payload_bytes();
    }
    for (const auto& g : b.grants) {
        const TlpTrain& train = b.schedule[g.cookie].train;
        sums.busy +=
            rate.time_for(g.tlps == train.count() ? train.wire_bytes() : std::uint64_t{g.tlps} * train.overhead());
    }
    const LinkCounters& counted = b.direction.counters();
    EXPECT_EQ(counted.tlps, sums.tlps);
    EXPECT_EQ(counted.overhead_bytes, sums.overhead_bytes);
    EXPECT_EQ(counted.payload_bytes, sums.payload_bytes);
    if (!cuts) {  // each part of a bulk write is rounded up
        // A burst that waits for credits is sent in parts, each rounded up to a picosecond: no more parts than TLPs.
        std::uint64_t parts = 0;
        if (stalls.posted + stalls.reads != Ps{})
            for (const std::uint64_t tlps : sums.tlps) parts += tlps;
        EXPECT_GE(counted.busy, sums.busy);
        EXPECT_LE(counted.busy, sums.busy + Ps{static_cast<std::int64_t>(parts)});
    }
    expect_same(b.direction.stalls(kNever), stalls);
}

/// `stalled`: how many of the runs have met something that lacked credits.
void expect_agreement(std::uint64_t seeds, std::uint64_t classes, bool bulk, std::uint64_t& stalled) {
    for (std::uint64_t seed = 0; seed < seeds && !testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Random r(seed, classes + 10 * bulk);
        const bool round = r.below(4) == 0;
        const std::uint32_t max_payload = 64u << r.below(4);
        LinkDirectionConfig c = draw_direction(r, round, max_payload);
        const std::vector<Offer> offers = draw_traffic(r, round, max_payload, classes, bulk);
        const Expected expected = reference(offers, c);
        // With closed forms and TLP by TLP; straight onto the wire where that can be, and always by the queue.
        for (const bool every_credit : {false, true}) {
            c.account_every_credit = every_credit;
            DirectionBench b(c);
            b.at_once = !every_credit;
            b.schedule = offers;
            for (std::uint64_t i = 0; i < offers.size(); ++i)
                b.agenda.post(offers[i].at, Then::to<&DirectionBench::offer_scheduled>(&b, i));
            Random looks(seed, 77);
            while (b.agenda.run_one(kNever)) {
                b.direction.check_waiters("random");
                if (!bulk) {
                    ASSERT_LE(b.agenda.pending(), offers.size() - b.tags.size() + 1) << "one turn for all that wait";
                }
                if (every_credit && looks.below(3) == 0) {  // who looks changes nothing
                    b.direction.catch_up();
                    CreditStalls stalls = b.direction.stalls(b.agenda.now()),
                                 until_now = expected.until(b.agenda.now());
                    stalls.reads = until_now.reads = Ps{};  // a read that got its place ahead has waited until then
                    expect_same(stalls, until_now);
                }
            }
            expect_as(expected, b);
            expect_counted(b, c.rate, expected.until(kNever), bulk);
            EXPECT_EQ(b.direction.waiting(), 0u);
        }
        stalled += !expected.waits.empty();
    }
}

void expect_agreement(std::uint64_t seeds, std::uint64_t classes, bool bulk = false) {
    std::uint64_t stalled = 0;
    expect_agreement(seeds, classes, bulk, stalled);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_GT(stalled, seeds / 6);
    EXPECT_LT(stalled, seeds);
}

TEST(LinkDirection, RandomWritesGoAsTlpByTlpWithTheirCredits) {
    expect_agreement(60, 1);
}

TEST(LinkDirection, RandomTrafficOfAllClassesGoesAsTlpByTlpWithItsCredits) {
    expect_agreement(200, 4);
}

TEST(LinkDirection, RandomBulkWritesGetTlpByTlpWhatOthersLeave) {
    expect_agreement(60, 1, true);
    expect_agreement(300, 4, true);
}

}  // namespace
}  // namespace ssdtlm
