// SPDX-License-Identifier: Apache-2.0
// Cache program from the controller's queue to the array: when each page is on the bus, in the array and reported, to
// the picosecond; beside reads and erases, with failures, on the pins, and under random traffic.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "flash_traffic.h"
#include "nand/pins/pin_checker.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr Ps kRead = 50us, kErase = 3ms, kCacheBusy = 4us;
constexpr Ps kLong = 600us, kShort = 30us;  // array times longer and shorter than a transfer
// NV-DDR2 defaults: tCS 20, tWC 25, tWB 100, tADL 300, tWPRE 15, tWPST 6.5, tWPSTH 15, tPLPBSY 500; 400 MT/s.
constexpr Ps kReadIssue = 20ns + 7 * 25ns, kWb = 100ns, kRhw = 100ns, kPlaneBusy = 500ns;
constexpr Ps kPlane = (20ns + 6 * 25ns) + 300ns + (15ns + 16384 * Ps{2500} + Ps{6500} + 15ns) + (20ns + 25ns);
constexpr Ps kDataOut = 20ns + 15ns + 2 * 25ns + 15ns + 16385 * Ps{2500};

NandConfig config(Ps t_program, std::uint32_t planes = 1, bool cache = true) {
    NandConfig c;
    c.geometry.planes_per_die = planes;
    c.geometry.blocks_per_plane = 16;
    c.geometry.pages_per_block = 64;
    c.geometry.page_bytes = 16384;
    c.onfi.megatransfers = 400;
    c.t_read = {kRead};
    c.t_program = {t_program};
    c.t_erase = kErase;
    c.transfer_spare = false;
    c.cache_program = cache;
    c.t_cache_busy = kCacheBusy;
    return c;
}

SchedulerConfig suspending() {
    SchedulerConfig s;
    s.suspend = "for_reads";
    s.policies["for_reads"] = {{"least_run", Value{std::int64_t{0}}},
                               {"least_left", Value{std::int64_t{0}}},
                               {"limit", Value{std::int64_t{9}}}};
    return s;
}

/// The n-th program fails, from 0.
class NthFails final : public ArrayFaults {
public:
    explicit NthFails(std::uint32_t n) : n_(n) {}
    bool program_fails(const ArrayWork&) override { return seen_++ == n_; }
    bool erase_fails(const ArrayWork&) override { return false; }
    std::uint16_t wrong_bits(const ArrayWork&, std::uint32_t) override { return 0; }

private:
    const std::uint32_t n_;
    std::uint32_t seen_ = 0;
};

/// Notes the commands that WE# latches and the edges of R/B#, and has them checked.
class Pins final : public PinListener {
public:
    explicit Pins(const NandConfig& nand) : checker(nand) {}
    void pins(std::uint16_t, const PinSequence& s) override {
        checker.check(s);
        PinValue cle = 0, dq = kReleased;
        for (const PinEdge& e : s.edges) {
            if (e.pin == Pin::cle) cle = e.value;
            if (e.pin == Pin::dq) dq = e.value;
            if (e.pin == Pin::we_n && e.value == 1 && cle == 1) commands.push_back(dq);
            if (is_rb_n(e.pin)) ready_busy.emplace_back(e.time, e.value);
        }
    }
    PinChecker checker;
    std::vector<PinValue> commands;
    std::vector<std::pair<SimTime, PinValue>> ready_busy;
};

