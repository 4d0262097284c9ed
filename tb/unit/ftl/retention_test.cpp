// SPDX-License-Identifier: Apache-2.0
// What is moved because it is old.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "controller/precondition/precondition.h"
#include "controller/refresh/refresh.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

class RetentionTest : public testing::TestWithParam<SuperblockSpan> {
protected:
    static constexpr std::uint32_t kLooks = 10;
    static FtlConfig config(const NandGeometry& g, double share) {
        FtlConfig c = test::small_config(g, share, GetParam());
        c.initial_state = InitialState::sequential;
        c.refresh_age = Age::of(1ms);
        c.refresh_interval = Age::of(100us);
        return c;
    }
    struct Held : Device {
        Held(double share, bool written_now) : Device(config(test::small_geometry(), share), test::small_geometry()) {
            Preconditioner(ftl).run();
            ftl.feature<Refresh>()->start_ages(written_now);
        }
    };
    static void collect_all(Device& d) {
        for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n)
            while (d.ftl.wants_collection(GroupId{n}) && d.collect(GroupId{n})) {
            }
    }
    static std::uint32_t sealed(const Device& d) {
        std::uint32_t n = 0;
        for (std::uint32_t g = 0; g < d.ftl.shape().groups(); ++g) n += d.ftl.count(GroupId{g}, BlockState::sealed);
        return n;
    }
};

// Nothing is written: in each age every superblock is moved once, as many with each look, give or take one, and the one
// that was moved first again first.
TEST_P(RetentionTest, ADriveAtRestMovesAllOfItOnceAnAge) {
    Held d(0.5, false);
    const std::uint32_t held = sealed(d);
    ASSERT_GE(held, 40u / d.ftl.shape().planes());
    ASSERT_EQ(std::uint64_t{held} * d.ftl.shape().units(), d.ftl.mapped_units());
    for (std::uint32_t age = 1; age <= 3; ++age) {
        for (std::uint32_t look = 0; look < kLooks; ++look) {
            const std::uint64_t before = d.ftl.counters().refresh_victims;
            d.ftl.feature<Refresh>()->look_at_ages();
            collect_all(d);
            const std::uint64_t moved = (d.ftl.counters().refresh_victims - before) / d.ftl.shape().planes();
            EXPECT_GE(moved, held / kLooks) << "look " << look;
            EXPECT_LE(moved, held / kLooks + 1) << "look " << look;
        }
        EXPECT_EQ(d.ftl.counters().refresh_victims, std::uint64_t{age} * held * d.ftl.shape().planes());
        EXPECT_EQ(d.ftl.counters().aged_superblocks, std::uint64_t{age} * held);
    }
    EXPECT_EQ(d.ftl.counters().refresh_units, 3 * d.ftl.mapped_units());
    EXPECT_EQ(d.ftl.counters().gc_units_moved, d.ftl.counters().refresh_units);
    d.ftl.verify_books();
}

TEST_P(RetentionTest, AgesThatBeginNowAreReachedTogether) {
    Held d(0.5, true);
    const std::uint32_t held = sealed(d);
    for (std::uint32_t look = 1; look < kLooks; ++look) {
        d.ftl.feature<Refresh>()->look_at_ages();
        collect_all(d);
        ASSERT_EQ(d.ftl.counters().victims, 0u) << "look " << look;
    }
    d.ftl.feature<Refresh>()->look_at_ages();
    collect_all(d);
    EXPECT_EQ(d.ftl.counters().refresh_victims, std::uint64_t{held} * d.ftl.shape().planes());
}

// Against ages of the test's own, by the first page of each superblock: under writes none that is full is older than is
// allowed, but while its group is short of blocks; and none is moved that is younger.
TEST_P(RetentionTest, NothingGrowsTooOldBesideWrites) {
    Held d(0.6, true);
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>
        begun;  // by superblock: erases when it was seen first, looks before that
    std::uint32_t looks = 0, waited = 0;
    const auto see_all = [&] {
        for (std::uint32_t b = 0; b < d.ftl.shape().superblocks(); ++b) {
            if (d.ftl.superblock(SuperblockId{b}).write_pointer == 0) continue;
            const std::uint32_t erases = d.ftl.erases(SuperblockId{b});
            const auto [at, is_new] = begun.try_emplace(b, erases, looks);
            if (!is_new && at->second.first != erases) at->second = {erases, looks};
        }
    };
    see_all();
    Random random(7);
    const std::uint64_t units = d.ftl.logical_units();
    for (int i = 0; i < 60000; ++i) {
        if (i % 300 == 299) {
            const std::uint64_t before = d.ftl.counters().aged_superblocks;
            std::uint32_t due = 0;
            for (const auto& [b, since] : begun)
                due += d.ftl.superblock(SuperblockId{b}).state == BlockState::sealed &&
                       d.ftl.erases(SuperblockId{b}) == since.first && looks + 1 - since.second >= kLooks;
            d.ftl.feature<Refresh>()->look_at_ages();
            ++looks;
            ASSERT_LE(d.ftl.counters().aged_superblocks - before, due);
            collect_all(d);
            see_all();
            for (const auto& [b, since] : begun) {
                const SuperblockId id{b};
                if (d.ftl.superblock(id).write_pointer == 0) continue;
                ASSERT_EQ(d.ftl.feature<Refresh>()->ages()->age(id), looks - since.second) << "superblock " << b;
                const bool too_old = looks - since.second >= kLooks && d.ftl.superblock(id).state == BlockState::sealed;
                waited += too_old;
                // One that was full only after the look waits for the next.
                ASSERT_FALSE(looks - since.second > kLooks + 1 && too_old && !d.ftl.gc_hard(d.ftl.shape().group_of(id)))
                    << "superblock " << b;
            }
        }
        // Some of it never.
        std::vector<Lpa> unit{Lpa{static_cast<std::uint32_t>(random.below(units / 2))}};
        while (!d.write(unit))
            for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n) d.collect(GroupId{n});
        see_all();
    }
    std::printf("%u looks; %u blocks refreshed, of %u erased; %u times one was too old while blocks were short\n",
                looks, static_cast<unsigned>(d.ftl.counters().refresh_victims),
                static_cast<unsigned>(d.ftl.counters().blocks_erased), waited);
    EXPECT_GT(d.ftl.counters().refresh_victims, 100u);
    EXPECT_GT(d.ftl.counters().victims, d.ftl.counters().refresh_victims + 100);
    d.ftl.verify_books();
}

INSTANTIATE_TEST_SUITE_P(Spans, RetentionTest, testing::Values(SuperblockSpan::plane, SuperblockSpan::die));

}  // namespace
}  // namespace ssdtlm
