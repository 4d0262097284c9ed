// SPDX-License-Identifier: Apache-2.0
#include "common/wave/wave_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;

using Row = std::tuple<std::int64_t, WaveId, std::uint64_t>;

struct List final : WaveSink {
    void begin(SimTime t, const std::vector<WaveSignal>&, const std::vector<std::uint64_t>& v) override {
        from = t.time_since_epoch().count();
        initial = v;
    }
    void change(SimTime t, WaveId id, std::uint64_t v) override {
        rows.emplace_back(t.time_since_epoch().count(), id, v);
    }
    void end(SimTime t) override { to = t.time_since_epoch().count(); }
    std::int64_t from = -1, to = -1;
    std::vector<std::uint64_t> initial;
    std::vector<Row> rows;
};

SimTime at(std::int64_t ps) {
    return SimTime{Ps{ps}};
}
WaveSignal signal(const char* name) {
    return {"top", name, WaveKind::vector, 32, 0, nullptr};
}

TEST(WaveRecorder, SortsChangesAndDropsThoseThatChangeNothing) {
    List list;
    WaveRecorder r(list, {});
    const WaveId a = r.add(signal("a"));
    const WaveId b = r.add(signal("b"));
    r.change(a, at(10), 1);
    r.change(a, at(50), 0);  // the end of it, known at its start
    r.change(b, at(20), 5);
    r.change(b, at(30), 5);
    r.change(a, at(50), 2);  // the next begins at that very time
    r.finish(at(60));
    EXPECT_EQ(list.from, 0);
    EXPECT_EQ(list.to, 60);
    EXPECT_THAT(list.initial, ElementsAre(0, 0));
    EXPECT_THAT(list.rows, ElementsAre(Row{10, a, 1}, Row{20, b, 5}, Row{50, a, 2}));
    EXPECT_EQ(r.written(), 3u);
    EXPECT_TRUE(r.begun());
}

TEST(WaveRecorder, WhatWasToComeOfSignalsThatAreResetDoesNot) {
    List list;
    WaveRecorder r(list, {});
    const WaveId a = r.add(signal("a"));
    const WaveId b = r.add({"top", "b", WaveKind::bit, 1, 1, nullptr});
    const WaveId other = r.add(signal("other"));
    r.change(a, at(10), 1);
    r.change(a, at(50), 9);
    r.step(a, at(60), -3);
    r.change(b, at(30), 0);
    r.change(b, at(40), 1);
    r.change(other, at(50), 7);
    r.reset({a, b}, at(30));
    r.change(a, at(70), 2);
    r.finish(at(80));
    EXPECT_THAT(list.rows, ElementsAre(Row{10, a, 1}, Row{30, a, 0}, Row{50, other, 7}, Row{70, a, 2}));
}

TEST(WaveRecorder, StepsAddUpInOrderOfTime) {
    List list;
    WaveRecorder r(list, {});
    const WaveId a = r.add(signal("a"));
    r.step(a, at(10), +3);
    r.step(a, at(40), -3);
    r.step(a, at(20), +2);
    r.step(a, at(20), +1);
    r.step(a, at(30), -3);
    r.finish(at(100));
    EXPECT_THAT(list.rows, ElementsAre(Row{10, a, 3}, Row{20, a, 6}, Row{30, a, 3}, Row{40, a, 0}));
}

TEST(WaveRecorder, WindowBeginsWithTheValuesOfThatTime) {
    List list;
    WaveWindow w;
    w.from = at(20);
    w.to = at(40);
    WaveRecorder r(list, w);
    const WaveId a = r.add(signal("a"));
    for (const int t : {10, 20, 30, 40, 50}) r.change(a, at(t), static_cast<std::uint64_t>(t));
    r.finish(at(60));
    EXPECT_EQ(list.from, 20);
    EXPECT_THAT(list.initial, ElementsAre(20));
    EXPECT_THAT(list.rows, ElementsAre(Row{30, a, 30}, Row{40, a, 40}));
    EXPECT_EQ(list.to, 40);
}

