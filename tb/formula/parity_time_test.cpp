// SPDX-License-Identifier: Apache-2.0
// Reads one at a time of pages that cannot be read and are rebuilt from their rows, to the picosecond: behind the first
// read, one of a whole page of each other die, here on channels of their own at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "nand/array/random_faults.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

/// Of a sequential lay-out, with one die a channel and one unit a page: rows of three, each superblock's parity one
/// channel further.
struct Place {
    explicit Place(const SsdConfig& c, std::uint64_t unit) {
        const NandGeometry& g = c.nand.geometry;
        const std::uint64_t data = g.channels - 1, of_block = data * g.pages_per_block;
        block = static_cast<std::uint32_t>(unit / of_block);
        page = static_cast<std::uint32_t>(unit % of_block / data);
        channel = static_cast<std::uint32_t>((unit % data + block) % g.channels);
    }
    std::uint32_t channel, block, page;
};

TEST(ParityTime, ReadOfARebuiltPage) {
    SsdConfig c = grid(4, 1);
    c.ftl.user_capacity_bytes = std::uint64_t{20'000} * 4096;
    c.ftl.superblock = SuperblockSpan::drive;
    c.ftl.parity = Parity::die;
    c.ecc.read_retries = 0;
    c.faults.page_lost = 0.01;
    const RandomFaults faults(c.faults, c.run.seed);
    const auto lost = [&](const Place& p, std::uint32_t channel) {
        return faults.lost({PlaneId{channel}, p.block, p.page}, 0);
    };
    std::vector<OneByOne::Step> steps;
    std::vector<bool> rebuilt;
    for (std::uint64_t unit = 0; steps.size() < 60; ++unit) {
        const Place at(c, unit);
        std::uint32_t others = 0;
        for (std::uint32_t channel = 0; channel < 4; ++channel) others += channel != at.channel && lost(at, channel);
        const bool is_lost = lost(at, at.channel);
        if ((is_lost && others != 0) || (!is_lost && unit % 200 != 0)) continue;
        steps.push_back({HostOp::read, unit * 4096});
        rebuilt.push_back(is_lost);
    }
    ASSERT_GT(std::count(rebuilt.begin(), rebuilt.end(), true), 20);
    ASSERT_GT(std::count(rebuilt.begin(), rebuilt.end(), false), 5);
    // Long after the last command, so that the doorbell of its completion queue is not ahead on the wire.
    const std::int64_t once = reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(true));
    const std::int64_t again = reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() +
                               reference::data_out(c.nand, 4096) + c.ecc.decode_time.count();
    const auto times = latencies_one_by_one(c, steps);
    ASSERT_EQ(times.size(), steps.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_EQ(times[i], once + (rebuilt[i] ? again : 0)) << "unit " << steps[i].offset / 4096;
        if (i < 2 || rebuilt[i] != rebuilt[i - 1])
            std::printf("[   FIGURE ] %s: formula %ld ps, model %ld ps\n", rebuilt[i] ? "rebuilt" : "read",
                        once + (rebuilt[i] ? again : 0), times[i]);
    }
}

}  // namespace
}  // namespace ssdtlm
