// SPDX-License-Identifier: Apache-2.0
// The read cache beside a list that does the same slowly, and its hit ratios beside what theory says.
#include "controller/read_cache/read_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kUnit = 4096;

ReadCacheConfig config(std::uint32_t units, ReadCacheReplacement replacement) {
    return {std::uint64_t{units} * kUnit, replacement, ReadCacheFill::both};
}

/// Oldest first.
class SlowCache {
public:
    SlowCache(std::size_t room, bool lru) : room_(room), lru_(lru) {}
    std::optional<std::uint32_t> look_up(std::uint32_t lpa) {
        for (auto i = units_.begin(); i != units_.end(); ++i) {
            if (i->first != lpa) continue;
            const std::uint32_t version = i->second;
            if (lru_) units_.splice(units_.end(), units_, i);
            return version;
        }
        return std::nullopt;
    }
    void insert(std::uint32_t lpa, std::uint32_t version) {
        for (auto& u : units_)
            if (u.first == lpa) {
                u.second = version;
                return;
            }
        if (units_.size() == room_) {
            units_.pop_front();
            ++evicted;
        }
        units_.emplace_back(lpa, version);
    }
    void drop(std::uint32_t first, std::uint32_t n) {
        units_.remove_if([&](const auto& u) { return u.first >= first && u.first - first < n; });
    }
    std::size_t size() const { return units_.size(); }
    std::uint64_t evicted = 0;

private:
    std::size_t room_;
    bool lru_;
    std::list<std::pair<std::uint32_t, std::uint32_t>> units_;
};

TEST(ReadCache, LikeASlowOneUnderRandomReadsWritesAndDeallocations) {
    for (const auto replacement : {ReadCacheReplacement::lru, ReadCacheReplacement::fifo})
        for (const std::uint32_t room : {1u, 2u, 7u, 30u}) {
            SCOPED_TRACE(room);
            ReadCache cache(config(room, replacement), kUnit);
            SlowCache slow(room, replacement == ReadCacheReplacement::lru);
            struct Read {
                std::uint32_t lpa, fill;
                bool stale;
            };
            std::vector<Read> reads;  // under way
            std::map<std::uint32_t, std::uint32_t> version;
            Random random(room, 1);
            std::uint32_t stale = 0;
            const auto outdate = [&](std::uint32_t first, std::uint32_t n) {
                for (Read& r : reads) r.stale = r.stale || (r.lpa >= first && r.lpa - first < n);
            };
            for (int step = 0; step < 30'000; ++step) {
                const auto lpa = static_cast<std::uint32_t>(random.below(100));
                const std::uint64_t what = random.below(100);
                if (what < 55) {
                    const ReadCache::Unit* unit = cache.look_up(Lpa{lpa});
                    const auto expected = slow.look_up(lpa);
                    ASSERT_EQ(unit != nullptr, expected.has_value()) << "step " << step;
                    if (unit != nullptr) {
                        ASSERT_EQ(unit->version, *expected);
                        ASSERT_EQ(unit->lpa, Lpa{lpa});
                    } else {
                        reads.push_back({lpa, cache.begin_fill(Lpa{lpa}), false});
                    }
                } else if (what < 85 && !reads.empty()) {
                    const std::size_t i = random.below(reads.size());
                    const Read r = reads[i];
                    reads.erase(reads.begin() + static_cast<std::ptrdiff_t>(i));
                    stale += r.stale;
                    if (!r.stale) outdate(r.lpa, 1);  // other reads of the unit bring it no more
                    if (random.percent(5)) {
                        cache.cancel_fill(r.fill, Lpa{r.lpa});
                    } else {
                        cache.end_fill(r.fill, {Lpa{r.lpa}, r.stale ? 0xDEADu : version[r.lpa], r.lpa, {}});
                        if (!r.stale) slow.insert(r.lpa, version[r.lpa]);
                    }
                } else if (what < 98) {
                    ++version[lpa];
                    cache.drop(Lpa{lpa});
                    slow.drop(lpa, 1);
                    outdate(lpa, 1);
                    if (random.percent(50)) {
                        cache.insert({Lpa{lpa}, version[lpa], 0, {}});
                        slow.insert(lpa, version[lpa]);
                    }
                } else {
                    const std::uint32_t n =
                        random.percent(10) ? 1000 : 1 + static_cast<std::uint32_t>(random.below(20));
                    cache.drop(Lpa{lpa}, n);
                    slow.drop(lpa, n);
                    outdate(lpa, n);
                }
                ASSERT_EQ(cache.used(), slow.size());
                std::set<std::uint32_t> filling;
                for (const Read& r : reads)
                    if (!r.stale) filling.insert(r.lpa);
                ASSERT_EQ(cache.fills(), filling.size());
            }
            EXPECT_GT(stale, 200u);
            const ReadCache::Counters& c = cache.counters();
            EXPECT_GT(c.hits, 100u);
            EXPECT_GT(slow.evicted, 100u);
            EXPECT_EQ(c.evicted, slow.evicted);
        }
}

