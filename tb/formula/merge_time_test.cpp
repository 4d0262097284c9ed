// SPDX-License-Identifier: Apache-2.0
// What a write waits for that finds all random log blocks full, to the picosecond: a full merge of one logical block,
// page by page. And with block mapping, where it does not go on in ascending order.
#include <gtest/gtest.h>

#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

/// One plane, a unit to a page, a logical block of 8 pages; merges have one page under way at a time.
SsdConfig one_plane(std::uint32_t logs) {
    SsdConfig c = table3_small();
    NandGeometry& g = c.nand.geometry;
    g.channels = g.ways = g.dies_per_chip = g.planes_per_die = 1;
    g.blocks_per_plane = 64;
    g.pages_per_block = 8;
    g.page_bytes = 4096;
    c.ftl.mapping = "fast";
    c.ftl.fast.random_log_blocks = logs;
    c.ftl.user_capacity_bytes = 20ull * 8 * 4096;
    c.ftl.buffer_mode = BufferMode::write_through;
    c.ftl.gc_max_inflight_pages = 1;
    return c;
}

std::int64_t erase(const NandConfig& n) {
    // 60h, three address cycles and D0h (ONFI 5.0, Block Erase).
    return (n.onfi.t_cs + 5 * n.onfi.t_wc + n.onfi.t_wb + n.t_erase).count();
}

/// A unit that is copied: out of its page into the DRAM, and out of this into a page of its own.
std::int64_t read(const SsdConfig& c) {
    return reference::cycles(c.firmware, c.firmware.flash_issue) + reference::read_issue(c.nand) +
           c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() + reference::data_out(c.nand, 4096) +
           c.ecc.decode_time.count() + reference::dram(c.dram, 4096);
}
std::int64_t program(const SsdConfig& c) {
    return reference::cycles(c.firmware, c.firmware.flash_issue + c.firmware.map_update) +
           reference::dram(c.dram, 4096) + reference::program_cycle(c.nand, 1) +
           reference::cycles(c.firmware, c.firmware.flash_complete);
}
std::int64_t erased(const SsdConfig& c) {
    return reference::cycles(c.firmware, c.firmware.flash_issue) + erase(c.nand) +
           reference::cycles(c.firmware, c.firmware.flash_complete);
}

/// When the host's page finds room, the last superblock that is to be erased goes to the die while the page is on its
/// way out of the DRAM.
std::int64_t in_front_of_program(const SsdConfig& c) {
    return reference::cycles(c.firmware, c.firmware.flash_issue) + erase(c.nand) - reference::dram(c.dram, 4096);
}

TEST(MergeTime, AWriteWaitsForTheFullMergeOfOneLogicalBlock) {
    for (const std::uint32_t logs : {1u, 2u}) {
        const SsdConfig c = one_plane(logs);
        std::vector<OneByOne::Step> steps;
        // Units 1 to 7 of the logical block 3, and one of them twice, fill the first log; the others hold those of
        // block 4.
        for (std::uint32_t log = 0; log < logs; ++log)
            for (std::uint64_t i = 0; i < 8; ++i) steps.push_back({HostOp::write, ((3 + log) * 8 + 1 + i % 7) * 4096});
        steps.push_back({HostOp::write, (7 * 8 + 5) * 4096});
        const auto t = latencies_one_by_one(c, steps);
        const std::size_t last = steps.size() - 1;
        for (std::size_t i = 1; i < last; ++i) EXPECT_EQ(t[i], t[0]) << i;
        // Then the old data block is erased, then the log.
        const std::int64_t formula = t[0] + 2 * reference::cycles(c.firmware, c.firmware.gc_victim) +
                                     8 * (read(c) + program(c)) + erased(c) + in_front_of_program(c);
        std::printf(
            "[   FIGURE ] write that waits for a full merge, %u logs: formula %ld ps, model %ld ps (without: %ld ps)\n",
            logs, formula, t[last], t[0]);
        EXPECT_EQ(t[last], formula);
    }
}

