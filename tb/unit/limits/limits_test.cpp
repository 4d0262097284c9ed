// SPDX-License-Identifier: Apache-2.0
// What a verdict says of given busy shares and waits. That it is true of a device is tb/limits' business.
#include "sim/limits/limits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ssdtlm {
namespace {

ResourceUse resource(const char* name, const std::vector<double>& busy) {
    ResourceUse r;
    r.name = name;
    r.members = static_cast<std::uint32_t>(busy.size());
    r.busy = busy;
    for (const double u : busy) r.mean += u / static_cast<double>(busy.size());
    r.max = *std::max_element(busy.begin(), busy.end());
    r.busiest = std::string(name) + " 0";
    return r;
}
ResourceUse even(const char* name, std::size_t members, double busy) {
    return resource(name, std::vector<double>(members, busy));
}

WaitShares waits(std::initializer_list<std::pair<WaitKind, double>> all) {
    WaitShares shares{};
    for (const auto& [kind, share] : all) shares[static_cast<std::size_t>(kind)] = share;
    return shares;
}

// N commands on M equal stations keep each busy for N / (N + M - 1) of the time.
TEST(Limits, EqualStationsGainWhatTheFormulaSays) {
    for (const double members : {2.0, 8.0, 64.0})
        for (const double commands : {4.0, 16.0, 500.0}) {
            const auto busy = [members](double n) { return n / (n + members - 1); };
            const std::vector<ResourceUse> dies = {even("die", static_cast<std::size_t>(members), busy(commands))};
            EXPECT_NEAR(gain_of_twice_the_load(dies), busy(2 * commands) / busy(commands) - 1, 1e-4)
                << members << " " << commands;
            // Twice as fast with the same number of commands: twice the throughput.
            EXPECT_NEAR(gain_of_twice_the_speed(dies, {0}), 1.0, 1e-4) << members << " " << commands;
        }
}

TEST(Limits, AFullResourceLimitsWhateverWaitsInFrontOfIt) {
    const LimitVerdict v =
        judge_limits({even("link to host", 1, 0.2), even("die", 8, 0.998)},
                     waits({{WaitKind::queue_slots, 1}, {WaitKind::buffer_room, 1}, {WaitKind::flush_depth, 1}}), {});
    EXPECT_EQ(v.kind, LimitVerdict::Kind::resource);
    EXPECT_EQ(v.names, std::vector<std::string>{"die"});
    ASSERT_TRUE(v.most);
    EXPECT_NEAR(v.most->factor, 1 / 0.998, 1e-9);
}

// What no parameter can raise is named in words; several parameters that bind alike are all named.
TEST(Limits, ABoundWithoutAParameterIsNamedInWords) {
    LimitContext context;
    context.queue_entries = {{}, "the 32 tags of NCQ"};
    LimitVerdict v = judge_limits({even("die", 8, 0.5)}, waits({{WaitKind::queue_slots, 0.9}}), context);
    EXPECT_EQ(v.kind, LimitVerdict::Kind::wait);
    EXPECT_TRUE(v.parameters.empty());
    EXPECT_EQ(v.sentence.rfind("the 32 tags of NCQ limit throughput: ", 0), 0u) << v.sentence;
    v = judge_limits({even("die", 8, 0.5)}, waits({{WaitKind::slots_filled, 1}}), context);
    EXPECT_NE(v.sentence.find("; the 32 tags of NCQ allow no more of them)"), std::string::npos) << v.sentence;
    context.queue_entries = {{"a", "b"}, {}};
    v = judge_limits({even("die", 8, 0.5)}, waits({{WaitKind::queue_slots, 0.9}}), context);
    EXPECT_EQ(v.parameters, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(v.sentence.rfind("a and b limit throughput: ", 0), 0u) << v.sentence;
}

// The host's scheduler leaves the drive empty for a part of the time; in the rest a core is full.
TEST(Limits, AResourceThatIsFullWheneverItMayLimits) {
    const auto kinds = [](double busy, double empty) {
        return judge_limits(
            {even("firmware core", 1, busy), even("die", 12, 0.46)},
            waits({{WaitKind::block_depth, 1 - empty}, {WaitKind::io_scheduler, empty}, {WaitKind::held_empty, empty}}),
            {});
    };
    EXPECT_EQ(kinds(0.94, 0.055).names, std::vector<std::string>{"firmware core"});
    EXPECT_NE(kinds(0.94, 0.055).sentence.find("leaves the drive empty for 5.5 %"), std::string::npos);
    EXPECT_EQ(kinds(0.5, 0.055).names, std::vector<std::string>{"queue depth of the block layer"});
    EXPECT_EQ(kinds(0.35, 0.65).names, std::vector<std::string>{"I/O scheduler"});
}

TEST(Limits, LimitsOfNassAreNamedWhereTheyHoldMostBack) {
    const auto by = [](double aggre, double seq) {
        return judge_limits(
            {even("die", 8, 0.5)},
            waits({{WaitKind::io_scheduler, 0.9}, {WaitKind::held_by_aggre, aggre}, {WaitKind::held_by_seq, seq}}), {});
    };
    EXPECT_EQ(by(0, 0).parameters, std::vector<std::string>{"block.scheduler"});
    EXPECT_EQ(by(0.4, 0).parameters, std::vector<std::string>{"block.scheduler"});
    EXPECT_EQ(by(0.8, 0.1).parameters, std::vector<std::string>{"block.nass.aggre"});
    EXPECT_EQ(by(0.1, 0.8).parameters, std::vector<std::string>{"block.nass.seq"});
    EXPECT_EQ(by(0.8, 0).names, std::vector<std::string>{"limits of NASS"});
}

TEST(Limits, OneFullMemberLimitsWhileTheOthersAreIdle) {
    const LimitVerdict v = judge_limits({resource("die", {0.999, 0.2, 0.2, 0.2})}, {}, {});
    EXPECT_EQ(v.names, std::vector<std::string>{"die"});
    EXPECT_NE(v.sentence.find("uneven load"), std::string::npos) << v.sentence;
}

TEST(Limits, AFullBusKeepsTheDiesThatHaveReadBusy) {
    const LimitVerdict v = judge_limits({even("channel bus", 2, 0.99), even("die", 8, 1.0)}, {}, {});
    EXPECT_EQ(v.names, std::vector<std::string>{"channel bus"});
}

TEST(Limits, TwoFullResourcesLimitTogether) {
    const LimitVerdict v = judge_limits({even("firmware core", 1, 0.999), even("die", 1, 0.999)}, {}, {});
    EXPECT_EQ(v.kind, LimitVerdict::Kind::resource);
    EXPECT_EQ(v.names.size(), 2u);
    EXPECT_NE(v.sentence.find("together"), std::string::npos) << v.sentence;
}

TEST(Limits, TheWaitNextToTheFlashLimits) {
    const std::vector<ResourceUse> resources = {even("link to host", 1, 0.1), even("die", 8, 0.5)};
    LimitVerdict v = judge_limits(resources,
                                  waits({{WaitKind::queue_slots, 1},
                                         {WaitKind::fetch_window, 1},
                                         {WaitKind::buffer_room, 1},
                                         {WaitKind::flush_depth, 1}}),
                                  {});
    EXPECT_EQ(v.parameters, std::vector<std::string>{"buffer.flush_depth_per_die"});
    EXPECT_FALSE(v.most);
    v = judge_limits(
        resources, waits({{WaitKind::queue_slots, 1}, {WaitKind::fetch_window, 1}, {WaitKind::flush_depth, 0.1}}), {});
    EXPECT_EQ(v.parameters, std::vector<std::string>{"nvme.fetch_window"});
}

TEST(Limits, DiesThatAlwaysHaveWorkAreNotKeptFromItByADepth) {
    const std::vector<ResourceUse> resources = {even("channel bus", 2, 0.7), even("die", 8, 0.93)};
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::flush_depth, 1}, {WaitKind::die_work, 1}}), {}).names,
              std::vector<std::string>{"die"});
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::flush_depth, 1}, {WaitKind::die_work, 0.93}}), {}).kind,
              LimitVerdict::Kind::wait);
}