TEST(ReadCache, AUnitThatIsAlwaysBeingReadEntersWithTheFirstRead) {
    ReadCache cache(config(8, ReadCacheReplacement::lru), kUnit);
    const std::uint32_t first = cache.begin_fill(Lpa{3}), second = cache.begin_fill(Lpa{3});
    cache.end_fill(first, {Lpa{3}, 1, 0, {}});
    ASSERT_NE(cache.look_up(Lpa{3}), nullptr);
    cache.end_fill(second, {Lpa{3}, 1, 0, {}});
    EXPECT_EQ(cache.counters().filled, 1u);
    EXPECT_EQ(cache.fills(), 0u);
    // A write outdates both, and a read behind it counts.
    const std::uint32_t old = cache.begin_fill(Lpa{4}), older = cache.begin_fill(Lpa{4});
    cache.drop(Lpa{4});
    const std::uint32_t fresh = cache.begin_fill(Lpa{4});
    cache.end_fill(old, {Lpa{4}, 1, 0, {}});
    cache.end_fill(older, {Lpa{4}, 1, 0, {}});
    EXPECT_EQ(cache.find(Lpa{4}), nullptr);
    cache.end_fill(fresh, {Lpa{4}, 2, 0, {}});
    ASSERT_NE(cache.find(Lpa{4}), nullptr);
    EXPECT_EQ(cache.find(Lpa{4})->version, 2u);
}

// What a tenant reads takes the place of units in its part only; a hit of another's counts there.
TEST(ReadCache, PartsOfTenantsAreLikeCachesOfTheirOwn) {
    for (const auto replacement : {ReadCacheReplacement::lru, ReadCacheReplacement::fifo}) {
        const bool lru = replacement == ReadCacheReplacement::lru;
        ReadCacheConfig shape = config(20, replacement);
        shape.quotas = {50, 20};
        ReadCache cache(shape, kUnit);
        std::vector<SlowCache> parts{{10, lru}, {4, lru}, {6, lru}};
        std::map<std::uint32_t, std::uint32_t> part_of;
        Random random(5, lru);
        for (int step = 0; step < 30'000; ++step) {
            const auto lpa = static_cast<std::uint32_t>(random.below(60));
            const auto tenant = static_cast<std::uint16_t>(random.below(5));
            const std::uint32_t part = tenant == 1 ? 0 : tenant == 2 ? 1 : 2;
            if (random.percent(5)) {
                cache.drop(Lpa{lpa});
                for (SlowCache& p : parts) p.drop(lpa, 1);
                continue;
            }
            bool there = false;
            for (SlowCache& p : parts) there = p.look_up(lpa).has_value() || there;
            ASSERT_EQ(cache.look_up(Lpa{lpa}) != nullptr, there) << "step " << step;
            if (there) continue;
            if (random.percent(50))
                cache.end_fill(cache.begin_fill(Lpa{lpa}), {Lpa{lpa}, 1, 0, {}}, tenant);
            else
                cache.keep({Lpa{lpa}, 1, 0, {}}, 0, tenant);
            parts[part].insert(lpa, 1);
            ASSERT_EQ(cache.used(), parts[0].size() + parts[1].size() + parts[2].size());
        }
        EXPECT_EQ(cache.counters().evicted, parts[0].evicted + parts[1].evicted + parts[2].evicted);
        for (const SlowCache& p : parts) EXPECT_GT(p.evicted, 300u);
    }
}

/// Hits of independent draws with these weights, all misses filled.
double hit_ratio(const std::vector<double>& cumulative, std::uint32_t room, ReadCacheReplacement replacement) {
    ReadCache cache(config(room, replacement), kUnit);
    Random random(11, room);
    const int draws = 600'000, warm = 200'000;
    std::uint64_t hits = 0;
    for (int i = 0; i < draws; ++i) {
        const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), random.unit() * cumulative.back());
        const Lpa lpa{static_cast<std::uint32_t>(
            std::min<std::size_t>(static_cast<std::size_t>(at - cumulative.begin()), cumulative.size() - 1))};
        if (cache.look_up(lpa) != nullptr)
            hits += i >= warm;
        else
            cache.end_fill(cache.begin_fill(lpa), {lpa, 0, 0, {}});
    }
    return static_cast<double>(hits) / (draws - warm);
}

/// Che et al. 2002 for LRU; for FIFO a unit stays for a time T from its entry: p T / (1 + p T) (Fricker et al. 2012).
double theory(const std::vector<double>& p, std::uint32_t room, bool lru) {
    const auto in = [lru](double pt) { return lru ? 1 - std::exp(-pt) : pt / (1 + pt); };
    double low = 0, high = 1e12;
    for (int i = 0; i < 200; ++i) {
        const double t = (low + high) / 2;
        double held = 0;
        for (const double x : p) held += in(x * t);
        (held < room ? low : high) = t;
    }
    double hit = 0;
    for (const double x : p) hit += x * in(x * low);
    return hit;
}

TEST(ReadCache, HitRatiosAreThoseOfTheory) {
    constexpr std::uint32_t kUnits = 10'000;
    for (const double exponent : {0.0, 0.8, 1.2}) {
        std::vector<double> p(kUnits), cumulative(kUnits);
        double sum = 0;
        for (std::uint32_t i = 0; i < kUnits; ++i) sum += p[i] = std::pow(i + 1.0, -exponent);
        for (std::uint32_t i = 0; i < kUnits; ++i) cumulative[i] = (i == 0 ? 0 : cumulative[i - 1]) + (p[i] /= sum);
        for (const std::uint32_t room : {200u, 1000u, 4000u})
            for (const auto replacement : {ReadCacheReplacement::lru, ReadCacheReplacement::fifo}) {
                const bool lru = replacement == ReadCacheReplacement::lru;
                const double hit = hit_ratio(cumulative, room, replacement), expected = theory(p, room, lru);
                std::printf("[   FIGURE ] Zipf %.1f, %u of %u units, %s: hit ratio %.4f, theory %.4f\n", exponent, room,
                            kUnits, lru ? "lru" : "fifo", hit, expected);
                EXPECT_NEAR(hit, expected, 0.005);
            }
    }
}

}  // namespace
}  // namespace ssdtlm
