// SPDX-License-Identifier: Apache-2.0
#include "common/tlm/agenda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

struct Log {
    std::vector<std::uint64_t> seen;
    Agenda* agenda = nullptr;
    void note(std::uint64_t v) { seen.push_back(v); }
    void chain(std::uint64_t v) {
        seen.push_back(v);
        if (v < 5) agenda->post(agenda->now() + 10ns, Then::to<&Log::chain>(this, v + 1));
    }
};

TEST(Agenda, RunsInTimeOrderAndEqualTimesInPostingOrder) {
    Agenda a;
    Log log;
    a.post(SimTime{20ns}, Then::to<&Log::note>(&log, 3));
    a.post(SimTime{10ns}, Then::to<&Log::note>(&log, 1));
    a.post(SimTime{20ns}, Then::to<&Log::note>(&log, 4));
    a.post(SimTime{10ns}, Then::to<&Log::note>(&log, 2));
    a.run();
    EXPECT_EQ(log.seen, (std::vector<std::uint64_t>{1, 2, 3, 4}));
    EXPECT_EQ(a.now(), SimTime{20ns});
}

TEST(Agenda, HandlersMayPost) {
    Agenda a;
    Log log;
    log.agenda = &a;
    a.post(SimTime{}, Then::to<&Log::chain>(&log, 0));
    a.run_until(SimTime{25ns});
    EXPECT_EQ(log.seen.size(), 3u);
    EXPECT_EQ(a.now(), SimTime{25ns});
    a.run();
    EXPECT_EQ(log.seen.size(), 6u);
}

TEST(Agenda, RefusesThePast) {
    Agenda a;
    Log log;
    a.post(SimTime{10ns}, Then::to<&Log::note>(&log, 1));
    a.run();
    EXPECT_THROW(a.post(SimTime{9ns}, Then::to<&Log::note>(&log, 1)), Panic);
}

// Near and far entries, many at once, posted while running.
struct Churn {
    Agenda* agenda = nullptr;
    Random random{3};
    std::uint64_t posted = 0;
    SimTime last{};
    std::uint64_t last_id = 0;
    std::vector<std::int64_t> due;
    void run(std::uint64_t id) {
        const SimTime now = agenda->now();
        ASSERT_EQ(now.time_since_epoch().count(), due[id]);
        ASSERT_TRUE(now > last || (now == last && id > last_id)) << "out of order";
        last = now;
        last_id = id;
        for (std::uint64_t n = random.below(3); n > 0 && posted < 60000; --n) add();
    }
    void add() {
        static constexpr std::int64_t kScale[] = {0, 1'000, 700'000, 90'000'000, 540'000'000, 5'000'000'000};
        const std::int64_t d =
            static_cast<std::int64_t>(random.below(1 + static_cast<std::uint64_t>(kScale[random.below(6)])));
        due.push_back(agenda->now().time_since_epoch().count() + d);
        agenda->post(agenda->now() + Ps{d}, Then::to<&Churn::run>(this, posted++));
    }
};

TEST(Agenda, KeepsOrderAcrossNearAndFarFuture) {
    Agenda a;
    Churn c;
    c.agenda = &a;
    for (int i = 0; i < 3000; ++i) c.add();
    a.run();
    EXPECT_EQ(a.executed(), c.posted);
    EXPECT_TRUE(a.empty());
    EXPECT_EQ(a.next_time(), kNever);
}

TEST(Agenda, AgreesWithASortedListOnRandomTraffic) {
    Agenda a;
    Log log;
    Random r(7);
    std::vector<std::pair<std::int64_t, std::uint64_t>> expected;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        const auto t = static_cast<std::int64_t>(r.below(700));
        expected.emplace_back(t, i);
        a.post(SimTime{Ps{t}}, Then::to<&Log::note>(&log, i));
    }
    std::sort(expected.begin(), expected.end());
    a.run();
    ASSERT_EQ(log.seen.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(log.seen[i], expected[i].second) << i;
}

/// Keeps entries of its own in order of time and posts only the first; notes and posts others meanwhile.
struct Convoy {
    Agenda* agenda;
    Random random;
    std::vector<std::uint64_t> own;  // ns, ascending
    std::size_t next = 0;
    std::uint64_t claimed = 0;
    std::vector<std::pair<std::int64_t, std::uint64_t>> seen;