TEST(Limits, AClockedSchedulerFillsTheTimeOfTheBus) {
    const std::vector<ResourceUse> resources = {even("channel bus", 2, 0.3), even("die", 8, 0.9)};
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::scheduler, 0.69}}), {}).parameters,
              std::vector<std::string>{"scheduler.clock"});
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::scheduler, 0.1}}), {}).kind, LimitVerdict::Kind::load);
}

TEST(Limits, PlanesThatALongerLookWouldFillAreNotFull) {
    LimitContext context;
    context.independent_planes = true;
    const std::vector<ResourceUse> resources = {even("die", 1, 1.0), even("plane", 8, 0.85)};
    EXPECT_EQ(
        judge_limits(resources, waits({{WaitKind::flash_work, 1}, {WaitKind::look_ahead, 0.15}}), context).parameters,
        std::vector<std::string>{"scheduler.look_ahead"});
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::flash_work, 1}, {WaitKind::look_ahead, 0.01}}), context).names,
              std::vector<std::string>{"plane"});
}

TEST(Limits, AFullBusLimitsThoughALongerLookWouldFillThePlanes) {
    LimitContext context;
    context.independent_planes = true;
    const std::vector<ResourceUse> resources = {even("channel bus", 1, 1.0), even("plane", 8, 0.93)};
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::look_ahead, 0.07}}), context).names,
              std::vector<std::string>{"channel bus"});
}