TEST(WaveRecorder, WindowBehindTheEndIsNeverEntered) {
    List list;
    WaveWindow w;
    w.from = at(200);
    WaveRecorder r(list, w);
    r.change(r.add(signal("a")), at(10), 1);
    r.finish(at(60));
    EXPECT_FALSE(r.begun());
    EXPECT_EQ(list.from, -1);
    EXPECT_EQ(list.to, -1);
}

TEST(WaveRecorder, WindowIsWrittenWhenNothingChangesInIt) {
    List list;
    WaveWindow w;
    w.from = at(20);
    WaveRecorder r(list, w);
    r.change(r.add(signal("a")), at(10), 1);
    r.finish(at(60));
    EXPECT_EQ(list.from, 20);
    EXPECT_THAT(list.initial, ElementsAre(1));
    EXPECT_EQ(list.to, 60);
}

TEST(WaveRecorder, TriggerBringsItsHistory) {
    List list;
    WaveWindow w;
    w.triggered = true;
    w.before = Ps{25};
    w.after = Ps{20};
    WaveRecorder r(list, w);
    const WaveId a = r.add(signal("a"));
    const WaveId b = r.add(signal("b"));
    r.change(b, at(1), 77);
    for (int t = 10; t <= 100; t += 10) {
        r.change(a, at(t), static_cast<std::uint64_t>(t));
        r.change(b, at(t + 1000), 0);  // far future: not before the trigger
        if (t == 60) {
            EXPECT_TRUE(r.trigger(at(60)));
            EXPECT_FALSE(r.trigger(at(60)));
        }
    }
    r.finish(at(2000));
    EXPECT_EQ(list.from, 35);
    EXPECT_THAT(list.initial, ElementsAre(30, 77));
    EXPECT_THAT(list.rows, ElementsAre(Row{40, a, 40}, Row{50, a, 50}, Row{60, a, 60}, Row{70, a, 70}, Row{80, a, 80}));
    EXPECT_EQ(list.to, 80);
    EXPECT_EQ(r.trigger_time(), at(60));
    EXPECT_TRUE(r.closed());
}

TEST(WaveRecorder, TriggerBeforeTheHistoryIsFullBeginsAtZero) {
    List list;
    WaveWindow w;
    w.triggered = true;
    w.before = Ps{1000};
    w.after = Ps{1000};
    WaveRecorder r(list, w);
    const WaveId a = r.add(signal("a"));
    r.change(a, at(5), 1);
    r.trigger(at(10));
    r.change(a, at(10), 2);
    r.finish(at(20));
    EXPECT_EQ(list.from, 0);
    EXPECT_THAT(list.rows, ElementsAre(Row{5, a, 1}, Row{10, a, 2}));
    EXPECT_EQ(list.to, 20);
}

TEST(WaveRecorder, TriggerThatNeverCameWritesNothing) {
    List list;
    WaveWindow w;
    w.triggered = true;
    w.before = Ps{10};
    WaveRecorder r(list, w);
    const WaveId a = r.add(signal("a"));
    for (int t = 0; t < 100; ++t) r.change(a, at(t), static_cast<std::uint64_t>(t));
    r.finish(at(100));
    EXPECT_FALSE(r.begun());
    EXPECT_EQ(list.from, -1);
}

TEST(WaveRecorder, TriggerOutsideOfTheWindowIsNoTrigger) {
    List list;
    WaveWindow w;
    w.triggered = true;
    w.from = at(50);
    w.to = at(100);
    w.before = Ps{30};
    w.after = Ps{500};
    WaveRecorder r(list, w);
    const WaveId a = r.add(signal("a"));
    for (int t = 1; t < 200; ++t) {
        r.change(a, at(t), static_cast<std::uint64_t>(t));
        if (t == 20) {
            EXPECT_FALSE(r.trigger(at(t)));
        }
        if (t == 60) {
            EXPECT_TRUE(r.trigger(at(t)));
        }
    }
    r.finish(at(200));
    EXPECT_EQ(list.from, 50);  // not 30: the window bounds the history, too
    EXPECT_THAT(list.initial, ElementsAre(50));
    EXPECT_EQ(list.rows.front(), (Row{51, a, 51}));
    EXPECT_EQ(list.to, 100);
}