/// Elaboration is once a program.
struct Benches {
    std::deque<FlashBench> streams;  // by array time, planes and cache
    FlashBench read{"read", config(kLong)}, suspended{"suspended", config(kLong), {}, suspending()},
        lone{"lone", config(kLong)};
    FlashBench erase{"erase", config(kLong)}, fails{"fails", config(kLong)}, pins{"pins", config(kLong)},
        suspend_pins{"suspend_pins", config(kLong), {}, suspending()};
    FlashBench half_row{"half_row", config(kLong, 2)};
    std::deque<Traffic> traffic;
    Benches() {
        for (const Ps t : {kLong, kShort})
            for (const std::uint32_t planes : {1u, 4u})
                for (const bool cache : {false, true})
                    streams.emplace_back("stream" + std::to_string(streams.size()), config(t, planes, cache));
        for (std::uint32_t n = 0; n < 24; ++n) {
            NandConfig c = traffic_config(1 + n % 2, n % 3 == 0 ? 1 : 4, n % 4 < 2);
            c.cache_program = true;
            c.t_cache_busy = Ps{std::int64_t{n % 5} * 20'000'000};
            c.t_program = {n % 2 == 0 ? 80us : 700us};
            SchedulerConfig s;
            const std::vector<std::string> policies = SchedulerPolicies::instance().names();
            s.policy = policies[n % policies.size()];
            s.starvation_limit = 16;
            if (n % 3 != 1) {
                s.suspend = "for_reads";
                s.policies["for_reads"] = {{"least_run", Value{std::int64_t{n % 3 * 40'000'000}}},
                                           {"limit", Value{std::int64_t{1 + n % 5}}}};
            }
            traffic.emplace_back("t" + std::to_string(n), c, s, n + 1, FlashBench::OwnScheduler{});
        }
        FlashBench::elaborate();
    }
};
Benches& benches() {
    static Benches b;
    return b;
}

SimTime end_of(const FlashTransaction& t) {
    return t.timeline.last();
}
void run(FlashBench& b) {
    while (b.agenda.run_one(kNever)) b.backend->check_waiters();
    EXPECT_TRUE(b.backend->idle());
    for (const FlashTransaction* t : b.done) EXPECT_EQ(t->timeline.sum(), t->timeline.last() - t->queued_at);
}

TEST(CachedPrograms, AStreamTakesTheLongerOfProgramAndTransferForEachPage) {
    constexpr std::uint32_t kPages = 20;
    auto bench = benches().streams.begin();
    for (const Ps program : {kLong, kShort})
        for (const std::uint32_t planes : {1u, 4u}) {
            const Ps transfer = planes * kPlane + (planes - 1) * (kWb + kPlaneBusy) + kWb;
            for (const bool cache : {false, true}) {
                FlashBench& b = *bench++;
                SCOPED_TRACE(b.backend->name());
                for (std::uint32_t page = 0; page < kPages; ++page)
                    for (std::uint32_t plane = 0; plane < planes; ++plane) b.program(0, plane, 2, page);
                run(b);
                const Ps off = kPages * (transfer + program);
                const Ps on = transfer + (kPages - 1) * std::max(program, kCacheBusy + transfer) + program;
                EXPECT_EQ(b.now() - SimTime{}, cache ? on : off);
                // The second row by stages: it waits for the registers, then for the array behind the first one.
                const FlashTransaction& second = *b.done[planes];
                const Ps period = std::max(program, kCacheBusy + transfer);
                if (!cache) continue;
                EXPECT_EQ(second.timeline.of(Stage::channel), transfer);
                EXPECT_EQ(second.timeline.of(Stage::channel_wait), Ps{});
                EXPECT_EQ(second.timeline.of(Stage::die_wait_host_write), period);
                EXPECT_EQ(second.timeline.of(Stage::array), std::max(program, kCacheBusy + transfer) + kCacheBusy)
                    << "until FAILC is told";
            }
        }
}

TEST(CachedPrograms, APageThatWaitsInTheRegisterGoesBeforeARead) {
    FlashBench& b = benches().read;
    b.fill(0, 0, 5, 1);
    for (std::uint32_t page = 0; page < 6; ++page) b.program(0, 0, 2, page);
    const SimTime first_begins = SimTime{} + kPlane + kWb;
    b.agenda.run_until(first_begins + 100us);  // the second one is in the register
    const FlashTransaction& read = b.read(0, 0, 5, 0, 16384);
    run(b);
    const SimTime idle = first_begins + 2 * kLong;
    EXPECT_EQ(end_of(read), idle + kReadIssue + kWb + kRead + kDataOut);
    // The four others follow the read.
    const SimTime again = end_of(read) + kRhw + kPlane + kWb;
    EXPECT_EQ(b.now(), again + 4 * kLong);
}