// A wire that carries so much, and waits for credits for the rest of the time.
TEST(Limits, ALinkThatLacksCreditsIsFull) {
    const std::vector<ResourceUse> resources = {even("link to device", 1, 0.1), even("link to host", 1, 0.6),
                                                even("die", 8, 0.5)};
    const auto judge = [&](double headers, double data, double any) {
        return judge_limits(
            resources, waits({{WaitKind::headers_up, headers}, {WaitKind::data_up, data}, {WaitKind::writes_up, any}}),
            {});
    };
    const LimitVerdict by_data = judge(0.1, 0.4, 0.4);
    EXPECT_EQ(by_data.kind, LimitVerdict::Kind::wait);
    EXPECT_EQ(by_data.parameters, std::vector<std::string>{"link.upstream_posted_data"});
    EXPECT_FALSE(by_data.most);
    EXPECT_EQ(judge(0.4, 0.0, 0.4).parameters, std::vector<std::string>{"link.upstream_posted_headers"});
    // More data credits alone would leave nearly all of the wait.
    EXPECT_EQ(judge(0.38, 0.4, 0.4).parameters,
              (std::vector<std::string>{"link.upstream_posted_headers", "link.upstream_posted_data"}));
    // A third of the time is left.
    EXPECT_EQ(judge(0.0, 0.07, 0.07).kind, LimitVerdict::Kind::load);
    // A full wire without waits is just that.
    EXPECT_EQ(
        judge_limits({even("link to host", 1, 0.999), even("die", 8, 0.5)}, waits({{WaitKind::writes_up, 0.001}}), {})
            .names,
        std::vector<std::string>{"link to host"});
    EXPECT_EQ(judge_limits({even("link to device", 1, 0.1), even("die", 8, 0.5)},
                           waits({{WaitKind::headers_down, 0.9}, {WaitKind::writes_down, 0.9}}), {})
                  .parameters,
              std::vector<std::string>{"link.downstream_posted_headers"});
}

TEST(Limits, ReadsThatLackCreditsLimitBeforeTheirTags) {
    const LimitVerdict v = judge_limits({even("link to host", 1, 0.1), even("die", 8, 0.5)},
                                        waits({{WaitKind::read_credits, 0.9},
                                               {WaitKind::read_tags, 1},
                                               {WaitKind::tags_idle, 0.9},
                                               {WaitKind::queue_slots, 1}}),
                                        {});
    EXPECT_EQ(v.parameters, std::vector<std::string>{"link.upstream_nonposted_headers"});
}