TEST(WaveRecorder, HistoryIsBoundedInChanges) {
    List list;
    WaveWindow w;
    w.triggered = true;
    w.before = Ps{1'000'000};
    w.after = Ps{0};
    w.history = 16;
    WaveRecorder r(list, w);
    const WaveId a = r.add(signal("a"));
    for (int t = 1; t <= 1000; ++t) r.change(a, at(t), static_cast<std::uint64_t>(t));
    r.trigger(at(1001));
    r.finish(at(1001));
    EXPECT_EQ(list.rows.size(), 16u);
    EXPECT_EQ(list.rows.back(), (Row{1000, a, 1000}));
    EXPECT_EQ(list.initial.at(0), static_cast<std::uint64_t>(list.from));  // begins where the history does
}

TEST(WaveRecorder, PastIsRefused) {
    List list;
    WaveRecorder r(list, {});
    const WaveId a = r.add(signal("a"));
    for (int t = 0; t < 100'000; ++t) {
        r.change(a, at(t), static_cast<std::uint64_t>(t));
        r.settle(at(t));
    }
    r.change(a, at(3), 1);
    EXPECT_THROW(r.finish(at(100'000)), Panic);
}

// Against a map from (time, signal) to value, with random stamps ahead of time, windows and triggers.
TEST(WaveRecorder, RandomAgainstReference) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        List list;
        WaveWindow w;
        w.triggered = seed % 3 == 0;
        if (seed % 2 == 0) w.from = at(random() % 2000);
        if (seed % 5 == 0) w.to = at(2000 + random() % 3000);
        w.before = Ps{static_cast<std::int64_t>(random() % 1500)};
        w.after = Ps{static_cast<std::int64_t>(random() % 1500)};
        WaveRecorder r(list, w);
        constexpr WaveId kSignals = 5;
        for (WaveId i = 0; i < kSignals; ++i) r.add(signal("s"));
        std::map<std::pair<std::int64_t, WaveId>, std::uint64_t> reference;
        const int events = seed % 4 == 0 ? 60'000 : 3000;
        const auto when = static_cast<std::int64_t>(random() % 4000);
        std::int64_t now = 0;
        std::int64_t trigger = -1;
        for (int i = 0; i < events; ++i) {
            if (i % (events / 3000) == 0) now += random() % 3;
            const auto t = now + static_cast<std::int64_t>(random() % 4 == 0 ? random() % 500 : 0);
            const auto id = static_cast<WaveId>(random() % kSignals);
            const std::uint64_t v = random() % 3;
            r.change(id, at(t), v);
            reference[{t, id}] = v;
            r.settle(at(now));
            if (now >= when && r.trigger(at(now))) trigger = now;
        }
        const std::int64_t end = now;
        r.finish(at(end));
        if (!r.begun()) {
            EXPECT_TRUE(w.triggered ? trigger < 0 : w.from > at(end)) << seed;
            continue;
        }
        const std::int64_t from = w.from.time_since_epoch().count();
        std::int64_t to = w.to == kNever ? end : std::min(end, w.to.time_since_epoch().count());
        std::int64_t begin = from;
        if (w.triggered) {
            begin = std::max(from, trigger - w.before.count());
            to = std::min(to, trigger + w.after.count());
        }
        EXPECT_EQ(list.from, begin) << seed;
        EXPECT_EQ(list.to, to) << seed;
        std::vector<std::uint64_t> value(kSignals, 0);
        std::vector<std::uint64_t> initial(kSignals, 0);
        std::map<std::pair<std::int64_t, WaveId>, std::uint64_t> expected;
        for (const auto& [key, v] : reference) {
            const auto [t, id] = key;
            if (t > to) continue;
            if (value[id] == v) continue;
            value[id] = v;
            if (t <= begin)
                initial[id] = v;
            else
                expected[key] = v;
        }
        std::map<std::pair<std::int64_t, WaveId>, std::uint64_t> got;
        std::int64_t last = 0;
        for (const auto& [t, id, v] : list.rows) {
            EXPECT_GE(t, last);
            last = t;
            EXPECT_TRUE(got.emplace(std::make_pair(t, id), v).second);
        }
        EXPECT_EQ(list.initial, initial) << seed;
        EXPECT_EQ(got, expected) << seed;
    }
}

TEST(WaveRecorder, TriggerAtTheLastChangeKeepsWhatLedToAStandstill) {
    const auto window = [](std::int64_t from) {
        WaveWindow w;
        w.from = at(from);
        w.triggered = true;
        w.before = Ps{100};
        w.after = Ps{50};
        return w;
    };
    List list;
    WaveRecorder r(list, window(0));
    const WaveId a = r.add(signal("a"));
    for (std::int64_t t = 10; t <= 500; t += 10) r.change(a, at(t), static_cast<std::uint64_t>(t));
    r.settle(at(100'000));
    EXPECT_TRUE(r.trigger_at_last_change(at(1'000'000)));
    EXPECT_FALSE(r.trigger_at_last_change(at(1'000'001)));
    r.finish(at(1'000'000), at(600));
    EXPECT_EQ(r.trigger_time(), at(500));
    EXPECT_EQ(list.from, 400);
    EXPECT_EQ(list.to, 500);
    EXPECT_EQ(list.initial[0], 400u);
    EXPECT_EQ(list.rows.size(), 10u);
    EXPECT_EQ(r.run_end(), at(600));
    // What is stamped `now` itself belongs to it.
    List second;
    WaveRecorder s(second, window(0));
    const WaveId b = s.add(signal("b"));
    s.change(b, at(70), 1);
    EXPECT_TRUE(s.trigger_at_last_change(at(70)));
    s.finish(at(70), at(70));
    EXPECT_THAT(second.rows, ElementsAre(Row{70, b, 1}));
    // A failure before the window is none of its business.
    List third;
    WaveRecorder u(third, window(1000));
    EXPECT_FALSE(u.trigger_at_last_change(at(500)));
}

// Only the watchdog goes on behind the end of a run.
TEST(WaveRecorder, AWindowBehindTheRunHasNotBegun) {
    const auto record = [](List& list, std::int64_t from, std::int64_t ended) {
        WaveWindow w;
        w.from = at(from);
        auto r = std::make_unique<WaveRecorder>(list, w);
        const WaveId a = r->add(signal("a"));
        for (std::int64_t t = 10; t <= 50; t += 10) r->change(a, at(t), static_cast<std::uint64_t>(t));
        EXPECT_EQ(r->last_change(at(5000)), at(50));
        r->finish(at(5000), at(ended));
        return r;
    };
    List behind, quiet, with;
    auto r = record(behind, 60, 55);
    EXPECT_FALSE(r->begun());
    EXPECT_EQ(r->run_end(), at(55));
    // The run goes on, and what is recorded stands still.
    r = record(quiet, 60, 80);
    EXPECT_TRUE(r->begun());
    EXPECT_EQ(r->written(), 0u);
    EXPECT_EQ(std::make_pair(quiet.from, quiet.to), (std::pair<std::int64_t, std::int64_t>(60, 80)));
    EXPECT_EQ(quiet.initial[0], 50u);
    r = record(with, 30, 80);
    EXPECT_EQ(r->written(), 2u);
    EXPECT_EQ(std::make_pair(with.from, with.to), (std::pair<std::int64_t, std::int64_t>(30, 50)));
}

}  // namespace
}  // namespace ssdtlm
