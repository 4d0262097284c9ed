// SPDX-License-Identifier: Apache-2.0
// Write buffer and read cache in one room, beside one list of clean and dirty units that does the same slowly, and
// beside theory.
#include "controller/shared_cache/shared_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <list>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/read_cache/read_cache.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kUnit = 4096;

struct Rule {
    std::uint32_t units, window;
    bool by_use = true;  ///< false: the oldest leaves
    bool keeps = false;  ///< what was programmed stays, and is clean
};

/// Programs take no time: what has to be programmed for room is.
class Drive {
public:
    explicit Drive(const Rule& rule)
        : room_(rule.units, rule.window, rule.by_use),
          buffer_(rule.units, nullptr, order(rule.by_use)),
          cache_({0, rule.by_use ? ReadCacheReplacement::cflru : ReadCacheReplacement::fifo, ReadCacheFill::both,
                  ReadCacheSpace::buffer},
                 kUnit, &room_),
          keeps_(rule.keeps) {
        buffer_.share(room_);
        room_.bind(buffer_, [this](std::uint32_t slot) { cache_.evict(slot); });
    }
    bool read(std::uint32_t lpa) {
        if (const auto i = buffer_.find(Lpa{lpa}); i != WriteBuffer::kNone) return buffer_.touch(i), true;
        if (cache_.look_up(Lpa{lpa}) != nullptr) return true;
        const ReadCache::Unit unit{Lpa{lpa}, 1, 0, {}};
        cache_.end_fill(cache_.begin_fill(Lpa{lpa}), unit);
        while (cache_.find(Lpa{lpa}) == nullptr) {
            EXPECT_TRUE(buffer_.is_wanted());
            program();
            EXPECT_FALSE(buffer_.is_wanted());
            cache_.insert(unit);
        }
        return false;
    }
    void write(std::uint32_t lpa) {
        while (!buffer_.reserve(1)) program();
        cache_.drop(Lpa{lpa});
        buffer_.insert(Lpa{lpa}, 1, WriteBuffer::kNoWaiter, WriteBuffer::Bytes::whole);
    }
    void trim(std::uint32_t lpa) {
        std::vector<std::uint32_t> released;
        buffer_.drop(Lpa{lpa}, released);
        cache_.drop(Lpa{lpa});
    }
    void flush() {
        buffer_.begin_flush();
        while (buffer_.dirty() != 0) program();
    }
    bool holds(std::uint32_t lpa) const { return is_dirty(lpa) || cache_.find(Lpa{lpa}) != nullptr; }
    bool is_dirty(std::uint32_t lpa) const { return buffer_.find(Lpa{lpa}) != WriteBuffer::kNone; }
    std::uint32_t size() const { return buffer_.held() + cache_.used(); }
    void check() const {
        buffer_.check_waiters();
        room_.check();
    }
    std::vector<std::uint32_t> programmed;

private:
    static WriteOrder order(bool by_use) {
        WriteOrder o;
        o.coldest_first = by_use;
        return o;
    }
    void program() {
        const auto i = buffer_.pop_dirty();
        ASSERT_NE(i, WriteBuffer::kNone);
        const auto u = buffer_.unit(i);
        programmed.push_back(idx(u.lpa));
        if (keeps_) cache_.keep({u.lpa, u.version, 0, {}}, i);
        buffer_.programmed(i);
    }
    SharedCache room_;
    WriteBuffer buffer_;
    ReadCache cache_;
    const bool keeps_;
};