// Of a sequential log block with 3 of 8 pages the rest is copied; then its old data block is erased.
TEST(MergeTime, AWriteWaitsForAPartialMerge) {
    const SsdConfig c = one_plane(1);
    std::vector<OneByOne::Step> steps;
    for (const std::uint64_t unit : {24u, 25u, 26u, 40u, 41u}) steps.push_back({HostOp::write, unit * 4096});
    const auto t = latencies_one_by_one(c, steps);
    for (const std::size_t i : {1u, 2u, 4u}) EXPECT_EQ(t[i], t[0]) << i;
    const std::int64_t formula = t[0] + reference::cycles(c.firmware, c.firmware.gc_victim) +
                                 5 * (read(c) + program(c)) + in_front_of_program(c);
    std::printf("[   FIGURE ] write that waits for a partial merge: formula %ld ps, model %ld ps (without: %ld ps)\n",
                formula, t[3], t[0]);
    EXPECT_EQ(t[3], formula);
}

/// The same flash with block mapping, of which the first half is written, in pages of so many units.
SsdConfig one_plane_of_blocks(std::uint32_t units_per_page) {
    SsdConfig c = one_plane(1);
    c.ftl.mapping = "block";
    c.nand.geometry.page_bytes *= units_per_page;
    c.ftl.user_capacity_bytes *= units_per_page;
    c.ftl.fill = 0.5;
    return c;
}

// Another logical block was written before: what is behind that is copied and its old block erased, and what is in
// front of this copied.
TEST(MergeTime, AWriteWaitsForABlockToBeMergedAndItsOwnToBeginAgain) {
    const SsdConfig c = one_plane_of_blocks(1);
    std::vector<OneByOne::Step> steps;
    for (const std::uint64_t unit : {24u, 25u, 26u, 27u, 28u, 29u, 43u, 44u, 47u})
        steps.push_back({HostOp::write, unit * 4096});
    const auto t = latencies_one_by_one(c, steps);
    for (const std::size_t i : {1u, 5u, 7u}) EXPECT_EQ(t[i], t[0]) << i;
    const std::int64_t victim = reference::cycles(c.firmware, c.firmware.gc_victim), copy = read(c) + program(c);
    const std::int64_t formula = t[0] + victim + 2 * copy + erased(c) + victim + 3 * copy;
    std::printf(
        "[   FIGURE ] write that waits for 2 pages of one block, an erase and 3 pages of its own: formula %ld ps, "
        "model %ld ps (without: %ld ps)\n",
        formula, t[6], t[0]);
    EXPECT_EQ(t[6], formula);
    EXPECT_EQ(t[8], t[0] + victim + 2 * copy);  // two pages in between
}

// Of two units in a page one is written: the other is read, and goes into the page with it.
TEST(MergeTime, AWriteWaitsForTheOtherUnitOfItsPage) {
    const SsdConfig c = one_plane_of_blocks(2);
    std::vector<OneByOne::Step> steps;
    // The block 15 was never written, and has nothing to be copied.
    for (const std::uint64_t unit : {15 * 16u, 15 * 16u + 3, 3 * 16u + 1, 3 * 16u + 2})
        steps.push_back({HostOp::write, unit * 4096});
    const auto t = latencies_one_by_one(c, steps);
    EXPECT_EQ(t[1], t[0]);
    const std::int64_t victim = reference::cycles(c.firmware, c.firmware.gc_victim);
    const std::int64_t formula = t[0] + victim + read(c) + reference::cycles(c.firmware, c.firmware.map_update) +
                                 reference::dram(c.dram, 8192) - reference::dram(c.dram, 4096);
    std::printf("[   FIGURE ] write of one of two units of a page: formula %ld ps, model %ld ps (without: %ld ps)\n",
                formula, t[3], t[0]);
    EXPECT_EQ(t[3], formula);
    EXPECT_EQ(t[2], formula + victim);  // the block 15 is done with
}

}  // namespace
}  // namespace ssdtlm
