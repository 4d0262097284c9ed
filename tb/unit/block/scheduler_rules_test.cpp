// SPDX-License-Identifier: Apache-2.0
// What each I/O scheduler promises, by formula.
#include <cmath>

#include "unit/block/full_drive.h"

namespace ssdtlm {
namespace {

constexpr std::int64_t kMs = 1'000'000'000;
SimTime at_ms(double ms) {
    return SimTime{Ps{static_cast<std::int64_t>(ms * 1e9)}};
}

/// Requests by hand.
class Bench {
public:
    explicit Bench(const std::string& name, const PolicyTable& table = {}, std::uint32_t contexts = 4)
        : scheduler(make_io_scheduler(name, {}, table)) {
        gate.open.assign(contexts, true);
    }
    BlockRequest& insert(HostOp op, std::uint64_t place, std::uint32_t context = 0,
                         IoClass io_class = IoClass::best_effort) {
        BlockRequest r = request(op, place, context);
        r.context.io_class = io_class;
        r.handle = static_cast<std::uint32_t>(requests.size());
        requests.push_back(r);
        scheduler->insert(requests.back(), now);
        return requests.back();
    }
    BlockRequest request(HostOp op, std::uint64_t place, std::uint32_t context = 0) const {
        BlockRequest r;
        r.op = op;
        r.offset = place * 4096;
        r.bytes = 4096;
        r.context.number = context;
        r.arrived = now;
        return r;
    }
    BlockRequest* dispatch() { return scheduler->dispatch(now, gate); }