/// Oldest first.
class SlowDrive {
public:
    explicit SlowDrive(const Rule& rule) : rule_(rule) {}
    bool read(std::uint32_t lpa) {
        if (const auto i = at(lpa); i != units_.end()) {
            if (rule_.by_use) units_.splice(units_.end(), units_, i);
            return true;
        }
        make_room();
        units_.push_back({lpa, false});
        return false;
    }
    void write(std::uint32_t lpa) {
        make_room();  // for the data, before the old ones are gone
        const auto i = at(lpa);
        if (i == units_.end()) {
            units_.push_back({lpa, true});
        } else if (rule_.by_use || !i->dirty) {
            i->dirty = true;
            units_.splice(units_.end(), units_, i);
        }
    }
    void trim(std::uint32_t lpa) {
        if (const auto i = at(lpa); i != units_.end()) units_.erase(i);
    }
    void flush() {
        for (auto i = units_.begin(); i != units_.end();) {
            const auto next = std::next(i);
            if (i->dirty) program(i);
            i = next;
        }
    }
    bool holds(std::uint32_t lpa) { return at(lpa) != units_.end(); }
    bool is_dirty(std::uint32_t lpa) { return holds(lpa) && at(lpa)->dirty; }
    std::size_t size() const { return units_.size(); }
    std::vector<std::uint32_t> programmed;

private:
    struct Held {
        std::uint32_t lpa;
        bool dirty;
    };
    using Place = std::list<Held>::iterator;
    Place at(std::uint32_t lpa) {
        return std::find_if(units_.begin(), units_.end(), [lpa](const Held& u) { return u.lpa == lpa; });
    }
    void program(Place i) {
        programmed.push_back(i->lpa);
        i->dirty = false;
        if (!rule_.keeps) units_.erase(i);
    }
    void make_room() {
        while (units_.size() >= rule_.units) {
            auto i = units_.begin();
            for (std::uint32_t n = 0; n + 1 < rule_.window && i->dirty; ++n) ++i;
            if (i->dirty)
                program(std::find_if(units_.begin(), units_.end(), [](const Held& u) { return u.dirty; }));
            else
                units_.erase(i);
        }
    }
    const Rule rule_;
    std::list<Held> units_;
};

TEST(SharedCache, LikeOneListUnderRandomReadsWritesFlushesAndDeallocations) {
    for (const std::uint32_t units : {1u, 2u, 7u, 40u})
        for (const std::uint32_t window : {1u, 3u, 10u, 40u})
            for (const int rest : {0, 1, 2, 3}) {
                const Rule rule{units, window, rest < 2, rest % 2 != 0};
                if (window > units || (!rule.by_use && window != 1)) continue;
                SCOPED_TRACE(std::to_string(units) + " units, window " + std::to_string(window) +
                             (rule.by_use ? "" : ", oldest") + (rule.keeps ? ", keeps" : ""));
                Drive drive(rule);
                SlowDrive slow(rule);
                Random r(units, window);
                std::uint64_t hits = 0;
                for (int step = 0; step < 12'000; ++step) {
                    const auto lpa =
                        static_cast<std::uint32_t>(r.percent(60) ? r.below(1 + units) : r.below(3 * units + 3));
                    const std::uint64_t what = r.below(1000), writes = step % 4000 < 2000 ? 200 : 700;
                    if (what < writes) {
                        drive.write(lpa);
                        slow.write(lpa);
                    } else if (what < 950) {
                        const bool hit = drive.read(lpa);
                        ASSERT_EQ(hit, slow.read(lpa)) << "step " << step;
                        hits += hit;
                    } else if (what < 997) {
                        drive.trim(lpa);
                        slow.trim(lpa);
                    } else {
                        drive.flush();
                        slow.flush();
                    }
                    ASSERT_NO_THROW(drive.check()) << "step " << step;
                    ASSERT_EQ(drive.size(), slow.size()) << "step " << step;
                    ASSERT_EQ(drive.programmed, slow.programmed) << "step " << step;
                    const auto other = static_cast<std::uint32_t>(r.below(3 * units + 3));
                    ASSERT_EQ(drive.holds(other), slow.holds(other)) << "step " << step;
                    ASSERT_EQ(drive.is_dirty(other), slow.is_dirty(other)) << "step " << step;
                    if (drive.programmed.size() > 100) drive.programmed.clear(), slow.programmed.clear();
                }
                EXPECT_GT(hits, 500u);
            }
}

