// SPDX-License-Identifier: Apache-2.0
#include "common/latency/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace ssdtlm {
namespace {

using Kind = PathResource::Kind;

SimTime at(std::int64_t ps) {
    return SimTime{Ps{ps}};
}

Occupancy::Size small() {
    return {2, 2, 2, false, 1};
}

std::int64_t held(const PathStep& s, Kind kind) {
    std::int64_t sum = 0;
    for (const Holder& h : s.holders)
        if (h.resource.kind == kind) sum += (h.to - h.from).count();
    return sum;
}

TEST(Timeline, KeepsItsStepsInOrder) {
    Timeline t, part;
    t.begin(at(100));
    t.charge(Stage::submit, at(110));
    t.charge(Stage::firmware, at(110));  // no time: no step
    part.begin(at(110));
    part.charge(Stage::die_wait_gc, at(150));
    part.begins({7, 3, true});
    part.charge(Stage::channel, at(160));
    part.charge(Stage::array, at(200));
    part.charge(Stage::channel, at(210));
    t.append(part);
    t.charge(Stage::completion, at(215));
    std::vector<std::string> steps;
    const SimTime known = t.for_each_step(
        [&](Stage s, SimTime from, SimTime to) {
            steps.push_back(stage_name(s) + std::string(" ") + std::to_string(from.time_since_epoch().count()) + "-" +
                            std::to_string(to.time_since_epoch().count()));
        },
        [&](const FlashOperation& o) {
            steps.push_back("operation " + std::to_string(o.number) + " plane " + std::to_string(o.plane));
        });
    EXPECT_EQ(known, t.last());
    EXPECT_EQ(steps,
              (std::vector<std::string>{"submit 100-110", "die_wait_gc 110-150", "operation 7 plane 3",
                                        "channel 150-160", "array 160-200", "channel 200-210", "completion 210-215"}));
}

/// What is beyond the kept steps is there as one, with the right sums.
TEST(CriticalPath, MoreStepsThanAreKept) {
    const Occupancy occupancy(small());
    for (std::uint32_t steps = Timeline::kSteps - 2; steps <= Timeline::kSteps + 40; ++steps) {
        Timeline t;
        t.begin(at(0));
        for (std::uint32_t i = 0; i < steps; ++i)
            t.charge(i % 2 == 0 ? Stage::host_transfer : Stage::firmware, at(10 * i + 7));
        const std::vector<PathStep> path = critical_path(t, occupancy);
        EXPECT_EQ(path.size(), std::min(steps, Timeline::kSteps + 1));
        EXPECT_EQ(path.back().known, steps <= Timeline::kSteps);
        SimTime now = at(0);
        Ps transfer{}, firmware{};
        for (const PathStep& s : path) {
            EXPECT_EQ(s.from, now);
            now = s.to;
            for (const auto& [stage, time] : s.stages) (stage == Stage::firmware ? firmware : transfer) += time;
        }
        EXPECT_EQ(now, t.last());
        EXPECT_EQ(transfer, t.of(Stage::host_transfer));
        EXPECT_EQ(firmware, t.of(Stage::firmware));
    }
}

TEST(CriticalPath, AReadBehindAnEraseAndTheBus) {
    Occupancy occupancy(small());
    // Die 3 is die 1 of channel 1: erased from 0 to 100. Then the bus is taken by another die's program until 130.
    occupancy.die(3).add({at(0), kNever, 5, 9, 6});
    occupancy.die(3).end(at(100));
    occupancy.bus(1).add({at(90), at(130), 6, 0, 2, 2});
    occupancy.core(0).add({at(10), at(40), 0, 77, 1});
    occupancy.core(0).add({at(40), at(45), 0, 78, 0});
    Timeline t;
    t.begin(at(20));
    t.charge(Stage::firmware_wait, at(40));
    t.charge(Stage::firmware, at(45));
    t.charge(Stage::die_wait_erase, at(100));
    t.charge(Stage::channel_wait, at(130));
    t.begins({8, 7, true});
    t.charge(Stage::channel, at(133));
    t.charge(Stage::array, at(193));
    occupancy.bus(1).add({at(180), at(205), 11, 3, 0, 1, true});
    t.charge(Stage::channel_wait, at(205));
    t.charge(Stage::channel, at(210));
    const std::vector<PathStep> path = critical_path(t, occupancy);
    ASSERT_EQ(path.size(), 7u);
    EXPECT_EQ(path[0].resource.kind, Kind::core);
    ASSERT_EQ(path[0].holders.size(), 1u);
    EXPECT_EQ(path[0].holders[0].operation.owner, 77u);
    EXPECT_EQ(path[0].holders[0].from, at(20));
    EXPECT_EQ(path[1].resource.kind, Kind::core);
    const PathStep& wait = path[2];
    EXPECT_EQ(wait.resource.kind, Kind::die);
    EXPECT_EQ(wait.resource.index, 3u);
    EXPECT_EQ(wait.operation, 8u);
    EXPECT_EQ(wait.stages,
              (std::vector<std::pair<Stage, Ps>>{{Stage::die_wait_erase, Ps{55}}, {Stage::channel_wait, Ps{30}}}));
    ASSERT_EQ(wait.holders.size(), 2u);
    EXPECT_EQ(wait.holders[0].operation.number, 5u);
    EXPECT_EQ(wait.holders[0].from, at(45));
    EXPECT_EQ(wait.holders[1].resource.kind, Kind::bus);
    EXPECT_EQ(wait.holders[1].from, at(100)) << "before, the die was not free";
    EXPECT_EQ(path[3].resource.kind, Kind::bus);
    EXPECT_EQ(path[4].resource.kind, Kind::die);
    EXPECT_EQ(path[5].resource.kind, Kind::bus);
    ASSERT_EQ(path[5].holders.size(), 1u);
    EXPECT_TRUE(path[5].holders[0].operation.data);
    EXPECT_EQ(path[5].holders[0].from, at(193));
}

TEST(CriticalPath, PlanesOnTheirOwn) {
    Occupancy occupancy({1, 2, 2, true, 1});
    // Die 1: a read of its plane 0, then a program of the whole die, in the log of each plane.
    occupancy.die(1).add({at(0), at(50), 1, 0, 0});
    for (OccupancyLog* log : {&occupancy.die(1), &occupancy.die(1) + 1}) log->add({at(50), at(90), 2, 0, 2});
    const auto wait_of = [&](bool whole_die) {
        Timeline t;
        t.begin(at(10));
        t.charge(whole_die ? Stage::die_wait_host_read : Stage::die_wait_host_write, at(90));
        t.begins({3, 3, whole_die});
        t.charge(Stage::channel, at(91));
        return critical_path(t, occupancy).front();
    };
    const PathStep of_plane = wait_of(false);  // plane 1 of die 1
    EXPECT_EQ(of_plane.resource.kind, Kind::plane);
    EXPECT_EQ(of_plane.resource.index, 3u);
    ASSERT_EQ(of_plane.holders.size(), 1u);
    EXPECT_EQ(of_plane.holders[0].operation.number, 2u);
    const PathStep of_die = wait_of(true);
    EXPECT_EQ(of_die.resource.kind, Kind::die);
    ASSERT_EQ(of_die.holders.size(), 2u) << "a program of both planes is one";
    EXPECT_EQ(held(of_die, Kind::die), 80);
}

/// Many waits behind random work: what is told is a wait's whole time, whatever is left out or forgotten.
TEST(CriticalPath, HoldersCoverTheWait) {
    std::mt19937 random(3);
    const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    std::size_t cut = 0, forgotten = 0;
    for (int round = 0; round < 2000; ++round) {
        Occupancy occupancy(small());
        // A die that is busy all the time, a bus with gaps.
        std::vector<std::int64_t> ends{0};
        const int count = 1 + static_cast<int>(below(900));
        for (int i = 0; i < count; ++i) {
            const std::int64_t from = ends.back(), to = from + 1 + below(20);
            occupancy.die(0).add(
                {at(from), at(to), static_cast<std::uint64_t>(i) + 1, 0, static_cast<std::uint8_t>(below(7))});
            ends.push_back(to);
        }
        const std::int64_t begin = below(static_cast<int>(ends.back())), end = ends.back();
        std::int64_t bus = begin;
        std::int64_t bus_held = 0;
        for (int i = 0; i < 30; ++i) {
            const std::int64_t from = bus + below(5), to = from + 1 + below(5);
            occupancy.bus(0).add({at(from), at(to), 5000u + static_cast<unsigned>(i), 0, 0});
            bus = to;
            bus_held += std::max<std::int64_t>(0, std::min(to, end + 40) - std::max(from, end));
        }
        Timeline t;
        t.begin(at(begin));
        t.charge(Stage::die_wait_gc, at(end));
        t.charge(Stage::channel_wait, at(end + 40));
        t.begins({9999, 0, true});
        t.charge(Stage::channel, at(end + 41));
        const PathStep wait = critical_path(t, occupancy).front();
        EXPECT_LE(wait.holders.size(), kMostHolders);
        EXPECT_EQ(wait.more == 0, wait.more_time == Ps{});
        EXPECT_EQ(held(wait, Kind::die) + held(wait, Kind::bus) + wait.more_time.count() + wait.forgotten.count(),
                  end - begin + bus_held);
        for (std::size_t i = 1; i < wait.holders.size(); ++i) EXPECT_LE(wait.holders[i - 1].to, wait.holders[i].from);
        cut += wait.more != 0;
        forgotten += wait.forgotten != Ps{};
    }
    std::printf("2000 waits: %zu with more than %zu operations, %zu that began before the log does\n", cut,
                kMostHolders, forgotten);
    EXPECT_GT(cut, 500u);
    EXPECT_GT(forgotten, 50u);
}

}  // namespace
}  // namespace ssdtlm
