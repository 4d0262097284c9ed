// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/link/link_direction.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/link/link_rate.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kHigh = 0x1'0000'0000;

/// One direction with a log of what it granted.
struct Bench {
    struct Offer {
        SimTime at;
        TlpKind kind;
        TlpTrain train;
    };
    struct Tag : LinkDelivery {
        Tag(Bench* b, std::uint64_t c) : bench(b), cookie(c) {}
        Bench* bench;
        std::uint64_t cookie;
    };
    struct Grant : LinkGrant {
        std::uint64_t cookie;
    };
    explicit Bench(const LinkDirectionConfig& c) : direction(agenda, c, &Bench::on_grant) {}
    static void on_grant(const LinkGrant& g) {
        const Tag& tag = static_cast<const Tag&>(*g.burst);
        tag.bench->grants.push_back({g, tag.cookie});
        tag.bench->granted_at.push_back(tag.bench->agenda.now());
    }
    void offer(TlpKind kind, const TlpTrain& train, std::uint64_t cookie) {
        tags.emplace_back(this, cookie);
        if (at_once)
            direction.offer(kind, train, tags.back());
        else
            direction.queue(kind, train, tags.back());
    }
    void write(std::uint64_t bytes, std::uint64_t cookie = 0, std::uint32_t mps = 256) {
        offer(TlpKind::mem_write, TlpTrain::data(kHigh, bytes, mps, 24), cookie);
    }
    void read(std::uint32_t n, std::uint64_t cookie = 0) { offer(TlpKind::mem_read, TlpTrain::headers(n, 24), cookie); }
    void complete(std::uint64_t bytes, std::uint64_t cookie = 0) {
        offer(TlpKind::completion_data, TlpTrain::data(0, bytes, 256, 20), cookie);
    }
    void offer_scheduled(std::uint64_t i) { offer(schedule[i].kind, schedule[i].train, i); }

    bool at_once = true;  // false: every burst is queued first
    Agenda agenda;
    LinkDirection direction;
    std::deque<Tag> tags;
    std::vector<Grant> grants;
    std::vector<SimTime> granted_at;
    std::vector<Offer> schedule;
};

LinkDirectionConfig gen3x4() {
    LinkDirectionConfig c;
    c.rate = link_rate(3, 4, 1'000'000);
    c.latency = 250ns;
    c.credit_return_latency = 100ns;
    c.posted_headers = 64;
    c.posted_data = 512;
    c.nonposted_headers = 64;
    return c;
}