    TestGate gate;
    std::unique_ptr<IoScheduler> scheduler;
    std::deque<BlockRequest> requests;
    SimTime now{};
};

TEST(None, MergesWithTheLastEightOfTheContext) {
    for (const bool noop : {false, true}) {
        Bench b(noop ? "noop" : "none");
        BlockRequest& first = b.insert(HostOp::read, 100);
        bool front = false;
        for (std::uint64_t i = 0; i < 12; ++i) {
            const bool found = noop || i < 8;
            EXPECT_EQ(b.scheduler->find_merge(b.request(HostOp::read, 101), front), found ? &first : nullptr);
            EXPECT_TRUE(!found || !front);
            EXPECT_EQ(b.scheduler->find_merge(b.request(HostOp::read, 99), front), found ? &first : nullptr);
            EXPECT_TRUE(!found || front);
            EXPECT_EQ(b.scheduler->find_merge(b.request(HostOp::write, 101), front), nullptr);
            EXPECT_EQ(b.scheduler->find_merge(b.request(HostOp::read, 101, 1), front), nullptr);
            b.insert(HostOp::read, 1000 + 10 * i);
            b.insert(HostOp::read, 2000 + 10 * i, 1);  // another context: none of the eight
        }
    }
}

TEST(Barriers, HoldBackWhatComesLater) {
    for (const std::string& name : IoSchedulers::instance().names()) {
        Bench b(name);
        b.insert(HostOp::write, 5);
        BlockRequest barrier = b.request(HostOp::flush, 0);
        barrier.barrier = true;
        barrier.handle = 1;
        b.requests.push_back(barrier);
        b.scheduler->insert(b.requests.back(), b.now);
        b.insert(HostOp::read, 1);
        bool front = false;
        EXPECT_EQ(b.scheduler->find_merge(b.request(HostOp::write, 6), front), nullptr) << name;
        EXPECT_EQ(b.scheduler->find_merge(b.request(HostOp::read, 2), front), nullptr) << name;
        for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(b.dispatch(), &b.requests[i]) << name;
        EXPECT_EQ(b.scheduler->waiting(), 0u);
    }
}

PolicyTable settings(const std::string& name, const std::map<std::string, std::int64_t>& values) {
    PolicyTable table;
    for (const auto& [key, value] : values) table[name][key] = Value{value};
    return table;
}

/// Reads without end before one write: writes_starved batches of fifo_batch go first, no more and no less.
TEST(Deadlines, WritesWaitForSoManyBatches) {
    for (const std::string name : {"deadline", "mq-deadline"})
        for (const std::int64_t batch : {1, 4, 16})
            for (const std::int64_t starved : {0, 1, 2, 5}) {
                Bench b(name, settings(name, {{"fifo_batch", batch}, {"writes_starved", starved}}));
                for (std::uint64_t i = 0; i < 200; ++i) b.insert(HostOp::read, 2 * i);
                b.insert(HostOp::write, 7);
                std::int64_t before = 0;
                while (b.dispatch()->op == HostOp::read) ++before;
                EXPECT_EQ(before, batch * starved) << name;
            }
}

/// Others come all the time at higher addresses. A read waits until its deadline and for one batch.
TEST(Deadlines, AreKept) {
    for (const std::string name : {"deadline", "mq-deadline"})
        for (const std::int64_t batch : {1, 16}) {
            Bench b(name, settings(name, {{"fifo_batch", batch}}));
            std::uint64_t place = 1000;
            for (int i = 0; i < 8; ++i) b.insert(HostOp::read, place += 2);
            b.dispatch();
            const BlockRequest* const low = &b.insert(HostOp::read, 1);
            std::int64_t steps = 0;
            for (;; ++steps) {
                b.now += Ps{kMs};
                const BlockRequest* const r = b.dispatch();
                if (r == low) break;
                b.scheduler->completed(*r, b.now);
                b.insert(HostOp::read, place += 2);
            }
            EXPECT_GE(b.now, at_ms(500)) << name;
            EXPECT_LE(b.now, at_ms(500.0 + static_cast<double>(batch))) << name;
        }
}

TEST(MqDeadline, ClassesAreStrictUntilTheyAge) {
    Bench b("mq-deadline");
    BlockRequest* const idle = &b.insert(HostOp::read, 1, 2, IoClass::idle);
    std::vector<BlockRequest*> in_drive;
    std::uint64_t place = 100;
    for (;;) {
        b.insert(HostOp::read, place += 2, 0, IoClass::realtime);
        BlockRequest* r = b.dispatch();
        if (r == idle) break;
        ASSERT_EQ(r->context.io_class, IoClass::realtime);
        // Nothing waits but it; a realtime request is in the drive.
        ASSERT_EQ(b.dispatch(), nullptr);
        ASSERT_EQ(b.scheduler->ask_again(), at_ms(10'000));
        b.now += Ps{77 * kMs};
        b.scheduler->completed(*r, b.now);
        ASSERT_LT(b.now, at_ms(10'078));
    }
    EXPECT_GE(b.now, at_ms(10'000));
}

TEST(Kyber, DomainsHaveDepthsAndTurns) {
    Bench b("kyber", {}, 1);
    for (std::uint64_t i = 0; i < 400; ++i)
        for (const HostOp op : {HostOp::read, HostOp::write, HostOp::trim}) b.insert(op, 3 * i);
    std::array<int, 3> sent{};
    std::vector<int> turns;
    int last = -1;
    while (BlockRequest* r = b.dispatch()) {
        const int op = static_cast<int>(r->op);
        ++sent[static_cast<std::size_t>(op)];
        if (op != last) turns.push_back(0);
        ++turns.back();
        last = op;
    }
    EXPECT_EQ(sent, (std::array<int, 3>{256, 128, 64}));
    for (std::size_t i = 0; i + 1 < 3 * 16; ++i) EXPECT_EQ(turns[i], (std::array<int, 3>{16, 8, 1})[i % 3]);
}

/// One read and one write each millisecond, fewer than a second's, so that a check sees all or none. The first `slow`
/// reads take four times their target, the others half of it. Returns the depths of reads and writes after the check.
std::pair<std::uint64_t, std::uint64_t> kyber_depths(std::uint64_t pairs, std::uint64_t slow, Ps write_time,
                                                     std::uint64_t slow_writes = 0) {
    Bench b("kyber", {}, 1);
    std::multimap<SimTime, BlockRequest*> ends;
    for (std::uint64_t i = 0; i < pairs; ++i)
        for (const HostOp op : {HostOp::read, HostOp::write}) {
            b.now = SimTime{Ps{static_cast<std::int64_t>(i) * kMs}};
            while (!ends.empty() && ends.begin()->first <= b.now) {
                b.scheduler->completed(*ends.begin()->second, ends.begin()->first);
                ends.erase(ends.begin());
            }
            BlockRequest& r = b.insert(op, 2 * i);
            EXPECT_EQ(b.dispatch(), &r);
            const Ps writes = i < slow_writes ? 2 * write_time : write_time;
            ends.emplace(b.now + (op == HostOp::write ? writes : Ps{i < slow ? 8 * kMs : kMs}), &r);
        }
    for (const auto& [when, r] : ends) b.scheduler->completed(*r, b.now = when);
    b.now += Ps{101 * kMs};
    b.insert(HostOp::read, 0);
    b.dispatch();
    std::map<std::string, std::uint64_t> figures;
    for (const auto& [name, value] : b.scheduler->figures()) figures[name] = value;
    return {figures.at("kyber_read_depth"), figures.at("kyber_write_depth")};
}

/// So many writes less may be in the drive as theirs are below their target of 10 ms, in quarters.
TEST(Kyber, ThrottlesWritesForSlowReads) {
    for (const unsigned quarters : {1u, 2u, 3u})
        EXPECT_EQ(kyber_depths(500, 500, Ps{quarters * 10 * kMs / 4 - 1}), std::make_pair(256ul, 32ul * quarters));
}

/// The 450th of 500 is the 90th percentile. Of 499 none is, before a second has passed.
TEST(Kyber, LooksAtTheSlowestTenth) {
    EXPECT_EQ(kyber_depths(500, 50, Ps{kMs}).second, 128u);
    EXPECT_EQ(kyber_depths(500, 51, Ps{kMs}).second, 32u);
    EXPECT_EQ(kyber_depths(499, 499, Ps{kMs}).second, 128u);
}

/// The 495th of 500 is the 99th percentile, which says how many quarters of the depth are left.
TEST(Kyber, FollowsTheSlowestHundredth) {
    const Ps quarter{10 * kMs / 4 - 1};
    EXPECT_EQ(kyber_depths(500, 500, quarter, 5).second, 32u);
    EXPECT_EQ(kyber_depths(500, 500, quarter, 6).second, 64u);
}

/// Contexts pay the same, by the formula of A.5: so many requests each, up to one of the largest cost.
TEST(Fiops, GivesTheSameNumberOfRequestsByCost) {
    FullDrive d;
    d.make("fiops", settings("fiops", {{"read_scale", 1}, {"write_scale", 3}}));
    d.add();
    d.add().bytes = 128 << 10;  // size is free
    d.add().op = HostOp::write;
    d.add(300);
    d.add(100, 0);
    d.add(100, 7);
    d.add().sync = false;
    const std::array<std::int64_t, 7> cost{
        1024, 1024, 1024 * 3, 1024 * 100 / 300, 1024 - 1024 * 4 / 5, 1024 + 1024 * 3 / 5, 1024 * 5 / 2};
    for (const int ms : {10, 100, 1000}) {
        d.run(at_ms(ms));
        std::int64_t least = INT64_MAX, most = 0;
        for (std::size_t i = 0; i < cost.size(); ++i) {
            least = std::min(least, static_cast<std::int64_t>(d.tenants[i].served) * cost[i]);
            most = std::max(most, static_cast<std::int64_t>(d.tenants[i].served) * cost[i]);
        }
        EXPECT_LE(most - least, 1024 * 3);
        EXPECT_GT(least, 1024 * 10 * ms / 10);
    }
}

/// Sectors by weight differ by no more than a budget of each (B-WF2Q+), whatever the sizes.
TEST(Bfq, SharesSectorsByWeight) {
    for (const std::uint32_t other : {100u, 200u, 500u, 1000u}) {
        FullDrive d;
        constexpr std::int64_t kBudget = 1024;
        d.make("bfq", settings("bfq", {{"max_budget", kBudget}}));
        d.add(100);
        d.add(other).bytes = 64 << 10;
        d.add(100, 0).bytes = 16 << 10;
        d.tenants[2].op = HostOp::write;
        const std::array<double, 3> weight{100 * 4.0, other * 4.0, 100 * 8.0};
        for (const int ms : {300, 1000}) {
            d.run(at_ms(ms));
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < i; ++j) {
                    const double a = static_cast<double>(d.tenants[i].served_bytes) / 512 / weight[i];
                    const double b = static_cast<double>(d.tenants[j].served_bytes) / 512 / weight[j];
                    EXPECT_LE(std::abs(a - b), kBudget / weight[i] + kBudget / weight[j]) << i << " " << j;
                }
        }
    }
}

/// Turn by turn, slices of 100 ms by weight: shares of time, which are shares of equal requests.
TEST(Cfq, SharesTimeByWeight) {
    FullDrive d;
    d.depth = 4;  // half a quantum, so that no queue is held back
    d.busy = d.latency / 4;
    d.make("cfq", settings("cfq", {{"target_latency", 1000 * kMs}}));
    const std::array<std::uint32_t, 4> weights{50, 100, 100, 250};
    for (const std::uint32_t weight : weights) d.add(weight);
    d.run(at_ms(10'000));
    std::uint64_t all = 0;
    for (const auto& t : d.tenants) all += t.served;
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(static_cast<double>(d.tenants[i].served) / static_cast<double>(all), weights[i] / 500.0, 0.01);
}

/// Level 0 has 180 ms, level 7 has 40 ms and comes 140 ms later: within the slice of the first, so they alternate.
TEST(Cfq, LevelsHaveTheirSlices) {
    FullDrive d;
    d.depth = 4;
    d.busy = d.latency / 4;
    d.make("cfq");
    d.add(100, 0);
    d.add(100, 7);
    d.run(at_ms(8'000));
    const double share = static_cast<double>(d.tenants[0].served) / static_cast<double>(d.tenants[1].served);
    EXPECT_NEAR(share, 180.0 / 40, 0.3);
}

/// A context with one request at a time and a short pause keeps the drive in its slice, if it is waited for.
TEST(Cfq, WaitsForTheContextInItsSlice) {
    for (const std::int64_t group_idle : {0, 8}) {
        FullDrive d;
        PolicyTable table = settings("cfq", {{"group_idle", group_idle * kMs}});
        d.make("cfq", table);
        d.add().requests = 1;
        d.tenants[0].pause = Ps{kMs};
        d.add().requests = 32;
        d.run(at_ms(2'000));
        // Half of the time at 1.1 ms a request, or one request for each turn of the other.
        const double waited = 1'000 / 1.1;
        if (group_idle != 0)
            EXPECT_NEAR(static_cast<double>(d.tenants[0].served), waited, waited / 10);
        else
            EXPECT_LT(static_cast<double>(d.tenants[0].served), waited / 5);
    }
}

/// Costs differ by no more than what may be ahead, and one request.
TEST(FlashFq, SharesTheTimeThatRequestsCost) {
    FullDrive d;
    d.make("flashfq");
    d.add();
    d.add().bytes = 128 << 10;
    d.add().op = HostOp::write;
    d.add(300);
    d.add(100, 0);
    constexpr double kReads[] = {60 + 8, 60 + 32 * 8, 40 + 12, (60 + 8) / 3.0, (60 + 8) / 2.0};  // us by weight
    for (const int ms : {10, 100, 1000}) {
        d.run(at_ms(ms));
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_LE(std::abs(static_cast<double>(d.tenants[i].served) * kReads[i] -
                                   static_cast<double>(d.tenants[j].served) * kReads[j]),
                          kReads[i] + kReads[j]);
    }
}

/// Alone with a context that pauses: ahead of it by `throttle` at most while it is expected, then freely.
TEST(FlashFq, DoesNotGoFurtherAheadThanItsThrottle) {
    Bench b("flashfq", settings("flashfq", {{"throttle", kMs}, {"anticipation", 5 * kMs}}), 2);
    const BlockRequest& slow = b.insert(HostOp::read, 0, 0);
    ASSERT_EQ(b.dispatch(), &slow);
    for (std::uint64_t i = 0; i < 100; ++i) b.insert(HostOp::read, 10 * i, 1);
    // Tags 0, 68 us, 136 us, ...: those up to 1 ms go.
    int ahead = 0;
    while (b.dispatch() != nullptr) ++ahead;
    EXPECT_EQ(ahead, 1 + 1000 / 68);
    b.now = at_ms(0.2);
    for (int i = 0; i < ahead; ++i) b.scheduler->completed(b.requests[1 + static_cast<std::size_t>(i)], b.now);
    EXPECT_EQ(b.dispatch(), nullptr);
    b.scheduler->completed(slow, b.now);  // it has come to 68 us now, and is expected
    while (b.dispatch() != nullptr) ++ahead;
    EXPECT_EQ(ahead, 1 + 1068 / 68);
    EXPECT_EQ(b.scheduler->anticipates(), 0);
    EXPECT_EQ(b.scheduler->ask_again(), at_ms(5.2));
    b.gate.fills = true;
    EXPECT_NE(b.dispatch(), nullptr);
    b.gate.fills = false;
    EXPECT_EQ(b.dispatch(), nullptr);
    b.now = at_ms(5.2);
    EXPECT_NE(b.dispatch(), nullptr);
}

}  // namespace
}  // namespace ssdtlm