TEST(CachedPrograms, AProgramIsSuspendedOnlyWhileNoPageWaitsBehindIt) {
    FlashBench& b = benches().suspended;
    b.fill(0, 0, 5, 1);
    b.program(0, 0, 2, 0);
    b.program(0, 0, 2, 1);
    const SimTime first_begins = SimTime{} + kPlane + kWb;
    b.agenda.run_until(first_begins + 100us);
    const FlashTransaction& read = b.read(0, 0, 5, 0, 16384);
    run(b);
    // The first runs to its end, which is told with R/B# high behind the second; that one is suspended at once.
    const SimTime told = first_begins + kLong + kCacheBusy;
    const SimTime stopped = told + (20ns + 4 * 25ns) + kWb + b.nand.t_program_suspend;
    EXPECT_EQ(end_of(read), stopped + kReadIssue + kWb + kRead + kDataOut);
    EXPECT_EQ(b.backend->channel(0).counters().suspends, 1u);
}

TEST(CachedPrograms, ALoneProgramTakesTheTimeThatItTakesWithoutCacheProgram) {
    FlashBench& b = benches().lone;
    Pins pins(b.nand);
    b.backend->channel(0).play_pins(b.nand, pins);
    b.program(0, 0, 2, 0);
    run(b);
    EXPECT_EQ(b.now() - SimTime{}, kPlane + kWb + kLong);
    EXPECT_EQ(end_of(*b.done[0]), b.now()) << "ARDY is seen at once, as R/B# is";
    EXPECT_EQ(pins.commands, (std::vector<PinValue>{0x80, 0x15}));
}

TEST(CachedPrograms, TheEndOfAStreamIsConfirmedBy10hAndTellsBothResults) {
    FlashBench& b = benches().erase;
    Pins pins(b.nand);
    b.backend->channel(0).play_pins(b.nand, pins);
    const FlashTransaction &first = b.program(0, 0, 2, 0), &second = b.program(0, 0, 2, 1), &erase = b.erase(0, 0, 7);
    run(b);
    const SimTime idle = SimTime{} + kPlane + kWb + 2 * kLong;
    EXPECT_EQ(end_of(first), idle) << "FAILC is valid when R/B# is high";
    EXPECT_EQ(end_of(second), idle);
    EXPECT_EQ(end_of(erase), idle + (20ns + 5 * 25ns) + kWb + kErase);
    EXPECT_EQ(pins.commands, (std::vector<PinValue>{0x80, 0x15, 0x80, 0x10, 0x60, 0xD0}));
    pins.checker.finish();
    EXPECT_EQ(pins.checker.report(), "");
}

TEST(CachedPrograms, AFailureOfThePreviousPageIsToldWithTheNextOne) {
    FlashBench& b = benches().fails;
    NthFails second(1);
    b.inject(&second);
    for (std::uint32_t page = 0; page < 4; ++page) b.program(0, 0, 2, page);
    run(b);
    const SimTime first_begins = SimTime{} + kPlane + kWb;
    ASSERT_EQ(b.done.size(), 4u);
    for (std::uint32_t page = 0; page < 4; ++page) {
        EXPECT_EQ(b.done[page]->address.page, page);
        EXPECT_EQ(b.done[page]->status.result, page == 1 ? FlashResult::program_failed : FlashResult::ok) << page;
        const SimTime ends = first_begins + (page + 1) * kLong;
        EXPECT_EQ(end_of(*b.done[page]), page == 3 ? ends : ends + kCacheBusy)
            << page << ": FAILC, or FAIL with the array idle";
    }
    b.inject(nullptr);
}

