// SPDX-License-Identifier: Apache-2.0
#include "sim/watchdog.h"

#include <gmock/gmock.h>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Ps kSecond{1'000'000'000'000};

/// A device that is looked at every quarter of a second; `patience` is one second.
struct Watched {
    Watched() : dog(limits()) {}
    static Watchdog::Limits limits() {
        Watchdog::Limits l;
        l.patience = kSecond;
        l.queue_slots = 10;
        l.device_pages = 1000;
        return l;
    }
    Watchdog dog;
    Watchdog::Sight s;

    void submit(HostOp op = HostOp::read) {
        s.oldest = PendingCommand{3, 7, op, 4096, 8, s.now};
        s.outstanding = 1;
        ++s.host_work;
    }
    void complete() {
        s.oldest.reset();
        s.outstanding = 0;
        ++s.host_work;
        ++s.completed;
    }
    /// Looks until it is given up, at most for `time`; `each` is what the device does before each look.
    template <class Each>
    std::string run(Ps time, Each each) {
        for (const SimTime end = s.now + time; s.now < end;) {
            s.now += dog.interval();
            each();
            const std::string reason = dog.look(s);
            if (!reason.empty()) return reason;
        }
        return {};
    }
    std::string run(Ps time) {
        return run(time, [] {});
    }
};

TEST(Watchdog, IdleForAnHourThenACommandIsNoStall) {
    Watched w;
    EXPECT_EQ(w.run(3600 * kSecond), "");
    w.submit();
    EXPECT_EQ(w.run(kSecond), "");  // in flight for less than a second
    w.complete();
    EXPECT_EQ(w.run(3600 * kSecond), "");
    w.submit();
    w.complete();
    w.submit();
    EXPECT_EQ(w.run(kSecond), "");
}

TEST(Watchdog, AnEndThatNobodyReachesIsAStallAtOnce) {
    Watched w;
    w.submit();
    w.complete();
    EXPECT_EQ(w.run(kSecond), "");
    w.s.ends_in_nothing = true;
    EXPECT_THAT(w.run(kSecond), StartsWith("the workload has ended, nothing is under way"));
    EXPECT_LE(w.s.now, SimTime{} + kSecond + w.dog.interval());
}

TEST(Watchdog, NothingForASecondIsAStallAndSaysSo) {
    Watched w;
    w.run(10 * kSecond);
    w.submit();
    const SimTime at = w.s.now;
    const std::string reason = w.run(100 * kSecond);
    EXPECT_THAT(reason, StartsWith("nothing has happened for 1 s of simulated time (run.watchdog)"));
    EXPECT_THAT(
        reason,
        HasSubstr(
            "the oldest of 1 commands, a read of 8 blocks at LBA 4096 (queue 3, CID 7), was submitted 1.25 s ago"));
    EXPECT_EQ(w.s.now - at, 5 * kSecond / 4);
}

TEST(Watchdog, WhateverWorksIsNoStall) {
    const auto alive = [](auto work) {
        Watched w;
        w.submit(HostOp::flush);
        EXPECT_EQ(w.run(100 * kSecond, [&] { work(w.s); }), "");
        // When it ceases, it is one.
        w.s.flash_held = w.s.others_held = false;
        EXPECT_NE(w.run(2 * kSecond), "");
    };
    alive([](Watchdog::Sight& s) { s.flash_held = true; });
    alive([](Watchdog::Sight& s) { s.others_held = true; });
    alive([](Watchdog::Sight& s) { s.link_busy += Ps{1}; });
    alive([](Watchdog::Sight& s) { ++s.flash_work; });
    alive([](Watchdog::Sight& s) { ++s.flash_work, s.flash_idle = false; });
    alive([](Watchdog::Sight& s) { ++s.flash_work, ++s.host_pages, s.gc_pages += 2000; });
    alive([n = 0](Watchdog::Sight& s) mutable { s.host_work += ++n % 4 == 0; });
}