TEST(LinkDirection, UncontendedBurstIsGrantedAtOnceAndNeedsNoAgendaEntry) {
    Bench b(gen3x4());
    b.write(4096);
    ASSERT_EQ(b.grants.size(), 1u);
    EXPECT_TRUE(b.agenda.empty());
    // 16 x 280 bytes at 256 bytes per 65 ns.
    EXPECT_EQ(b.grants[0].start, SimTime{});
    EXPECT_EQ(b.grants[0].delivered, SimTime{Ps{16 * 280 * 65'000 / 256}} + 250ns);
    b.agenda.run_until(SimTime{10us});
    b.read(8);  // a read request is looked up when the first of the burst has arrived
    EXPECT_EQ(b.grants.back().first_delivered, SimTime{10us} + Ps{(24 * 65'000 + 255) / 256} + 250ns);
    EXPECT_EQ(b.grants.back().delivered, SimTime{10us} + Ps{8 * 24 * 65'000 / 256} + 250ns);
}

// A whole burst, and one that goes in parts for want of credits.
TEST(LinkDirection, TellsWhoWatchesWhatWasOnTheWire) {
    struct Watch final : LinkProbe {
        void on_wire(const WireBurst& burst) override { bursts.push_back(burst); }
        std::vector<WireBurst> bursts;
    } watch;
    auto c = gen3x4();
    c.nonposted_headers = 3;
    Bench b(c);
    b.direction.set_probe(&watch);
    b.write(4096);
    b.read(5);
    b.agenda.run();
    ASSERT_EQ(watch.bursts.size(), 3u);
    const struct {
        std::uint32_t tlps, data_credits;
        std::uint64_t wire_bytes;
    } expected[] = {{16, 256, 16 * 280}, {3, 0, 3 * 24}, {2, 0, 2 * 24}};
    for (std::size_t i = 0; i < 3; ++i) {
        const WireBurst& w = watch.bursts[i];
        EXPECT_EQ(w.kind, i == 0 ? TlpKind::mem_write : TlpKind::mem_read);
        EXPECT_EQ(w.tlps, expected[i].tlps);
        EXPECT_EQ(w.data_credits, expected[i].data_credits);
        EXPECT_EQ(w.wire_bytes, expected[i].wire_bytes);
        EXPECT_EQ(w.start, b.grants[i].start);
        EXPECT_EQ(w.end, b.grants[i].delivered - c.latency);
        EXPECT_EQ(w.credits_back, w.end + c.latency + c.credit_return_latency);
    }
}

TEST(LinkDirection, BurstsFollowEachOtherWithoutGapsInArrivalOrder) {
    Bench b(gen3x4());
    for (std::uint64_t i = 0; i < 5; ++i) b.write(4096, i);
    EXPECT_EQ(b.grants.size(), 1u);
    b.agenda.run();
    ASSERT_EQ(b.grants.size(), 5u);
    for (std::uint64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(b.grants[i].cookie, i);
        EXPECT_EQ(b.grants[i].start, SimTime{Ps{1'137'500 * static_cast<std::int64_t>(i)}});
        EXPECT_EQ(b.granted_at[i], b.grants[i].start);
    }
    EXPECT_EQ(b.agenda.executed(), 4u);  // one grant event for each that waited
    EXPECT_EQ(b.direction.counters().busy, Ps{5 * 1'137'500});
}

TEST(LinkDirection, SmallBurstsBehindABusyWireUseTheTransmitBufferWithoutChangingTheirTime) {
    Bench b(gen3x4());
    b.write(4096, 0);
    b.write(16, 1);  // CQE
    b.offer(TlpKind::mem_write, TlpTrain::data(0xFEE00000, 4, 256, 20), 2);
    ASSERT_EQ(b.grants.size(), 3u);
    EXPECT_TRUE(b.agenda.empty());
    EXPECT_EQ(b.grants[1].start, SimTime{Ps{1'137'500}});
    EXPECT_EQ(b.grants[2].start, SimTime{Ps{1'137'500 + (40 * 65'000 + 255) / 256}});
    b.write(4096, 3);  // does not fit the buffer: waits, and so does what follows
    b.write(16, 4);
    EXPECT_EQ(b.grants.size(), 3u);
    b.agenda.run();
    ASSERT_EQ(b.grants.size(), 5u);
    EXPECT_EQ(b.grants[3].cookie, 3u);
    EXPECT_EQ(b.grants[3].start + (b.grants[3].delivered - b.grants[3].start - 250ns), b.grants[4].start);
}

// PCI Express 5.0 §2.4.1.
// What fits the empty buffer is taken in as soon as the wire begins what is in it; what is larger waits for the idle wire.
TEST(LinkDirection, ABurstThatFitsTheTransmitBufferIsTakenInWhenItEmpties) {
    for (std::uint64_t wire = LinkDirection::kTransmitBufferBytes - 8; wire <= LinkDirection::kTransmitBufferBytes + 8; wire += 4) {
        Bench b(gen3x4());
        b.write(4096, 0);
        b.write(100, 1);
        b.write(wire - 24, 2, 1024);
        ASSERT_EQ(b.grants.size(), 2u);
        b.agenda.run();
        ASSERT_EQ(b.grants.size(), 3u);
        EXPECT_EQ(b.grants[2].start, b.grants[1].delivered - 250ns) << wire;
        EXPECT_EQ(b.granted_at[2], wire <= LinkDirection::kTransmitBufferBytes ? b.grants[1].start : b.grants[2].start) << wire;
    }
}

TEST(LinkDirection, PostedAndCompletionsPassAReadWithoutCreditsAndNothingElse) {
    auto c = gen3x4();
    c.nonposted_headers = 1;
    Bench b(c);
    b.read(1, 0);     // takes the only credit
    b.read(1, 1);     // blocked until the credit is back
    b.read(1, 2);     // must not pass 1
    b.write(256, 3);  // passes both
    b.complete(64, 4);
    b.agenda.run();
    std::vector<std::uint64_t> order;
    for (const auto& g : b.grants) order.push_back(g.cookie);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 3, 4, 1, 2}));
    const Ps mrd = c.rate.time_for(24);
    EXPECT_EQ(b.grants[1].start, SimTime{} + mrd);
    EXPECT_EQ(b.grants[3].start, SimTime{} + mrd + 350ns);  // end + latency + credit return
    EXPECT_EQ(b.grants[4].start, b.grants[3].start + mrd + 350ns);
    EXPECT_GT(b.direction.counters().credit_stall, Ps{});
}

TEST(LinkDirection, NothingPassesAPostedBurstThatWaitsForCredits) {
    auto c = gen3x4();
    c.posted_data = 16;  // one TLP of 256 bytes
    Bench b(c);
    b.write(512, 0);
    b.read(1, 1);
    b.complete(64, 2);
    b.agenda.run();
    ASSERT_EQ(b.grants.size(), 3u);
    const Ps tlp = c.rate.time_for(280);
    EXPECT_EQ(b.grants[0].delivered, SimTime{} + tlp + 350ns + tlp + c.latency);
    EXPECT_EQ(b.grants[1].start, b.grants[0].delivered - c.latency);
    EXPECT_EQ(b.grants[2].cookie, 2u);
    EXPECT_EQ(b.direction.counters().credit_stall, 350ns);
}

TEST(LinkDirection, ReadBurstShortOfCreditsGoesInParts) {
    auto c = gen3x4();
    c.nonposted_headers = 4;
    Bench b(c);
    b.read(10, 7);
    ASSERT_EQ(b.grants.size(), 1u);
    EXPECT_EQ(b.grants[0].tlps, 4u);
    b.agenda.run();
    std::uint32_t sum = 0;
    for (const auto& g : b.grants) {
        EXPECT_EQ(g.cookie, 7u);
        sum += g.tlps;
    }
    EXPECT_EQ(sum, 10u);
    // Four per loop: the fifth starts when the first one's credit is back.
    EXPECT_EQ(b.grants[1].start, SimTime{} + c.rate.time_for(24) + 350ns);
}

/// Payload rate of `bytes` bytes of back-to-back 4 KiB writes.
double endless_writes(const LinkDirectionConfig& c, std::uint32_t mps, std::uint32_t overhead = 24) {
    Bench b(c);
    constexpr std::uint64_t kBursts = 2000;
    for (std::uint64_t i = 0; i < kBursts; ++i)
        b.offer(TlpKind::mem_write, TlpTrain::data(kHigh, 4096, mps, overhead), i);
    b.agenda.run();
    const Ps end = b.grants.back().delivered - c.latency - SimTime{};
    return kBursts * 4096.0 / to_seconds(end);
}

// Bursts are granted ahead of their time; busy() counts what the wire has carried by now.
TEST(LinkDirection, BusyIsTheWireTimeUsedSoFar) {
    const auto c = gen3x4();
    Bench b(c);
    EXPECT_EQ(b.direction.busy(b.agenda.now()), Ps{});
    b.agenda.run_until(SimTime{1us});
    b.write(256);
    const Ps length = c.rate.time_for(280);
    EXPECT_EQ(b.direction.counters().busy, length) << "all of it granted";
    EXPECT_EQ(b.direction.busy(SimTime{1us}), Ps{});
    EXPECT_EQ(b.direction.busy(SimTime{1us} + Ps{1000}), Ps{1000});
    EXPECT_EQ(b.direction.busy(SimTime{1us} + length - Ps{1}), length - Ps{1});
    EXPECT_EQ(b.direction.busy(SimTime{1us} + length), length);
    b.agenda.run_until(SimTime{2us});
    EXPECT_EQ(b.direction.busy(b.agenda.now()), length) << "idle since";
    b.write(256);
    EXPECT_EQ(b.direction.busy(SimTime{2us} + Ps{1000}), length + Ps{1000});
    b.agenda.run();
    EXPECT_EQ(b.direction.busy(SimTime{3us}), 2 * length);
}

TEST(LinkDirection, BandwidthOfEndlessWrites) {
    struct Case {
        std::uint32_t generation, lanes, mps;
        double efficiency, raw;  // raw bytes per second of one direction
    };
    const Case cases[] = {{3, 4, 256, 1.00, 8e9 / 8 * 128 / 130 * 4},  {3, 4, 256, 0.98, 8e9 / 8 * 128 / 130 * 4},
                          {4, 4, 256, 1.00, 16e9 / 8 * 128 / 130 * 4}, {4, 4, 256, 0.98, 16e9 / 8 * 128 / 130 * 4},
                          {3, 1, 256, 1.00, 8e9 / 8 * 128 / 130},      {3, 2, 256, 1.00, 8e9 / 8 * 128 / 130 * 2},
                          {3, 8, 256, 1.00, 8e9 / 8 * 128 / 130 * 8},  {3, 16, 256, 1.00, 8e9 / 8 * 128 / 130 * 16},
                          {1, 4, 128, 1.00, 2.5e9 / 10 * 4},           {5, 4, 512, 1.00, 32e9 / 8 * 128 / 130 * 4}};
    for (const auto& t : cases) {
        auto c = gen3x4();
        c.rate = link_rate(t.generation, t.lanes, efficiency_ppm(t.efficiency));
        c.posted_headers = c.posted_data = 0;  // wire bound
        const double expected = t.raw * t.efficiency * t.mps / (t.mps + 24);
        EXPECT_NEAR(endless_writes(c, t.mps), expected, expected * 1e-5) << "Gen" << t.generation << " x" << t.lanes;
    }
    // The published round figures of the first cases.
    auto c = gen3x4();
    EXPECT_NEAR(endless_writes(c, 256), 3.601e9, 0.001e9);
    c.rate = link_rate(3, 4, 980'000);
    EXPECT_NEAR(endless_writes(c, 256), 3.529e9, 0.001e9);
    c.rate = link_rate(4, 4, 1'000'000);
    EXPECT_NEAR(endless_writes(c, 256), 7.202e9, 0.001e9);
}

// 64 data credits are four TLPs of 256 bytes; with 400 ns from a TLP's start to its credits' return that is 2.56 GB/s.
TEST(LinkDirection, PostedDataCreditsBoundTheBandwidth) {
    auto c = gen3x4();
    c.rate = link_rate(4, 4, 1'000'000);
    c.posted_data = 64;
    c.credit_return_latency = 400ns - c.latency - c.rate.time_for(280);
    EXPECT_NEAR(endless_writes(c, 256), 1024 / 400e-9, 1024 / 400e-9 * 1e-3);
    c.posted_data = 512;  // 32 TLPs in a loop of 400 ns: the wire binds
    const double wire = 16e9 / 8 * 128 / 130 * 4 * 256 / 280;
    EXPECT_NEAR(endless_writes(c, 256), wire, wire * 1e-4);
}

TEST(LinkDirection, CompletionQueueEntryRate) {
    auto c = gen3x4();
    c.posted_headers = 64;
    Bench b(c);
    constexpr std::uint64_t kEntries = 20'000;
    for (std::uint64_t i = 0; i < kEntries; ++i) b.write(16, i);
    b.agenda.run();
    const double rate = kEntries / to_seconds(b.grants.back().delivered - c.latency - SimTime{});
    const double expected = 8e9 / 8 * 128 / 130 * 4 / 40;  // 98 M/s
    EXPECT_NEAR(rate, expected, expected * 1e-3);
}

/// Independent model of posted traffic: one TLP after the other, credits in a list.
std::vector<SimTime> reference(const std::vector<Bench::Offer>& offers, const LinkDirectionConfig& c) {
    struct Out {
        SimTime back;
        std::uint32_t data;
    };
    std::deque<Out> out;
    std::uint64_t data_out = 0;
    SimTime free{};
    std::vector<SimTime> delivered;
    for (const auto& o : offers) {
        SimTime base = std::max(o.at, free);
        std::uint64_t sent = 0;
        for (std::uint32_t i = 0; i < o.train.count(); ++i) {
            SimTime start = base + c.rate.time_for(sent);
            const std::uint32_t need = o.train.credits_of(i);
            for (;;) {
                while (!out.empty() && out.front().back <= start) {
                    data_out -= out.front().data;
                    out.pop_front();
                }
                if (out.size() < c.posted_headers && data_out + need <= c.posted_data) break;
                start = out.front().back;
                base = start;
                sent = 0;
            }
            sent += o.train.overhead() + o.train.payload_of(i);
            data_out += need;
            out.push_back({base + c.rate.time_for(sent) + c.latency + c.credit_return_latency, need});
        }
        free = base + c.rate.time_for(sent);
        delivered.push_back(free + c.latency);
    }
    return delivered;
}

TEST(LinkDirection, ClosedFormsEqualTlpByTlpCreditsOnRandomTraffic) {
    int stalled = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Random r(seed);
        LinkDirectionConfig c;
        c.rate = link_rate(1 + static_cast<std::uint32_t>(r.below(6)), 1u << r.below(5), 900'000 + r.below(100'001));
        c.latency = Ps{static_cast<std::int64_t>(r.below(400'000))};
        c.credit_return_latency = Ps{1 + static_cast<std::int64_t>(r.below(300'000))};
        c.posted_headers = static_cast<std::uint32_t>(1 + r.below(100));
        c.posted_data = static_cast<std::uint32_t>(16 + r.below(500));
        c.min_overhead = 20;
        c.max_payload = 256;
        Bench fast(c);
        c.account_every_credit = true;
        Bench slow(c);
        slow.at_once = false;
        std::int64_t at = 0;
        for (int i = 0; i < 300; ++i) {
            at += static_cast<std::int64_t>(r.below(3) == 0 ? r.below(3'000'000) : 0);
            const std::uint64_t bytes = r.below(2) ? 4 + r.below(100) : 1 + r.below(8192);
            const auto train = TlpTrain::data(r.below(4096), bytes, 256, r.below(2) ? 20 : 24);
            fast.schedule.push_back({SimTime{Ps{at}}, TlpKind::mem_write, train});
        }
        slow.schedule = fast.schedule;
        for (Bench* b : {&fast, &slow}) {
            for (std::uint64_t i = 0; i < b->schedule.size(); ++i)
                b->agenda.post<&Bench::offer_scheduled>(b->schedule[i].at, b, i);
            b->agenda.run();
        }
        const auto expected = reference(fast.schedule, c);
        ASSERT_EQ(fast.grants.size(), expected.size());
        ASSERT_EQ(slow.grants.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_EQ(fast.grants[i].delivered, expected[i]) << "seed " << seed << " burst " << i;
            ASSERT_EQ(slow.grants[i].delivered, expected[i]) << "seed " << seed << " burst " << i;
            ASSERT_EQ(fast.grants[i].cookie, i);
        }
        EXPECT_EQ(fast.direction.counters().credit_stall, slow.direction.counters().credit_stall);
        stalled += fast.direction.counters().credit_stall > Ps{};
    }
    EXPECT_GT(stalled, 10);  // the comparison has met credit stalls
    EXPECT_LT(stalled, 60);
}

// All classes, few credits: both paths agree, reads stay in order, posted stay in order, everything is sent.
TEST(LinkDirection, MixedTrafficKeepsOrderAndBothPathsAgree) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Random r(seed, 1);
        auto c = gen3x4();
        c.rate = link_rate(static_cast<std::uint32_t>(1 + r.below(5)), 4, 980'000);
        c.posted_headers = static_cast<std::uint32_t>(1 + r.below(40));
        c.posted_data = static_cast<std::uint32_t>(16 + r.below(200));
        c.nonposted_headers = static_cast<std::uint32_t>(1 + r.below(12));
        c.min_overhead = 20;
        c.max_payload = 256;
        Bench fast(c);
        c.account_every_credit = true;
        Bench slow(c);
        slow.at_once = false;
        std::int64_t at = 0;
        for (int i = 0; i < 400; ++i) {
            at += static_cast<std::int64_t>(r.below(400'000));
            const std::uint64_t kind = r.below(3);
            if (kind == 0)
                fast.schedule.push_back({SimTime{Ps{at}}, TlpKind::mem_read,
                                         TlpTrain::headers(static_cast<std::uint32_t>(1 + r.below(20)), 24)});
            else
                fast.schedule.push_back({SimTime{Ps{at}}, kind == 1 ? TlpKind::mem_write : TlpKind::completion_data,
                                         TlpTrain::data(r.below(4096), 1 + r.below(2048), 256, 24)});
        }
        slow.schedule = fast.schedule;
        for (Bench* b : {&fast, &slow}) {
            for (std::uint64_t i = 0; i < b->schedule.size(); ++i)
                b->agenda.post<&Bench::offer_scheduled>(b->schedule[i].at, b, i);
            b->agenda.run();
        }
        ASSERT_EQ(fast.grants.size(), slow.grants.size());
        std::vector<std::uint32_t> sent(fast.schedule.size());
        std::uint64_t last_posted = 0, last_read = 0;
        SimTime free{};
        for (std::size_t i = 0; i < fast.grants.size(); ++i) {
            const auto& g = fast.grants[i];
            ASSERT_EQ(g.cookie, slow.grants[i].cookie);
            ASSERT_EQ(g.delivered, slow.grants[i].delivered);
            ASSERT_GE(g.start, free);  // never two bursts on the wire
            free = g.delivered - c.latency;
            sent[g.cookie] += g.tlps;
            const TlpKind kind = fast.schedule[g.cookie].kind;
            if (kind == TlpKind::mem_read) {
                ASSERT_GE(g.cookie, last_read);
                last_read = g.cookie;
            } else {
                ASSERT_GE(g.cookie, last_posted);  // posted and completions in arrival order
                last_posted = g.cookie;
            }
        }
        // A read never passes an earlier posted burst.
        std::vector<bool> done(fast.schedule.size());
        for (const auto& g : fast.grants) {
            for (std::size_t j = 0; j < g.cookie && fast.schedule[g.cookie].kind == TlpKind::mem_read; ++j)
                ASSERT_TRUE(done[j] || fast.schedule[j].kind == TlpKind::mem_read);
            done[g.cookie] = true;
        }
        for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(sent[i], fast.schedule[i].train.count());
    }
}

}  // namespace
}  // namespace ssdtlm