TEST(CachedPrograms, ThePinsAreThoseOfTheStandard) {
    FlashBench& b = benches().pins;
    Pins pins(b.nand);
    b.backend->channel(0).play_pins(b.nand, pins);
    for (std::uint32_t page = 0; page < 3; ++page) b.program(0, 0, 2, page);
    run(b);
    EXPECT_EQ(pins.commands, (std::vector<PinValue>{0x80, 0x15, 0x80, 0x15, 0x80, 0x15}));
    // R/B# falls tWB behind WE#, which rises at 8/10 of the last cycle. It rises tPCBSY behind the take-over.
    const SimTime begins = SimTime{} + kPlane + kWb;
    const auto falls = [](SimTime busy) { return busy - 25ns * 2 / 10; };
    const SimTime second = begins + kCacheBusy + kPlane + kWb, third = begins + kLong + kCacheBusy + kPlane + kWb;
    const std::vector<std::pair<SimTime, PinValue>> expected{
        {falls(begins), 0}, {begins + kCacheBusy, 1},          // R/B# is high (RDY), the array is at work (ARDY = 0)
        {falls(second), 0}, {begins + kLong + kCacheBusy, 1},  // low until the array has the second page
        {falls(third), 0},  {begins + 2 * kLong + kCacheBusy, 1}};
    EXPECT_EQ(pins.ready_busy, expected);
    pins.checker.finish();
    EXPECT_EQ(pins.checker.report(), "");
    EXPECT_EQ(pins.checker.commands(0x15), 3u);
}

TEST(CachedPrograms, ASuspendBehind15hLetsReadyBusyFall) {
    FlashBench& b = benches().suspend_pins;
    b.fill(0, 0, 5, 1);
    Pins pins(b.nand);
    b.backend->channel(0).play_pins(b.nand, pins);
    b.program(0, 0, 2, 0);
    b.program(0, 0, 2, 1);
    b.agenda.run_until(SimTime{} + kPlane + kWb + 100us);
    b.read(0, 0, 5, 0, 16384);
    run(b);
    EXPECT_EQ(pins.commands, (std::vector<PinValue>{0x80, 0x15, 0x80, 0x15, 0x84, 0x00, 0x30, 0x13}));
    ASSERT_EQ(pins.ready_busy.size() % 2, 0u);
    for (std::size_t i = 0; i < pins.ready_busy.size(); ++i) EXPECT_EQ(pins.ready_busy[i].second, i % 2) << i;
    pins.checker.finish();
    EXPECT_EQ(pins.checker.report(), "");
}

TEST(CachedPrograms, HalfARowWaitsForTheOtherHalfOrForTheArray) {
    FlashBench& b = benches().half_row;
    for (std::uint32_t page = 0; page < 2; ++page)
        for (std::uint32_t plane = 0; plane < 2; ++plane) b.program(0, plane, 2, page);
    const Ps row = 2 * kPlane + kWb + kPlaneBusy + kWb;
    b.agenda.run_until(SimTime{} + row + kLong + kCacheBusy +
                       1us);  // the second row is in the array, the registers are free
    const FlashTransaction& half = b.program(0, 0, 2, 2);
    b.agenda.run_until(b.now() + 100us);
    const FlashTransaction& other = b.program(0, 1, 2, 2);
    run(b);
    EXPECT_EQ(end_of(half), end_of(other)) << "one multi-plane program";
    EXPECT_EQ(end_of(other), SimTime{} + row + 3 * kLong);
    // Alone it goes when the array is idle, as without cache program.
    const SimTime from = b.now();
    b.program(0, 0, 2, 3);
    b.program(0, 1, 2, 3);
    b.agenda.run_until(from + 100us);
    const FlashTransaction& alone = b.program(0, 0, 2, 4);
    run(b);
    EXPECT_EQ(end_of(alone), from + row + kLong + kPlane + kWb + kLong);
}

TEST(CachedPrograms, RandomTrafficOfAllKindsInAllShapes) {
    std::uint64_t cached = 0;
    for (Traffic& t : benches().traffic) {
        SCOPED_TRACE(t.backend->name());
        Pins first(t.nand), second(t.nand);
        t.backend->channel(0).play_pins(t.nand, first);
        t.backend->channel(1).play_pins(t.nand, second);
        t.run_checked(500, 400us);
        t.run_checked(100, 8ms);  // mostly idle
        t.check();
        for (Pins* const pins : {&first, &second}) {
            pins->checker.finish();
            EXPECT_EQ(pins->checker.report(5), "");
            cached += pins->checker.commands(0x15);
        }
    }
    EXPECT_GT(cached, 1'000u);
}

}  // namespace
}  // namespace ssdtlm
