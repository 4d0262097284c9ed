// SPDX-License-Identifier: Apache-2.0
// The cached mapping table against a plain list that does the same, and its hit ratios against theory.
#include "controller/map/cached/cached_mapping_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "common/random/random.h"
#include "support/memory_snapshot.h"

namespace ssdtlm {
namespace {

using Table = CachedMappingTable;

/// Two lists, hottest first, and sets.
class PlainTable {
public:
    PlainTable(std::size_t most_protected, bool segmented) : most_protected_(most_protected), segmented_(segmented) {}
    bool has(std::uint32_t key) const { return kept_.count(key) != 0; }
    void use(std::uint32_t key) {
        if (pins_[key] != 0) {
            kept_[key] = segmented_;
            return;
        }
        leave(key);
        kept_[key] = segmented_;
        enter(key);
    }
    void add(std::uint32_t key) {
        kept_[key] = false;
        pins_[key] = 0;
        enter(key);
    }
    void pin(std::uint32_t key) {
        if (pins_[key]++ == 0) leave(key);
    }
    void unpin(std::uint32_t key) {
        if (--pins_[key] == 0) enter(key);
    }
    void remove(std::uint32_t key) {
        leave(key);
        kept_.erase(key);
        pins_.erase(key);
    }
    std::vector<std::uint32_t> coldest_first() const {
        std::vector<std::uint32_t> all(once_.rbegin(), once_.rend());
        all.insert(all.end(), again_.rbegin(), again_.rend());
        return all;
    }
    std::set<std::uint32_t> dirty;
    std::map<std::uint32_t, std::uint32_t> pins_;

private:
    void leave(std::uint32_t key) { (kept_[key] ? again_ : once_).remove(key); }
    void enter(std::uint32_t key) {
        (kept_[key] ? again_ : once_).push_front(key);
        if (again_.size() <= most_protected_) return;
        const std::uint32_t demoted = again_.back();
        again_.pop_back();
        kept_[demoted] = false;
        once_.push_front(demoted);
    }
    const std::size_t most_protected_;
    const bool segmented_;
    std::list<std::uint32_t> once_, again_;
    std::map<std::uint32_t, bool> kept_;
};

TEST(CachedMappingTable, DoesWhatAPlainListDoes) {
    constexpr std::uint32_t kPerPage = 4, kKeys = 80;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const bool segmented = seed % 2 == 0;
        Random random(seed, 1);
        Table table(
            {16, kKeys / kPerPage, kPerPage, segmented ? MapReplacement::segmented_lru : MapReplacement::lru, 50});
        PlainTable plain(8, segmented);
        for (int n = 0; n < 20000; ++n) {
            const auto key = static_cast<std::uint32_t>(random.below(kKeys));
            const Table::Slot s = table.find(key);
            ASSERT_EQ(s != Table::kNone, plain.has(key));
            const std::uint64_t what = random.below(6);
            if (s == Table::kNone) {
                table.add(key);
                plain.add(key);
            } else if (what == 0 && plain.pins_.at(key) < 3) {
                table.pin(s);
                plain.pin(key);
            } else if (what <= 2 && plain.pins_.at(key) != 0) {
                table.unpin(s);
                plain.unpin(key);
            } else if (what == 3) {
                table.make_dirty(s);
                plain.dirty.insert(key);
            } else if (what == 4) {
                std::set<std::uint32_t> cleaned;
                table.clean(table.page_of(key), [&](Table::Slot c) { cleaned.insert(table.key(c)); });
                std::set<std::uint32_t> expected;
                for (auto i = plain.dirty.begin(); i != plain.dirty.end();) {
                    if (*i / kPerPage == key / kPerPage) {
                        expected.insert(*i);
                        i = plain.dirty.erase(i);
                    } else {
                        ++i;
                    }
                }
                ASSERT_EQ(cleaned, expected);
            } else {
                table.use(s);
                plain.use(key);
            }
            while (table.size() > table.room()) {
                Table::Slot leaves = table.coldest();
                while (leaves != Table::kNone && table.is_dirty(leaves)) leaves = table.next_coldest(leaves);
                if (leaves == Table::kNone) break;
                plain.remove(table.key(leaves));
                table.remove(leaves);
            }
            if (n % 16 != 0) continue;
            std::vector<std::uint32_t> order;
            for (Table::Slot i = table.coldest(); i != Table::kNone; i = table.next_coldest(i))
                order.push_back(table.key(i));
            ASSERT_EQ(order, plain.coldest_first()) << "seed " << seed << " step " << n;
            std::uint64_t pinned = 0;
            for (const auto& [k, pins] : plain.pins_) pinned += pins != 0;
            ASSERT_EQ(table.pinned(), pinned);
            for (std::uint32_t page = 0; page < kKeys / kPerPage; ++page)
                ASSERT_EQ(table.dirty_in(page),
                          std::count_if(plain.dirty.begin(), plain.dirty.end(),
                                        [page](std::uint32_t k) { return k / kPerPage == page; }));
        }
    }
}

/// Share of the draws that are found, after the table has been full for long.
template <class Draw>
double hit_ratio(Table& table, Draw draw, std::uint64_t warm, std::uint64_t measured) {
    std::uint64_t hits = 0;
    for (std::uint64_t n = 0; n < warm + measured; ++n) {
        const std::uint32_t key = draw();
        const Table::Slot s = table.find(key);
        if (s != Table::kNone) {
            table.use(s);
            hits += n >= warm;
            continue;
        }
        table.add(key);
        if (table.size() > table.room()) table.remove(table.coldest());
    }
    return static_cast<double>(hits) / static_cast<double>(measured);
}

Table table_of(std::uint64_t slots, std::uint32_t keys, MapReplacement replacement = MapReplacement::lru) {
    return Table({slots, (keys + 1023) / 1024, 1024, replacement, 50});
}

// Against a list for each part; the one that is furthest beyond its size gives way, and what one does not use others
// do.
TEST(CachedMappingTable, PartsOfTenantsAsPlainLists) {
    constexpr std::uint32_t kKeys = 90;
    const std::vector<std::size_t> room{20, 10, 10};  // tenants 1, 2, others
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Random random(seed, 3);
        Table table({40, kKeys, 1, MapReplacement::lru, 50, {50, 25}});
        std::vector<std::list<std::uint32_t>> parts(3);  // coldest first
        std::uint64_t lent = 0;
        for (int n = 0; n < 20'000; ++n) {
            const auto tenant = static_cast<std::uint16_t>(n / 2000 % 3 == 0 ? random.below(4) : 1 + random.below(2));
            const std::size_t part = tenant == 1 ? 0 : tenant == 2 ? 1 : 2;
            const auto key = static_cast<std::uint32_t>(random.below(kKeys));
            const Table::Slot s = table.find(key);
            bool there = false;
            for (auto& p : parts)
                if (const auto i = std::find(p.begin(), p.end(), key); i != p.end()) {
                    there = true;
                    p.splice(p.end(), p, i);
                }
            ASSERT_EQ(s != Table::kNone, there) << n;
            if (there) {
                table.use(s);
                continue;
            }
            table.add(key, tenant);
            parts[part].push_back(key);
            lent += parts[part].size() > room[part];
            if (table.size() <= table.room()) continue;
            std::size_t gives = 0;
            std::int64_t most = -1'000;
            for (std::size_t p = 0; p < 3; ++p)
                if (const auto beyond = static_cast<std::int64_t>(parts[p].size()) - static_cast<std::int64_t>(room[p]);
                    !parts[p].empty() && beyond > most)
                    most = beyond, gives = p;
            ASSERT_EQ(table.key(table.coldest()), parts[gives].front()) << n;
            parts[gives].pop_front();
            table.remove(table.coldest());
            for (const std::uint16_t t : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{0}})
                ASSERT_EQ(table.size_of(t), parts[t == 1 ? 0 : t == 2 ? 1 : 2].size());
        }
        EXPECT_GT(lent, 500u);
    }
}

