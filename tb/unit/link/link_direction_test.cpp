// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "common/report/error.h"
#include "unit/link/direction_bench.h"

namespace ssdtlm {
namespace {

using Bench = DirectionBench;

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

// What fits the empty buffer is taken in as soon as the wire begins what is in it; what is larger waits for the idle
// wire.
TEST(LinkDirection, ABurstThatFitsTheTransmitBufferIsTakenInWhenItEmpties) {
    for (std::uint64_t wire = LinkDirection::kTransmitBufferBytes - 8; wire <= LinkDirection::kTransmitBufferBytes + 8;
         wire += 4) {
        Bench b(gen3x4());
        b.write(4096, 0);
        b.write(100, 1);
        b.write(wire - 24, 2, 1024);
        ASSERT_EQ(b.grants.size(), 2u);
        b.agenda.run();
        ASSERT_EQ(b.grants.size(), 3u);
        EXPECT_EQ(b.grants[2].start, b.grants[1].delivered - 250ns) << wire;
        EXPECT_EQ(b.granted_at[2], wire <= LinkDirection::kTransmitBufferBytes ? b.grants[1].start : b.grants[2].start)
            << wire;
    }
}

// What happens at one instant happens in the order in which it was arranged: a burst that comes later must not put off
// the grant of those before it.
TEST(LinkDirection, ABurstBehindOthersLeavesTheirTurnWhereItIs) {
    Bench b(gen3x4());
    b.write(4096, 0);
    const SimTime idle = b.grants[0].delivered - 250ns;
    b.write(4096, 1);  // waits for the idle wire
    struct Other {
        Bench& bench;
        std::size_t granted = 0;
        void look() { granted = bench.grants.size(); }
    } other{b};
    b.agenda.post(idle, Then::to<&Other::look>(&other));
    b.write(4096, 2);
    b.agenda.run_until(idle);
    EXPECT_EQ(other.granted, 2u);
    EXPECT_EQ(b.granted_at.back(), idle);
}

// PCI Express 5.0 §2.4.1.
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
    EXPECT_EQ(b.direction.stalls(kNever).reads, 2 * 350ns);
    EXPECT_EQ(b.direction.stalls(kNever).posted, Ps{});
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
    EXPECT_EQ(b.direction.stalls(kNever).posted, 350ns);
    EXPECT_EQ(b.direction.stalls(kNever).posted_data, 350ns);
    EXPECT_EQ(b.direction.stalls(kNever).posted_headers, Ps{});
    EXPECT_EQ(b.direction.stalls(kNever).reads, Ps{});
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

// A completion among the data of others waits for the end of one TLP, and puts off the rest of them by its own length.
TEST(LinkDirection, ABulkWriteIsCutBehindEachTlp) {
    const auto c = gen3x4();
    const Ps tlp = c.rate.time_for(280), cqe = c.rate.time_for(40);
    Bench b(c);
    const auto page = TlpTrain::data(kHigh, 8192, 256, 24);
    b.bulk(page, SimTime{}, false, 0);
    b.bulk(page, SimTime{}, true, 1);
    b.agenda.run_until(SimTime{} + 2 * tlp + Ps{1});  // the third is on the wire
    EXPECT_TRUE(b.grants.empty());
    b.write(16, 2);
    ASSERT_EQ(b.grants.size(), 1u);
    EXPECT_EQ(b.grants[0].start, SimTime{} + c.rate.time_for(3 * 280));
    EXPECT_EQ(b.direction.waiting(), 2u);
    b.agenda.run();
    ASSERT_EQ(b.grants.size(), 3u);
    const SimTime first_end = SimTime{} + c.rate.time_for(3 * 280) + cqe + c.rate.time_for(29 * 280);
    EXPECT_EQ(b.grants[1].cookie, 0u);
    EXPECT_EQ(b.grants[1].delivered, first_end + c.latency);
    EXPECT_EQ(b.granted_at[1], first_end + c.latency) << "nobody waits to hear of it: on arrival";
    EXPECT_EQ(b.grants[2].start, first_end);
    EXPECT_EQ(b.granted_at[2], first_end + c.rate.time_for(31 * 280)) << "when its last TLP begins";
    EXPECT_EQ(b.grants[2].delivered, first_end + c.rate.time_for(32 * 280) + c.latency);
    ASSERT_EQ(b.arrivals.size(), 2u);
    EXPECT_EQ(b.arrivals[1].second, b.grants[2].delivered);
    // An arrival that came too early once, that arrival, the begin of a last TLP, and its arrival.
    EXPECT_LE(b.agenda.executed(), 6u);
}

// Its data are not there yet, or others' were before.
TEST(LinkDirection, BulkWritesGoInOrderOfTheirData) {
    const auto c = gen3x4();
    Bench b(c);
    const auto page = TlpTrain::data(kHigh, 4096, 256, 24);
    b.bulk(page, SimTime{9us}, true, 0);
    b.bulk(page, SimTime{2us}, true, 1);
    b.bulk(page, SimTime{2us}, true, 2);
    b.agenda.run();
    ASSERT_EQ(b.grants.size(), 3u);
    const std::uint64_t order[] = {1, 2, 0};
    const SimTime starts[] = {SimTime{2us}, SimTime{2us} + Ps{1'137'500}, SimTime{9us}};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(b.grants[i].cookie, order[i]);
        EXPECT_EQ(b.grants[i].start, starts[i]);
    }
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

}  // namespace
}  // namespace ssdtlm
