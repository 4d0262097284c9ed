// SPDX-License-Identifier: Apache-2.0
// Reads at random times on one die that programs without a pause: when each of them ends and how often programs are
// suspended for them, against an event simulation that is written here, for each least rest
// (scheduler.for_reads.least_left) and rate of reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <vector>

#include "common/random/random.h"
#include "flash_bench.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr std::uint32_t kPageBytes = 4096, kReads = 3000;
constexpr Ps kRead = 75us, kProgram = 750us, kSuspend = 30us, kResume = 10us, kLeastRun = 100us, kLongest = 2ms;
constexpr std::uint32_t kLimit = 16;
// NV-DDR2 defaults: tCS 20, tWC 25, tADL 300, tWB 100, tRR 20, tWPRE 15, tWPST 6.5, tWPSTH 15, tRPRE 15, tDQSRE 25,
// tRPSTH 15, tRHW 100; 400 MT/s.
constexpr Ps kReadIssue = 20ns + 7 * 25ns, kSuspendIssue = 20ns + 4 * 25ns, kResumeIssue = 20ns + 25ns, kWb = 100ns,
             kRhw = 100ns;
constexpr Ps kDataOut = 20ns + 15ns + 25ns + 25ns + 15ns + (kPageBytes + 1) * Ps{2500};
constexpr Ps kProgramCycles =
    (20ns + 6 * 25ns) + 300ns + Ps{15'000} + kPageBytes * Ps{2500} + Ps{6'500} + Ps{15'000} + (20ns + 25ns);

struct Expected {
    std::vector<SimTime> ends;  ///< of each read
    std::uint64_t suspends = 0;
};

/// One die and its bus. A read that waits goes before the next program. A program that runs is suspended for it if it
/// has made some way and has enough left at that moment; then all reads that wait are served, and it goes on.
Expected simulate(const std::vector<SimTime>& reads, SimTime start, Ps least_left) {
    Expected e;
    std::size_t next = 0;
    const auto waits = [&](SimTime t) { return next < reads.size() && reads[next] <= t; };
    const auto serve = [&](SimTime t) {  // returns when the bus is free again
        e.ends.push_back(t + kReadIssue + kWb + kRead + kDataOut);
        ++next;
        return e.ends.back() + kRhw;
    };
    SimTime t = start;
    while (next < reads.size()) {
        if (waits(t)) {
            t = serve(t);
            continue;
        }
        const SimTime data_in = t + kProgramCycles;
        SimTime begun = data_in + kWb, ends = begun + kProgram;
        SimTime bus_free = data_in;
        for (std::uint32_t suspends = 0;;) {
            if (next == reads.size() || reads[next] >= ends) break;
            const SimTime stop = std::max({reads[next], bus_free, begun + kLeastRun});
            if (suspends == kLimit || stop >= ends || ends - stop < least_left) break;
            ++suspends;
            ++e.suspends;
            const SimTime stops = stop + kSuspendIssue + kWb;
            bus_free = stop + kSuspendIssue;
            const Ps left = ends - stops;
            if (left <= kSuspend) break;  // it ends before the array could stop
            SimTime at = stops + kSuspend;
            const SimTime until = at + kLongest;
            do at = serve(at);
            while (waits(at) && at < until);
            bus_free = at + kResumeIssue;
            begun = bus_free + kWb;
            ends = begun + kResume + left;
        }
        t = std::max(ends, bus_free);
    }
    return e;
}

NandConfig config() {
    NandConfig c;
    c.geometry.planes_per_die = 1;
    c.geometry.blocks_per_plane = 400;
    c.geometry.pages_per_block = 256;
    c.geometry.page_bytes = kPageBytes;
    c.onfi.megatransfers = 400;
    c.t_read = {kRead};
    c.t_program = {kProgram};
    c.t_program_suspend = kSuspend;
    c.t_program_resume = kResume;
    c.transfer_spare = false;
    return c;
}

/// Submits the next program when one has ended, so that another one always waits.
class Programs final : public FlashBench {
public:
    Programs(const std::string& name, Ps least_left) : FlashBench(name, config(), {}, scheduler(least_left)) {}
    void go_on() {
        program(0, 0, 1 + page_ / 256, page_ % 256);
        ++page_;
    }
    void ended(FlashTransaction& t) override {
        if (t.op == FlashOp::program && !over) go_on();
    }
    bool over = false;

private:
    static SchedulerConfig scheduler(Ps least_left) {
        SchedulerConfig s;
        s.suspend = "for_reads";
        s.starvation_limit = 0;
        s.policies["for_reads"] = {{"least_run", Value{std::int64_t{kLeastRun.count()}}},
                                   {"least_left", Value{std::int64_t{least_left.count()}}},
                                   {"limit", Value{std::int64_t{kLimit}}},
                                   {"longest", Value{std::int64_t{kLongest.count()}}}};
        return s;
    }
    std::uint32_t page_ = 0;
};

struct Case {
    std::uint32_t rate;
    Ps least_left;
    std::unique_ptr<Programs> bench;
};

TEST(SuspendRate, ReadsWaitAsInAnEventSimulation) {
    std::deque<Case> cases;
    for (const std::uint32_t rate : {300u, 1000u})
        for (const Ps left : {Ps{0us}, Ps{200us}, Ps{400us}, Ps{640us}, Ps{660us}})
            cases.push_back({rate, left, std::make_unique<Programs>("s" + std::to_string(cases.size()), left)});
    FlashBench::elaborate();
    for (Case& c : cases) {
        Programs& b = *c.bench;
        b.fill(0, 0, 0, 256);
        b.settle();
        const SimTime start = b.now();
        // Arrivals of a Poisson process.
        Random random(c.rate, 7);
        std::vector<SimTime> at;
        double t = 0;
        for (std::uint32_t i = 0; i < kReads; ++i) {
            t += -std::log(1 - random.unit()) / c.rate;
            at.push_back(start + 1us + Ps{static_cast<std::int64_t>(t * 1e12)});
        }
        const Expected expected = simulate(at, start, c.least_left);
        b.go_on();
        b.go_on();
        std::vector<const FlashTransaction*> reads;
        for (const SimTime when : at) {
            b.agenda.run_until(when);
            reads.push_back(&b.read(0, 0, 0, static_cast<std::uint32_t>(random.below(256)), kPageBytes));
        }
        b.over = true;
        while (b.agenda.run_one(kNever)) b.backend->check_waiters();
        std::vector<double> model, formula;
        for (std::uint32_t i = 0; i < kReads; ++i) {
            ASSERT_EQ(reads[i]->timeline.last(), expected.ends[i])
                << "read " << i << " of " << c.rate << " a second, at least " << c.least_left.count() / 1'000'000
                << " us left";
            model.push_back(static_cast<double>((reads[i]->timeline.last() - at[i]).count()) * 1e-6);
            formula.push_back(static_cast<double>((expected.ends[i] - at[i]).count()) * 1e-6);
        }
        const auto mean = [](const std::vector<double>& v) {
            double sum = 0;
            for (const double x : v) sum += x;
            return sum / static_cast<double>(v.size());
        };
        const auto p99 = [](std::vector<double> v) {
            std::sort(v.begin(), v.end());
            return v[v.size() * 99 / 100];
        };
        const std::uint64_t suspends = b.backend->channel(0).counters().suspends;
        EXPECT_EQ(suspends, expected.suspends);
        std::printf(
            "[   FIGURE ] %u reads/s, %ld us left: %lu suspends for %u reads, simulated %lu; mean %.2f us, simulated "
            "%.2f; p99 %.2f us, simulated %.2f\n",
            c.rate, c.least_left.count() / 1'000'000, suspends, kReads, expected.suspends, mean(model), mean(formula),
            p99(model), p99(formula));
    }
}

}  // namespace
}  // namespace ssdtlm