TEST(Watchdog, FlashWithWorkThatDoesNoneOfIt) {
    Watched w;
    w.submit();
    w.s.flash_idle = false;
    EXPECT_THAT(w.run(9 * kSecond, [&] { ++w.s.host_work; }), StartsWith("the flash has had work for 1 s"));
    // Not while it is idle now and then.
    Watched v;
    v.submit();
    v.s.outstanding = 2;
    EXPECT_EQ(v.run(9 * kSecond, [&, n = 0]() mutable { ++v.s.host_work, v.s.flash_idle = ++n % 3 == 0; }), "");
}

TEST(Watchdog, ACommandLeftBehindByAllOthers) {
    Watched w;
    w.submit();
    // 10 slots, 4 times over: the 41st completion after the flash last worked.
    const std::string reason = w.run(100 * kSecond, [&] { ++w.s.host_work, ++w.s.completed; });
    EXPECT_THAT(reason, StartsWith("a command has been left behind: 4"));
    EXPECT_GT(w.s.completed, 40u);
    EXPECT_LT(w.s.completed, 44u);
    // In turn, none of them waits for longer than the queue is long.
    Watched v;
    v.submit();
    EXPECT_EQ(v.run(1000 * kSecond,
                    [&, n = 0]() mutable {
                        ++v.s.host_work, ++v.s.completed;
                        if (++n % 10 == 0) v.s.oldest->submitted += 10 * v.dog.interval();
                    }),
              "");
}

TEST(Watchdog, CollectionInCircles) {
    const auto collecting = [](std::uint64_t host_pages_each) {
        Watched w;
        w.submit(HostOp::write);
        return w.run(1000 * kSecond, [&, host_pages_each] {
            ++w.s.flash_work, w.s.gc_pages += 10;
            w.s.host_pages += host_pages_each;
            w.s.flash_held = true;
        });
    };
    EXPECT_THAT(
        collecting(0),
        StartsWith(
            "garbage collection goes round in circles: it has moved 1010 pages, more than the 1000 of the device"));
    EXPECT_EQ(collecting(1), "");
}

TEST(Watchdog, AWorkloadThatWaitsForNothing) {
    Watched w;
    w.s.workload_waits_for_nothing = true;
    EXPECT_THAT(w.run(2 * kSecond),
                StartsWith("the workload has waited for a completion for 1 s, and no command is outstanding"));
    // One that does so only now and then (it is between two events) is fine.
    Watched v;
    EXPECT_EQ(v.run(100 * kSecond, [&, n = 0]() mutable { v.s.workload_waits_for_nothing = ++n % 3 != 0; }), "");
}

// Whatever a device does: given up exactly when there was a command older than the patience and nothing happened
// between two looks that far apart.
TEST(Watchdog, AgreesWithTheDefinitionOnRandomLives) {
    std::uint32_t given_up = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        Random random(seed);
        Watched w;
        SimTime last_work{};
        w.dog.look(w.s);
        const std::uint64_t active_percent = 40 + random.below(60);
        for (int i = 0; i < 200; ++i) {
            w.s.now += w.dog.interval();
            if (!w.s.oldest && random.percent(30)) {
                w.submit();
                last_work = w.s.now;
            } else if (w.s.oldest && random.percent(20)) {
                w.complete();
                last_work = w.s.now;
            } else if (random.percent(static_cast<unsigned>(active_percent))) {
                ++w.s.flash_work;
                last_work = w.s.now;
            }
            const bool stalled =
                w.s.oldest && w.s.now - w.s.oldest->submitted >= kSecond && w.s.now - last_work >= kSecond;
            ASSERT_EQ(!w.dog.look(w.s).empty(), stalled) << "seed " << seed << " look " << i;
            if (stalled) {
                ++given_up;
                break;
            }
        }
    }
    std::printf("%u of 500 lives given up\n", given_up);
    EXPECT_GT(given_up, 50u);
    EXPECT_LT(given_up, 450u);
}

}  // namespace
}  // namespace ssdtlm