    void note(std::uint64_t v) { seen.push_back({agenda->now().time_since_epoch().count(), v}); }
    void arrive() {
        for (;;) {
            note(1'000'000 + next++);
            if (random.below(2) == 0)
                agenda->post(agenda->now() + std::chrono::nanoseconds(random.below(4)),
                             Then::to<&Convoy::note>(this, next));
            if (next == own.size()) return;
            if (!agenda->claim(SimTime{std::chrono::nanoseconds(own[next])})) break;
            ++claimed;
        }
        agenda->post(SimTime{std::chrono::nanoseconds(own[next])}, Then::to<&Convoy::arrive>(this));
    }
};

TEST(Agenda, ClaimedEntriesRunInTheOrderOfPostedOnes) {
    Random random(7);
    std::vector<std::uint64_t> own(2000);
    std::uint64_t at = 0;
    for (auto& t : own) t = at += random.below(4);
    enum class Drive { run, steps, short_runs };
    std::vector<Convoy> convoys;
    for (const Drive drive : {Drive::steps, Drive::run, Drive::short_runs}) {
        Agenda a;
        Convoy c{&a, Random(8), own, 0, 0, {}};
        a.post(SimTime{std::chrono::nanoseconds(own[0])}, Then::to<&Convoy::arrive>(&c));
        if (drive == Drive::steps)
            while (!a.empty()) a.step();
        else if (drive == Drive::run)
            a.run();
        else
            for (std::uint64_t t = 0; !a.empty(); t += 3) a.run_until(SimTime{std::chrono::nanoseconds(t)});
        EXPECT_EQ(a.executed(), c.seen.size());
        convoys.push_back(std::move(c));
    }
    EXPECT_EQ(convoys[0].claimed, 0u);  // one entry at a time: nobody may run ahead
    EXPECT_GT(convoys[1].claimed, 500u);
    EXPECT_GT(convoys[2].claimed, 100u);
    EXPECT_LT(convoys[2].claimed, convoys[1].claimed);
    EXPECT_EQ(convoys[0].seen, convoys[1].seen);
    EXPECT_EQ(convoys[0].seen, convoys[2].seen);
}

TEST(Agenda, WhatIsCancelledLeavesNoTrace) {
    Agenda a;
    Log log;
    a.post(SimTime{10ns}, Then::to<&Log::note>(&log, 1));
    const Agenda::Entry soon = a.post_cancellable(SimTime{5ns}, Then::to<&Log::note>(&log, 2));
    const Agenda::Entry late = a.post_cancellable(SimTime{5s}, Then::to<&Log::note>(&log, 3));
    EXPECT_EQ(a.next_time(), SimTime{5ns});
    EXPECT_EQ(a.pending(), 3u);
    EXPECT_TRUE(a.cancel(soon));
    EXPECT_FALSE(a.cancel(soon)) << "stale";
    EXPECT_EQ(a.next_time(), SimTime{10ns});
    EXPECT_TRUE(a.cancel(late));
    EXPECT_EQ(a.pending(), 1u);
    a.run();
    EXPECT_EQ(log.seen, (std::vector<std::uint64_t>{1}));
    EXPECT_EQ(a.now(), SimTime{10ns}) << "time does not go to what was cancelled";
    EXPECT_EQ(a.executed(), 1u);
    EXPECT_FALSE(a.cancel(Agenda::Entry{})) << "names nothing";
}

/// An entry that cancels itself, one that has run, and another of its own time.
struct Canceller {
    Agenda* agenda;
    Agenda::Entry self, other;
    std::vector<std::uint64_t> seen;
    void run(std::uint64_t v) {
        seen.push_back(v);
        EXPECT_FALSE(agenda->cancel(self)) << "it runs";
        EXPECT_EQ(agenda->cancel(other), v == 1);
    }
};

TEST(Agenda, AHandleIsStaleWhileItsEntryRuns) {
    Agenda a;
    Canceller c{&a, {}, {}, {}};
    c.self = a.post_cancellable(SimTime{7ns}, Then::to<&Canceller::run>(&c, 1));
    c.other = a.post_cancellable(SimTime{7ns}, Then::to<&Canceller::run>(&c, 2));
    a.post(SimTime{7ns}, Then::to<&Canceller::run>(&c, 3));
    a.run();
    EXPECT_EQ(c.seen, (std::vector<std::uint64_t>{1, 3}));
    // The slot is used again: the old handle must not reach the new entry.
    const Agenda::Entry again = a.post_cancellable(SimTime{9ns}, Then::to<&Canceller::run>(&c, 4));
    EXPECT_FALSE(a.cancel(c.other));
    EXPECT_FALSE(a.cancel(c.self));
    EXPECT_TRUE(a.cancel(again));
}

/// Entries of both kinds, near and far, cancelled at random while others run; against a sorted list of what is left.
struct Cancelling {
    Agenda* agenda;
    Random random{5};
    struct Posted {
        SimTime at;
        Agenda::Entry entry;
        bool cancellable = false, gone = false;  // gone: has run or was cancelled
    };
    std::vector<Posted> posted{};
    std::uint64_t ran = 0, cancelled = 0, stale = 0;