// Tags that are short while data fill the wire would only lengthen the queue for it.
TEST(Limits, TagsLimitOnlyWhileTheWireIsIdle) {
    const std::vector<ResourceUse> resources = {even("link to device", 1, 0.6), even("die", 8, 0.5)};
    const auto judge = [&](double idle) {
        return judge_limits(resources, waits({{WaitKind::read_tags, 0.6}, {WaitKind::tags_idle, idle}}), {});
    };
    EXPECT_EQ(judge(0.3).parameters, std::vector<std::string>{"link.read_tags"});
    EXPECT_EQ(judge(0.03).names, std::vector<std::string>{"depth"});
}

// The window would win 3 % at most, as the wire has no more time.
TEST(Limits, AWaitInFrontOfANearlyFullResourceDoesNotLimit) {
    const auto judge = [](double wire) {
        return judge_limits({even("link to host", 1, wire), even("die", 64, 0.5)}, waits({{WaitKind::fetch_window, 1}}),
                            {});
    };
    EXPECT_EQ(judge(0.97).names, std::vector<std::string>{"link to host"});
    EXPECT_EQ(judge(0.8).names, std::vector<std::string>{"fetch window"});
}

TEST(Limits, AProgramTakesTheWholeDieThoughItsPlanesReadByThemselves) {
    const std::vector<ResourceUse> resources = {even("die", 8, 0.99), even("plane", 32, 0.7)};
    LimitContext context;
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::buffer_room, 1}}), context).names,
              std::vector<std::string>{"die"});
    context.independent_planes = true;
    EXPECT_EQ(judge_limits(resources, waits({{WaitKind::buffer_room, 1}}), context).names,
              std::vector<std::string>{"room in the write buffer"});
}

// 32 commands in a queue of 32: more load without more slots changes nothing, and the other way round.
TEST(Limits, QueuesAsLongAsTheLoadLimitWithIt) {
    const std::vector<ResourceUse> resources = {even("link to host", 1, 0.3), even("die", 64, 0.722)};
    LimitVerdict v = judge_limits(resources, waits({{WaitKind::slots_filled, 0.99}}), {});
    EXPECT_EQ(v.kind, LimitVerdict::Kind::load);
    EXPECT_EQ(v.names, (std::vector<std::string>{"depth", "queue slots"}));
    EXPECT_EQ(v.parameters, std::vector<std::string>{"host.queue_entries"});
    EXPECT_NE(v.sentence.find("host.queue_entries allows no more"), std::string::npos) << v.sentence;
    v = judge_limits(resources, waits({{WaitKind::slots_filled, 0.8}, {WaitKind::window_filled, 0.3}}), {});
    EXPECT_EQ(v.names, std::vector<std::string>{"depth"});
}

TEST(Limits, ElseTheLoadDoes) {
    const std::vector<ResourceUse> resources = {even("link to host", 1, 0.3), even("die", 64, 0.722)};
    LimitContext context;
    context.commands = 31.9;
    LimitVerdict v = judge_limits(resources, {}, context);
    EXPECT_EQ(v.kind, LimitVerdict::Kind::load);
    EXPECT_NE(v.sentence.find("31.9 commands"), std::string::npos) << v.sentence;
    ASSERT_TRUE(v.most);
    EXPECT_EQ(v.most->resource, "die");
    v = judge_limits(resources, waits({{WaitKind::own_time, 0.9}}), context);
    EXPECT_EQ(v.names, std::vector<std::string>{"rate"});
    v = judge_limits(resources, waits({{WaitKind::own_flush, 0.9}}), context);
    EXPECT_EQ(v.names, std::vector<std::string>{"flushes"});
    // One die of 64 does all of the work: it is named, as it is the bound.
    std::vector<double> busy(64, 0.0);
    busy[0] = 0.96;
    v = judge_limits({even("link to host", 1, 0.15), resource("die", busy)}, {}, context);
    EXPECT_EQ(v.kind, LimitVerdict::Kind::load);
    EXPECT_NE(v.sentence.find("busiest is die 0 (96.0 % busy"), std::string::npos) << v.sentence;
}

TEST(Limits, NothingMeasuredNothingSaid) {
    EXPECT_EQ(judge_limits({}, {}, {}).kind, LimitVerdict::Kind::unknown);
}

}  // namespace
}  // namespace ssdtlm
