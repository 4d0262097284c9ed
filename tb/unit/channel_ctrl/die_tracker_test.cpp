// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/die_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace ssdtlm {
namespace {

NandConfig config(std::uint32_t dies, std::uint32_t planes, bool independent) {
    NandConfig c;
    c.geometry.ways = dies;
    c.geometry.planes_per_die = planes;
    c.independent_plane_read = independent;
    return c;
}

TEST(DieTracker, ADieTakesWorkWhenNothingRuns) {
    DieTracker t(config(3, 2, false), 5);
    EXPECT_EQ(t.query().channel, 5);
    EXPECT_EQ(t.query().idle_dies, 7u);
    EXPECT_FALSE(t.could_start());
    t.queued(1);
    EXPECT_TRUE(t.could_start());
    FlashTransaction read;
    read.plane = 1;
    t.occupy(1, read);
    EXPECT_FALSE(t.could_start()) << "one plane keeps the die";
    EXPECT_FALSE(t.accepts(1));
    EXPECT_EQ(&t.active(1, 1), &read);
    EXPECT_EQ(&t.release(1, 1), &read);
    EXPECT_TRUE(t.idle_die_has_work());
    t.left(1, 1);
    EXPECT_FALSE(t.could_start());
    EXPECT_EQ(t.inconsistency(), "");
}

TEST(DieTracker, DumpNamesWhatWaitsAndRuns) {
    DieTracker t(config(4, 2, false), 0);
    FlashTransaction erase;
    erase.op = FlashOp::erase;
    erase.address.block = 9;
    t.occupy(2, erase);
    t.queued(2);
    t.queued(2);
    EXPECT_EQ(t.dump(SimTime{Ps{70}}), "  die 2: waiting 2; plane 0 erase block 9 page 0 since 70 ps\n");
}

TEST(DieTracker, HasABitForEachDie) {
    for (const std::uint32_t dies : {1u, 63u, kMaxDiesPerChannel}) {
        const DieTracker t(config(dies, 1, false), 0);
        for (std::uint32_t d = 0; d < kMaxDiesPerChannel; ++d) EXPECT_EQ(t.idle(d), d < dies) << d << " of " << dies;
    }
    EXPECT_THROW(DieTracker(config(kMaxDiesPerChannel + 1, 1, false), 0), Panic);
}

/// Random work against sets kept by plane: with and without independent plane reads.
TEST(DieTracker, AgreesWithASetPerPlane) {
    constexpr std::uint32_t kDies = 5, kPlanes = kMaxPlanes;
    for (const bool independent : {false, true}) {
        std::mt19937 random(11);
        DieTracker t(config(kDies, kPlanes, independent), 0);
        std::array<std::array<FlashTransaction, kPlanes>, kDies> txn{};
        std::array<std::array<bool, kPlanes>, kDies> runs{};
        std::array<std::uint32_t, kDies> waiting{};
        const auto any = [&](std::uint32_t d) { return std::count(runs[d].begin(), runs[d].end(), true) != 0; };
        const auto other_than_read = [&](std::uint32_t d) {
            for (std::uint32_t p = 0; p < kPlanes; ++p)
                if (runs[d][p] && txn[d][p].op != FlashOp::read) return true;
            return false;
        };
        const auto plane_idle = [&](std::uint32_t d, std::uint32_t p) { return !runs[d][p] && !other_than_read(d); };
        std::uint32_t started = 0;
        for (int step = 0; step < 20'000; ++step) {
            const auto d = static_cast<std::uint32_t>(random() % kDies),
                       p = static_cast<std::uint32_t>(random() % kPlanes);
            const auto op = static_cast<FlashOp>(random() % 3);
            if (random() % 5 == 0) {
                t.queued(d);
                ++waiting[d];
            } else if (waiting[d] != 0 && random() % 5 == 0) {
                t.left(d, 1);
                --waiting[d];
            } else if (runs[d][p]) {
                t.release(d, p);
                runs[d][p] = false;
            } else if (!any(d) || (independent && op == FlashOp::read && plane_idle(d, p))) {
                // A program or an erase may take several planes at once.
                for (std::uint32_t q = p; q < (op == FlashOp::read ? p + 1 : kPlanes); ++q) {
                    txn[d][q].op = op;
                    txn[d][q].plane = static_cast<std::uint8_t>(q);
                    t.occupy(d, txn[d][q]);
                    runs[d][q] = true;
                    ++started;
                }
            }
            bool could = false, runs_any = false;
            std::uint32_t waits = 0;
            for (std::uint32_t die = 0; die < kDies; ++die) {
                bool some_plane = false;
                for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
                    some_plane = some_plane || plane_idle(die, plane);
                    ASSERT_EQ((t.query().idle_read_planes[plane] >> die & 1u) != 0,
                              independent && plane_idle(die, plane))
                        << step;
                }
                ASSERT_EQ(t.idle(die), !any(die));
                ASSERT_EQ(t.accepts(die), independent ? !any(die) || some_plane : !any(die));
                could = could || (waiting[die] != 0 && t.accepts(die));
                runs_any = runs_any || any(die);
                waits += waiting[die];
                ASSERT_EQ(t.waiting(die), waiting[die]);
            }
            ASSERT_EQ(t.anything_runs(), runs_any);
            ASSERT_EQ(t.waiting(), waits);
            ASSERT_EQ(t.could_start(), could);
            ASSERT_EQ(t.inconsistency(), "");
        }
        EXPECT_GT(started, 2'000u);
    }
}

}  // namespace
}  // namespace ssdtlm