    void add() {
        static constexpr std::uint64_t kScale[] = {1, 1'000, 200'000, 90'000'000, 540'000'000, 3'000'000'000};
        const SimTime at = agenda->now() + Ps{static_cast<std::int64_t>(random.below(kScale[random.below(6)]))};
        posted.push_back({at, {}, random.below(2) == 0, false});
        Posted& p = posted.back();
        if (p.cancellable)
            p.entry = agenda->post_cancellable(at, Then::to<&Cancelling::run>(this, posted.size() - 1));
        else
            agenda->post(at, Then::to<&Cancelling::run>(this, posted.size() - 1));
    }
    void run(std::uint64_t id) {
        ASSERT_FALSE(posted[id].gone) << id;
        posted[id].gone = true;
        ++ran;
        ASSERT_EQ(agenda->now(), posted[id].at);
        // It is the first of all that are left: none earlier, none posted before it for the same time.
        for (std::size_t i = 0, n = random.below(64) == 0 ? posted.size() : 0; i < n; ++i)
            ASSERT_TRUE(posted[i].gone || posted[i].at > posted[id].at || (posted[i].at == posted[id].at && i > id));
        for (std::uint64_t n = random.below(4); n > 0 && posted.size() < 20'000; --n) add();
        for (std::uint64_t n = random.below(3); n > 0; --n) {
            const std::size_t back = random.below(3) == 0 ? posted.size() : std::min<std::size_t>(posted.size(), 60);
            Posted& p = posted[posted.size() - 1 - random.below(back)];
            ASSERT_EQ(agenda->cancel(p.entry), p.cancellable && !p.gone);
            ++(p.cancellable && !p.gone ? cancelled : stale);
            p.gone = p.gone || p.cancellable;
        }
        const std::uint64_t left = posted.size() - ran - cancelled;
        ASSERT_EQ(agenda->pending(), left);
    }
};

TEST(Agenda, DropsTheEntriesOfSomeObjectsOnly) {
    struct Object {
        std::vector<std::uint64_t>* ran;
        void run(std::uint64_t id) { ran->push_back(id); }
    };
    Random random(3, 1);
    for (int round = 0; round < 50; ++round) {
        Agenda a;
        std::vector<std::uint64_t> ran;
        Object stays{&ran}, goes{&ran};
        std::vector<std::pair<SimTime, std::uint64_t>> expected;  // of the one that stays, in the order of posting
        std::vector<Agenda::Entry> gone, left;
        const std::uint64_t entries = 1 + random.below(300);
        for (std::uint64_t id = 0; id < entries; ++id) {
            // Few times, so that many are equal, in the buckets and far behind them.
            const SimTime at{
                Ps{static_cast<std::int64_t>(random.below(8)) * (random.percent(50) ? 100'000 : 1'000'000'000)}};
            Object& o = random.percent(50) ? stays : goes;
            if (&o == &stays) expected.emplace_back(at, id);
            if (random.percent(30))
                (&o == &stays ? left : gone).push_back(a.post_cancellable(at, Then::to<&Object::run>(&o, id)));
            else
                a.post(at, Then::to<&Object::run>(&o, id));
        }
        a.drop_if([&goes](const void* self) { return self == &goes; });
        EXPECT_EQ(a.pending(), expected.size());
        for (const Agenda::Entry e : gone) EXPECT_FALSE(a.cancel(e));
        std::stable_sort(expected.begin(), expected.end(),
                         [](const auto& x, const auto& y) { return x.first < y.first; });
        EXPECT_EQ(a.next_time(), expected.empty() ? kNever : expected.front().first);
        // What is posted afterwards finds its place among them.
        a.post(SimTime{Ps{50'000}}, Then::to<&Object::run>(&goes, entries));
        expected.insert(std::upper_bound(expected.begin(), expected.end(), std::make_pair(SimTime{Ps{50'000}}, entries),
                                         [](const auto& x, const auto& y) { return x.first < y.first; }),
                        {SimTime{Ps{50'000}}, entries});
        a.run();
        std::vector<std::uint64_t> order;
        for (const auto& e : expected) order.push_back(e.second);
        EXPECT_EQ(ran, order);
        for (const Agenda::Entry e : left) EXPECT_FALSE(a.cancel(e)) << "it has run";
    }
}

TEST(Agenda, RandomCancellingKeepsOrderAndCounts) {
    Agenda a;
    Cancelling c{&a};
    for (int i = 0; i < 2000; ++i) c.add();
    while (!a.empty() && !::testing::Test::HasFatalFailure()) {
        SimTime first = kNever;
        if (c.random.below(32) == 0) {
            for (const auto& p : c.posted)
                if (!p.gone) first = std::min(first, p.at);
            ASSERT_EQ(a.next_time(), first);
        }
        a.step();
    }
    EXPECT_EQ(c.ran + c.cancelled, c.posted.size());
    EXPECT_EQ(a.executed(), c.ran);
    EXPECT_GT(c.cancelled, 2'000u);
    EXPECT_GT(c.stale, 2'000u);
    EXPECT_GT(c.ran, 5'000u);
}

}  // namespace
}  // namespace ssdtlm