// Uniform draws: what is in the table is any C of N.
TEST(CachedMappingTable, UniformDrawsHitAsOftenAsTheShareThatIsCached) {
    constexpr std::uint32_t kKeys = 20000;
    constexpr std::uint64_t kDraws = 1'000'000;
    for (const std::uint64_t slots : {200u, 2000u, 10000u, 19000u}) {
        Table table = table_of(slots, kKeys);
        Random random(slots, 2);
        const double hit = hit_ratio(
            table, [&] { return static_cast<std::uint32_t>(random.below(kKeys)); }, 200'000, kDraws);
        const double expected = static_cast<double>(slots) / kKeys,
                     sigma = std::sqrt(expected * (1 - expected) / kDraws);
        std::printf("[   FIGURE ] %llu of %u entries cached: hit ratio %.5f, C/N %.5f (%+.2f sigma)\n",
                    static_cast<unsigned long long>(slots), kKeys, hit, expected, (hit - expected) / sigma);
        EXPECT_NEAR(hit, expected, 3 * sigma);
    }
}

/// Che, Tung and Wang, "Hierarchical web caching systems", JSAC 2002: an entry is there if it was drawn within the time
/// T in which C different ones are.
double che(const std::vector<double>& p, double slots) {
    double low = 0, high = 1e12;
    for (int i = 0; i < 200; ++i) {
        const double t = (low + high) / 2;
        double sum = 0;
        for (const double q : p) sum += 1 - std::exp(-q * t);
        (sum < slots ? low : high) = t;
    }
    double hit = 0;
    for (const double q : p) hit += q * (1 - std::exp(-q * low));
    return hit;
}

TEST(CachedMappingTable, ZipfDrawsHitAsCheSays) {
    constexpr std::uint32_t kKeys = 20000;
    for (const double theta : {0.6, 0.9, 1.2}) {
        std::vector<double> p(kKeys), upto(kKeys);
        double sum = 0;
        for (std::uint32_t i = 0; i < kKeys; ++i) sum += p[i] = std::pow(i + 1, -theta);
        double so_far = 0;
        for (std::uint32_t i = 0; i < kKeys; ++i) upto[i] = so_far += p[i] /= sum;
        for (const std::uint64_t slots : {200u, 2000u, 10000u}) {
            Random random(slots, 3);
            const auto draw = [&] {
                const double u = static_cast<double>(random.below(std::uint64_t{1} << 53)) / 9007199254740992.0;
                return static_cast<std::uint32_t>(
                    std::min<std::ptrdiff_t>(std::upper_bound(upto.begin(), upto.end(), u) - upto.begin(), kKeys - 1));
            };
            Table lru = table_of(slots, kKeys), segmented = table_of(slots, kKeys, MapReplacement::segmented_lru);
            const double hit = hit_ratio(lru, draw, 500'000, 1'000'000),
                         kept = hit_ratio(segmented, draw, 500'000, 1'000'000);
            const double expected = che(p, static_cast<double>(slots));
            std::printf("[   FIGURE ] Zipf %.1f, %llu of %u entries cached: LRU %.4f, Che %.4f, segmented LRU %.4f\n",
                        theta, static_cast<unsigned long long>(slots), kKeys, hit, expected, kept);
            EXPECT_NEAR(hit, expected, 0.02);
            EXPECT_GT(kept, hit - 0.002);  // what was used again is worth keeping
        }
    }
}

// A damaged file may give a page the list of dirty entries of another one.
TEST(CachedMappingTable, RefusesTheListOfAnotherPage) {
    const CachedMappingTable::Shape shape{4, 2, 8};
    CachedMappingTable table(shape);
    table.make_dirty(table.add(3));
    table.make_dirty(table.add(9));
    MemorySnapshot written;
    table.state(written);
    CachedMappingTable same(shape);
    MemorySnapshot whole(written.data);
    same.state(whole);
    EXPECT_EQ(same.dirty_in(0), 1u);
    EXPECT_EQ(same.dirty_in(1), 1u);
    // It ends with two tables of one number of four bytes for each page: first entries, and counts. Their sizes precede
    // them.
    std::vector<char> damaged = written.data;
    const auto first_entries = damaged.end() - 8 - 8 - 8;
    std::swap_ranges(first_entries, first_entries + 4, first_entries + 4);
    MemorySnapshot wrong(damaged);
    CachedMappingTable other(shape);
    EXPECT_ANY_THROW(other.state(wrong));
}

}  // namespace
}  // namespace ssdtlm
