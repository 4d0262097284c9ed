// SPDX-License-Identifier: Apache-2.0
#include "sim/results/slowest_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <vector>

#include "controller/ports/flash.h"
#include "sim/results/slowest_json.h"

namespace ssdtlm {
namespace {

struct Done {
    HostOp op;
    std::uint64_t number;
    std::int64_t total;
    bool measured;
};

constexpr std::int64_t kEpoch = 5'000;  // of the workload

void complete(SlowestCommands& slowest, const Done& d) {
    Timeline t;
    t.begin(SimTime{Ps{kEpoch + 100}});
    t.set_number(d.number);
    t.charge(Stage::array, SimTime{Ps{kEpoch + 100 + d.total}});
    HostRequest r;
    r.op = d.op;
    r.bytes = 4096;
    slowest.on_complete(r, SimTime{Ps{100}}, SimTime{Ps{100}}, SimTime{Ps{100 + d.total}}, t, d.measured);
}

/// Against a sort of everything; latencies with many ties, in random order.
TEST(SlowestCommands, AreThoseThatASortFinds) {
    const Occupancy occupancy(Occupancy::Size{});
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const auto count = static_cast<std::uint32_t>(random() % 20);
        std::vector<Done> all;
        for (std::uint64_t n = 1; n <= 300; ++n)
            all.push_back({static_cast<HostOp>(random() % 4), n, static_cast<std::int64_t>(1 + random() % 40),
                           random() % 5 != 0});
        std::shuffle(all.begin(), all.end(), random);
        const std::vector<std::uint64_t> asked{1 + random() % 300, 1 + random() % 300, 4711};
        SlowestCommands slowest(count, asked, occupancy);
        for (const Done& d : all) complete(slowest, d);

        std::sort(all.begin(), all.end(), [](const Done& a, const Done& b) {
            return a.total != b.total ? a.total > b.total : a.number < b.number;
        });
        std::map<HostOp, std::uint32_t> taken;
        std::vector<std::vector<std::uint64_t>> expected(4);
        for (const Done& d : all) {
            const bool slow = d.measured && taken[d.op]++ < count;
            if (slow || std::find(asked.begin(), asked.end(), d.number) != asked.end())
                expected[static_cast<std::size_t>(d.op)].push_back(d.number);
        }
        std::vector<std::vector<std::uint64_t>> found(4);
        for (const SlowestCommands::Kept& k : slowest.all()) {
            found[static_cast<std::size_t>(k.request.op)].push_back(k.number);
            EXPECT_EQ(k.issued, SimTime{Ps{100}});
            ASSERT_EQ(k.path.size(), 1u);
            EXPECT_EQ(k.path[0].from, k.issued) << "times count from the start of the workload";
            EXPECT_EQ(k.path[0].to, k.issued + k.total);
        }
        ASSERT_EQ(found, expected);
    }
}

TEST(SlowestCommands, AsJson) {
    Occupancy occupancy({2, 3, 2, false, 1});
    occupancy.die(4).add(
        {SimTime{Ps{kEpoch}}, SimTime{Ps{kEpoch + 150}}, 12, 3, static_cast<std::uint8_t>(FlashClass::erase), 2});
    SlowestCommands slowest(1, {}, occupancy);
    Timeline t;
    t.begin(SimTime{Ps{kEpoch + 100}});
    t.set_number(8);
    t.charge(Stage::die_wait_erase, SimTime{Ps{kEpoch + 150}});
    t.begins({13, 9, true});
    t.charge(Stage::array, SimTime{Ps{kEpoch + 160}});
    HostRequest r;
    r.job = 2;
    r.offset = 8192;
    r.bytes = 512;
    slowest.on_complete(r, SimTime{Ps{100}}, SimTime{Ps{100}}, SimTime{Ps{160}}, t, true);
    const auto found = nlohmann::json::parse(slowest_json(slowest.all(), occupancy.size()));
    const auto expected = nlohmann::json::parse(R"({"commands": [{
        "op": "read", "command": 8, "job": 2, "offset": 8192, "bytes": 512, "issued_ps": 100, "total_ps": 60, "among_the_slowest": true,
        "path": [{"from_ps": 100, "to_ps": 150, "stages_ps": {"die_wait_erase": 50}, "resource": "die 1.1", "operation": 13,
                  "held_by": [{"resource": "die 1.1", "operation": 12, "kind": "erase", "collection": 3, "planes": 2, "from_ps": 100, "to_ps": 150}]},
                 {"from_ps": 150, "to_ps": 160, "stages_ps": {"array": 10}, "resource": "die 1.1", "operation": 13}]}]})");
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace ssdtlm
