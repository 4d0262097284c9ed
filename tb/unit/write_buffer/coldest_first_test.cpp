// SPDX-License-Identifier: Apache-2.0
// The write buffer that programs what was not written for longest, beside a plain simulation of the same rule, and
// beside theory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "common/random/random.h"
#include "controller/ftl/allocation/write_partitions.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {
namespace {

using Index = WriteBuffer::Index;
constexpr auto kNone = WriteBuffer::kNone;
constexpr auto kNoWaiter = WriteBuffer::kNoWaiter;

WriteOrder coldest_first() {
    WriteOrder order;
    order.coldest_first = true;
    return order;
}

void put(WriteBuffer& b, std::uint32_t lpa, std::uint32_t waiter = kNoWaiter) {
    EXPECT_TRUE(b.reserve(1));
    b.insert(Lpa{lpa}, 1, waiter, WriteBuffer::Bytes::whole);
    b.check_waiters();
}

std::vector<std::uint32_t> all(WriteBuffer& b) {
    std::vector<std::uint32_t> order, seen;
    for (Index i = b.first_dirty(0); i != kNone; i = b.dirty_behind(i)) seen.push_back(idx(b.entry(i).lpa));
    for (Index i; (i = b.pop_dirty()) != kNone;) {
        order.push_back(idx(b.entry(i).lpa));
        b.programmed(i);
    }
    EXPECT_TRUE(seen.size() <= order.size() &&
                std::equal(seen.begin(), seen.end(), order.begin()));  // others wait for those
    return order;
}

using Order = std::vector<std::uint32_t>;

TEST(ColdestFirst, WhatIsWrittenAgainGoesLast) {
    WriteBuffer b(8, nullptr, coldest_first());
    for (const std::uint32_t lpa : {1u, 2u, 3u, 1u, 4u, 2u}) put(b, lpa);
    EXPECT_EQ(all(b), (Order{3, 1, 4, 2}));
}

// And in the order in which somebody began to wait; the flush covers the others, and what comes after it does not pass
// them.
TEST(ColdestFirst, WhatSomebodyWaitsForGoesBeforeIt) {
    WriteBuffer b(16, nullptr, coldest_first());
    for (const std::uint32_t lpa : {1u, 2u, 3u, 4u}) put(b, lpa);
    put(b, 3, 7);
    put(b, 5, 8);
    for (Index i; b.demanded();) {
        i = b.pop_dirty();
        EXPECT_EQ(b.programmed(i), idx(b.entry(i).lpa) == 3 ? 7u : 8u);
    }
    put(b, 9, 4);
    b.begin_flush();
    put(b, 6);
    put(b, 10, 5);
    put(b, 1);  // behind the flush
    EXPECT_EQ(all(b), (Order{9, 1, 2, 4, 10, 6, 1}));
}

/// All copies of units in the buffer, and when each got its place.
class PlainBuffer {
public:
    enum class State { waits, merging, ready, flying };
    struct Copy {
        std::uint32_t lpa, version;
        State state;
        bool demanded, dropped;
        std::uint64_t place;
        bool coalesces() const { return !demanded && !dropped && (state == State::ready || state == State::waits); }
    };
    void write(std::uint32_t lpa, std::uint32_t version, bool waited_for, bool merging) {
        const std::optional<std::size_t> newest = last(lpa);
        const bool replaces = newest && copies[*newest].coalesces();
        if (!replaces)
            copies.push_back({lpa, version,
                              merging  ? State::merging
                              : newest ? State::waits
                                       : State::ready,
                              false, false, 0});
        Copy& c = copies[replaces ? *newest : copies.size() - 1];
        c.version = version;
        c.demanded = waited_for;
        c.place = ++n_;
        if (!waited_for) return;
        for (Copy& older : copies)
            if (older.lpa == lpa && !older.demanded) {
                older.demanded = true;
                older.place = ++n_;
            }
    }
    std::optional<std::size_t> next() const {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < copies.size(); ++i)
            if (copies[i].state == State::ready && (!best || before(copies[i], copies[*best]))) best = i;
        return best;
    }
    void merged(std::size_t i) { copies[i].dropped ? leave(i) : make_ready(copies[i]); }
    /// It is in flash.
    void leave(std::size_t i) {
        const std::uint32_t lpa = copies[i].lpa;
        copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
        for (Copy& c : copies) {
            if (c.lpa != lpa) continue;
            if (c.state == State::waits) make_ready(c);
            return;
        }
    }
    void flush() {
        std::vector<Copy*> cold;
        for (Copy& c : copies)
            if (!c.demanded) cold.push_back(&c);
        std::sort(cold.begin(), cold.end(), [](const Copy* a, const Copy* b) { return a->place < b->place; });
        for (Copy* c : cold) c->demanded = true, c->place = ++n_;
    }
    void drop(std::uint32_t lpa) {
        for (std::size_t i = copies.size(); i-- != 0;) {
            if (copies[i].lpa != lpa) continue;
            copies[i].dropped = true;
            if (copies[i].state == State::waits || copies[i].state == State::ready)
                copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    std::optional<std::size_t> last(std::uint32_t lpa) const {
        for (std::size_t i = copies.size(); i-- != 0;)
            if (copies[i].lpa == lpa) return i;
        return std::nullopt;
    }
    std::vector<Copy> copies;  // in the order in which they came

private:
    static bool before(const Copy& a, const Copy& b) {
        return a.demanded != b.demanded ? a.demanded : a.place < b.place;
    }
    void make_ready(Copy& c) {
        c.state = State::ready;
        c.place = ++n_;
    }
    std::uint64_t n_ = 0;
};

TEST(ColdestFirst, LikeAPlainSimulationUnderRandomWritesFlushesAndDeallocations) {
    for (const std::uint32_t units : {6u, 20u, 200u}) {
        SCOPED_TRACE(units);
        WriteBuffer b(40, nullptr, coldest_first());
        PlainBuffer plain;
        Random r(units, 3);
        std::vector<Index> of;  // the buffer's number of each copy, by version
        std::vector<std::uint32_t> released;
        std::uint32_t version = 0;
        std::uint64_t popped = 0, hot = 0;
        for (int step = 0; step < 60'000; ++step) {
            const auto lpa = static_cast<std::uint32_t>(r.percent(50) ? r.below(units) : r.below(1 + units / 4));
            // Now and then few are programmed, so that several of those that somebody waits for are there.
            const std::uint64_t what = r.below(1000), pops = step / 200 % 2 == 0 ? 530 : 800;
            if (what < 500) {
                if (!b.reserve(1)) continue;
                const bool waits = r.percent(15), merges = !plain.last(lpa) && r.percent(50);
                const std::uint64_t before = b.coalesced();
                of.resize(++version + 1);
                of[version] = b.insert(Lpa{lpa}, version, waits ? 1 : kNoWaiter,
                                       merges ? WriteBuffer::Bytes::merging : WriteBuffer::Bytes::whole);
                plain.write(lpa, version, waits, merges);
                hot += b.coalesced() != before;
            } else if (what < pops) {
                const auto expected = plain.next();
                const Index i = b.pop_dirty();
                ASSERT_EQ(i != kNone, expected.has_value());
                if (i == kNone) continue;
                ASSERT_EQ(b.entry(i).version, plain.copies[*expected].version) << "step " << step;
                plain.copies[*expected].state = PlainBuffer::State::flying;
                ++popped;
            } else if (what < 960) {
                if (plain.copies.empty()) continue;
                const std::size_t k = r.below(plain.copies.size());
                const PlainBuffer::Copy c = plain.copies[k];
                if (c.state == PlainBuffer::State::flying) {
                    b.programmed(of[c.version]);
                    plain.leave(k);
                } else if (c.state == PlainBuffer::State::merging) {
                    b.merged(of[c.version]);
                    plain.merged(k);
                }
            } else if (what < 990) {
                b.drop(Lpa{lpa}, released);
                plain.drop(lpa);
            } else {
                b.begin_flush();
                plain.flush();
            }
            ASSERT_NO_THROW(b.check_waiters()) << "step " << step;
            ASSERT_EQ(b.used(), plain.copies.size()) << "step " << step;
        }
        EXPECT_GT(popped, 1000u);
        EXPECT_GT(hot, 100u);
    }
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

// One program for each write that finds the buffer full: what is written again before it leaves costs none.
TEST(ColdestFirst, SavesAsManyProgramsAsTheorySays) {
    constexpr std::uint32_t kUnits = 10'000;
    for (const double exponent : {0.0, 0.8, 1.2}) {
        std::vector<double> p(kUnits), cumulative(kUnits);
        double sum = 0;
        for (std::uint32_t i = 0; i < kUnits; ++i) sum += p[i] = std::pow(i + 1.0, -exponent);
        for (std::uint32_t i = 0; i < kUnits; ++i) cumulative[i] = (i == 0 ? 0 : cumulative[i - 1]) + (p[i] /= sum);
        for (const std::uint32_t room : {200u, 1000u, 4000u}) {
            double ratio[2];
            for (const bool cold : {false, true}) {
                WriteBuffer b(room + 1, nullptr, cold ? coldest_first() : WriteOrder{});
                Random random(11, room);
                const int draws = 400'000, warm = 100'000;
                std::uint64_t before = 0;
                for (int i = 0; i < draws; ++i) {
                    if (i == warm) before = b.coalesced();
                    if (b.used() == b.capacity()) b.programmed(b.pop_dirty());
                    const auto at =
                        std::upper_bound(cumulative.begin(), cumulative.end(), random.unit() * cumulative.back());
                    ASSERT_TRUE(b.reserve(1));
                    b.insert(Lpa{static_cast<std::uint32_t>(at - cumulative.begin())}, 1, kNoWaiter,
                             WriteBuffer::Bytes::whole);
                }
                ratio[cold] = static_cast<double>(b.coalesced() - before) / (draws - warm);
            }
            const double expected = theory(p, room);
            std::printf(
                "[   FIGURE ] Zipf %.1f, %u of %u units: %.4f of the writes find theirs (theory %.4f), %.4f in the "
                "order of arrival\n",
                exponent, room, kUnits, ratio[1], expected, ratio[0]);
            EXPECT_NEAR(ratio[1], expected, 0.005);
            EXPECT_GT(ratio[1], ratio[0] + (exponent != 0 ? 0.01 : -0.005));
        }
    }
}

}  // namespace
}  // namespace ssdtlm