// A write needs room although nothing is dirty, and a unit that was read while all is.
TEST(SharedCache, WhatIsCleanLeavesAtOnceAndWhatIsDirtyTakesAProgram) {
    SharedCache room(4, 2, true);
    WriteOrder coldest;
    coldest.coldest_first = true;
    WriteBuffer buffer(4, nullptr, coldest);
    ReadCache cache({0, ReadCacheReplacement::cflru, ReadCacheFill::reads, ReadCacheSpace::buffer}, kUnit, &room);
    buffer.share(room);
    room.bind(buffer, [&cache](std::uint32_t slot) { cache.evict(slot); });
    for (std::uint32_t lpa = 0; lpa < 4; ++lpa) cache.insert({Lpa{lpa}, 1, 0, {}});
    EXPECT_TRUE(buffer.reserve(3));
    EXPECT_EQ(cache.counters().evicted, 3u);
    EXPECT_NE(cache.find(Lpa{3}), nullptr);
    for (std::uint32_t lpa = 10; lpa < 13; ++lpa)
        buffer.insert(Lpa{lpa}, 1, WriteBuffer::kNoWaiter, WriteBuffer::Bytes::whole);
    cache.look_up(Lpa{3});  // newer than the three
    EXPECT_FALSE(buffer.reserve(1));
    EXPECT_FALSE(buffer.is_wanted());
    cache.insert({Lpa{4}, 1, 0, {}});
    EXPECT_EQ(cache.counters().turned_away, 1u);
    EXPECT_EQ(cache.find(Lpa{4}), nullptr);
    EXPECT_TRUE(buffer.is_wanted());
    const auto first = buffer.pop_dirty(), second = buffer.pop_dirty();
    EXPECT_EQ(idx(buffer.unit(first).lpa), 10u);
    EXPECT_FALSE(buffer.is_wanted());
    cache.insert({Lpa{4}, 1, 0, {}});
    EXPECT_FALSE(buffer.is_wanted());  // room is on its way
    EXPECT_FALSE(buffer.reserve(1));
    buffer.programmed(first);
    EXPECT_TRUE(buffer.reserve(1));
    buffer.programmed(second);
    buffer.cancel(1);
    cache.insert({Lpa{4}, 1, 0, {}});
    cache.insert({Lpa{5}, 1, 0, {}});
    EXPECT_EQ(cache.counters().turned_away, 2u);
    cache.insert({Lpa{6}, 1, 0, {}});  // 12 is the coldest, 3 the next
    EXPECT_EQ(cache.find(Lpa{3}), nullptr);
    EXPECT_NE(cache.find(Lpa{5}), nullptr);
    room.check();
}

/// Che et al. 2002, of LRU.
double theory(const std::vector<double>& p, double room) {
    double low = 0, high = 1e12;
    for (int i = 0; i < 200; ++i) {
        const double t = (low + high) / 2;
        double held = 0;
        for (const double x : p) held += 1 - std::exp(-x * t);
        (held < room ? low : high) = t;
    }
    double hit = 0;
    for (const double x : p) hit += x * (1 - std::exp(-x * low));
    return hit;
}

// Reads and writes of the same units: with a window of one unit they are those of one LRU cache; a larger one saves
// programs.
TEST(SharedCache, HitRatioOfTheoryAndProgramsSavedByTheWindow) {
    constexpr std::uint32_t kUnits = 10'000;
    std::vector<double> p(kUnits), cumulative(kUnits);
    double sum = 0;
    for (std::uint32_t i = 0; i < kUnits; ++i) sum += p[i] = std::pow(i + 1.0, -0.8);
    for (std::uint32_t i = 0; i < kUnits; ++i) cumulative[i] = (i == 0 ? 0 : cumulative[i - 1]) + (p[i] /= sum);
    for (const std::uint32_t room : {200u, 1000u, 4000u}) {
        double programs_before = 1;
        for (const std::uint32_t percent : {0u, 25u, 50u, 100u}) {
            Drive drive({room, std::max(1u, room * percent / 100)});
            Random random(11, room);
            const int draws = 300'000, warm = 100'000;
            std::uint64_t hits = 0, reads = 0;
            std::size_t before = 0;
            for (int i = 0; i < draws; ++i) {
                if (i == warm) before = drive.programmed.size();
                const auto at =
                    std::upper_bound(cumulative.begin(), cumulative.end(), random.unit() * cumulative.back());
                const auto lpa = static_cast<std::uint32_t>(at - cumulative.begin());
                if (random.percent(30)) {
                    drive.write(lpa);
                    continue;
                }
                reads += i >= warm;
                hits += drive.read(lpa) && i >= warm;
            }
            const double hit = static_cast<double>(hits) / static_cast<double>(reads),
                         programs = static_cast<double>(drive.programmed.size() - before) / (draws - warm);
            const double expected = theory(p, room);
            std::printf(
                "[   FIGURE ] room for %u of %u units, window %u %%: hit ratio of reads %.4f (theory of LRU %.4f), "
                "%.4f programs for each operation\n",
                room, kUnits, percent, hit, expected, programs);
            EXPECT_NEAR(hit, expected, percent == 0 ? 0.006 : 1.0);
            EXPECT_LT(programs, programs_before);
            programs_before = programs;
        }
    }
}

}  // namespace
}  // namespace ssdtlm
