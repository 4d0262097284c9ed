// SPDX-License-Identifier: Apache-2.0
// Pool and Handle against a list of who is in use, over random sequences of acquire and release.
#include "common/containers/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

struct Thing {
    std::uint64_t owner = 0;
    std::vector<int> kept;
};

TEST(Pool, HandlesNameOneUse) {
    Pool<Thing> pool;
    Thing& a = pool.acquire();
    const Handle<Thing> first = Pool<Thing>::handle_of(a);
    EXPECT_EQ(&pool.at(first), &a);
    EXPECT_EQ(&pool.at(first.number()), &a);
    a.kept.assign(3, 7);
    pool.release(a);
    EXPECT_EQ(pool.find(first), nullptr);
    EXPECT_THROW(pool.at(first), Panic);
    EXPECT_THROW(pool.release(a), Panic);
    Thing& again = pool.acquire();
    EXPECT_EQ(&again, &a) << "last given back, first out";
    EXPECT_EQ(again.kept.size(), 3u) << "it keeps its memory";
    EXPECT_EQ(pool.find(first), nullptr);
    EXPECT_NE(Pool<Thing>::handle_of(again), first);
    EXPECT_EQ(pool.find(Handle<Thing>{}), nullptr);
    EXPECT_EQ(pool.find(Handle<Thing>::of(~std::uint64_t{0})), nullptr);
}

// Every handle ever given is asked for again: it finds its object exactly while that use lasts.
TEST(Pool, RandomStaleHandles) {
    std::uint64_t stale = 0, live = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        Pool<Thing> pool;
        struct Use {
            Handle<Thing> handle;
            Thing* object;
            std::uint64_t owner;
            bool ended;
        };
        std::vector<Use> uses;
        std::vector<std::size_t> open;  // indices into uses
        std::set<std::uint64_t> numbers;
        std::vector<Thing*> given_back;
        std::size_t most = 0;
        for (std::uint64_t step = 0; step < 4000; ++step) {
            if (open.empty() || random.below(100) < (step / 500 % 2 == 0 ? 60u : 40u)) {
                Thing& t = pool.acquire();
                if (!given_back.empty()) {
                    ASSERT_EQ(&t, given_back.back());
                    given_back.pop_back();
                }
                t.owner = step + 1;
                uses.push_back({Pool<Thing>::handle_of(t), &t, t.owner, false});
                ASSERT_TRUE(numbers.insert(uses.back().handle.number()).second) << "a handle was given twice";
                ASSERT_EQ(uses.back().handle.number() >> 63, 0u);
                open.push_back(uses.size() - 1);
                most = std::max(most, open.size());
            } else {
                const std::size_t i = random.below(static_cast<std::uint32_t>(open.size()));
                Use& use = uses[open[i]];
                pool.release(*use.object);
                given_back.push_back(use.object);
                use.ended = true;
                open[i] = open.back();
                open.pop_back();
            }
            ASSERT_EQ(pool.in_use(), open.size());
            ASSERT_EQ(pool.size(), most) << "no object is made while one is free";
            for (int probe = 0; probe < 8; ++probe) {
                const Use& use = uses[random.below(static_cast<std::uint32_t>(uses.size()))];
                Thing* const found = pool.find(use.handle);
                ASSERT_EQ(found, use.ended ? nullptr : use.object);
                if (found != nullptr) {
                    ASSERT_EQ(found->owner, use.owner);
                }
                ++(use.ended ? stale : live);
            }
        }
        std::size_t seen = 0;
        pool.for_each([&seen](const Thing&) { ++seen; });
        EXPECT_EQ(seen, open.size());
    }
    std::printf("handles asked: %llu stale, %llu live\n", static_cast<unsigned long long>(stale),
                static_cast<unsigned long long>(live));
    EXPECT_GT(stale, 100'000u);
    EXPECT_GT(live, 10'000u);
}

}  // namespace
}  // namespace ssdtlm
