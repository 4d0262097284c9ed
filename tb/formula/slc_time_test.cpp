// SPDX-License-Identifier: Apache-2.0
// Writes and reads one at a time, to the picosecond: into the SLC cache, from it, past it, and from where what was in
// it has been folded to.
#include <gtest/gtest.h>

#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "sim/config/config_loader.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

void expect(const std::string& what, std::int64_t model, std::int64_t formula) {
    std::printf("[   FIGURE ] %s: formula %ld ps, model %ld ps\n", what.c_str(), formula, model);
    EXPECT_EQ(model, formula) << what;
}

/// One die of two planes. In SLC mode a superblock has two rows of two pages: 32 KiB.
SsdConfig one_die(std::uint32_t slc_blocks, bool dynamic = false) {
    SsdConfig c = table3_small();
    NandGeometry& g = c.nand.geometry;
    g.channels = g.ways = g.dies_per_chip = 1;
    g.blocks_per_plane = 64;
    g.pages_per_block = 6;
    g.bits_per_cell = 3;
    c.nand.t_program = {Ps{700'000'000}};
    c.nand.slc = {Ps{21'000'000}, Ps{130'000'000}, Ps{2'500'000'000}, 0xA2};
    c.ftl.user_capacity_bytes = std::uint64_t{g.units()} / 2 * g.unit_bytes;
    c.ftl.buffer_mode = BufferMode::write_through;
    c.ftl.initial_state = InitialState::fresh;
    c.ftl.slc = {dynamic ? 0 : slc_blocks, 0, dynamic ? slc_blocks : 0};
    return c;
}

class SlcTimes : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(All, SlcTimes, testing::Bool(),
                         [](const auto& p) { return std::string(p.param ? "dynamic" : "static"); });

TEST_P(SlcTimes, WritesAndReadsOfEachMode) {
    const SsdConfig native = one_die(0), slc = one_die(1, GetParam());
    const auto step = [](HostOp op, std::uint64_t unit) { return OneByOne::Step{op, unit * 4096, 4096}; };
    // A write programs a page, the rest of it padded: two of them fill a row, four of them a superblock in SLC mode.
    std::vector<OneByOne::Step> steps;
    for (std::uint64_t unit = 0; unit < 6; ++unit) {
        steps.push_back(step(HostOp::write, unit));
        steps.push_back(step(HostOp::read, unit));
    }
    const auto of_native = latencies_one_by_one(native, steps), of_slc = latencies_one_by_one(slc, steps);
    const std::int64_t prefix = slc.nand.onfi.t_wc.count();
    const std::int64_t read =
        reference::unloaded_read(native, 4096) - reference::wire(native.link, 4 + reference::header(true));
    const std::int64_t slc_read = read - native.nand.t_read[0].count() + slc.nand.slc.t_read.count() + prefix;
    const std::int64_t write_gain = native.nand.t_program[0].count() - slc.nand.slc.t_program.count() - prefix;
    for (std::size_t unit = 0; unit < 6; ++unit) {
        const bool in_cache = unit < 4;
        const std::string where = in_cache ? " in the SLC cache" : " past the SLC cache";
        expect("write" + where, of_slc[2 * unit], of_native[2 * unit] - (in_cache ? write_gain : 0));
        expect("read" + where, of_slc[2 * unit + 1], in_cache ? slc_read : read);
        expect("read without a cache", of_native[2 * unit + 1], read);
    }
}

TEST_P(SlcTimes, WhatIsFoldedIsReadAsTheOthers) {
    SsdConfig c = one_die(2, GetParam());
    c.ftl.gc_idle_after = Ps{1'000'000'000};
    const std::int64_t read = reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(true));
    const std::int64_t slc_read =
        read - c.nand.t_read[0].count() + c.nand.slc.t_read.count() + c.nand.onfi.t_wc.count();
    std::vector<OneByOne::Step> steps;
    for (std::uint64_t unit = 0; unit < 5; ++unit) steps.push_back({HostOp::write, unit * 4096});
    // Within 10 ms the first four are folded; the superblock of the fifth is not full.
    for (std::uint64_t unit = 0; unit < 5; ++unit) steps.push_back({HostOp::read, unit * 4096});
    const auto t = latencies_one_by_one(c, steps);
    for (std::size_t unit = 0; unit < 4; ++unit) expect("read of what was folded", t[5 + unit], read);
    expect("read in the SLC cache", t[9], slc_read);
}

// All that is free, but for a reserve, is in SLC mode before the first write goes past it. Then folding begins, beside
// the host.
TEST(SlcTime, AnEmptyDriveIsACache) {
    const SsdConfig native = one_die(0), slc = one_die(1000, true);
    const NandGeometry& g = slc.nand.geometry;
    const std::uint32_t writes = (g.blocks_per_plane - (slc.ftl.gc_soft_free_blocks + 1)) * g.planes_per_die *
                                 (g.pages_per_block / g.bits_per_cell);
    std::vector<OneByOne::Step> steps;
    for (std::uint64_t unit = 0; unit <= writes; ++unit) steps.push_back({HostOp::write, unit * 4096, 4096});
    const auto of_native = latencies_one_by_one(native, steps), of_slc = latencies_one_by_one(slc, steps);
    const std::int64_t gain =
        native.nand.t_program[0].count() - slc.nand.slc.t_program.count() - slc.nand.onfi.t_wc.count();
    std::int64_t model = 0, formula = 0;
    for (std::uint32_t unit = 0; unit < writes; ++unit) {
        model += of_slc[unit];
        formula += of_native[unit] - gain;
        ASSERT_EQ(of_slc[unit], of_native[unit] - gain) << "write " << unit;
    }
    expect(std::to_string(writes) + " writes into an empty drive", model, formula);
    EXPECT_GE(of_slc[writes], of_native[writes]) << "past the cache";
}

/// Of one die, for a row of its planes, in ps: all that a row of the host costs while a share of it goes into the cache
/// and as much is folded.
struct FoldCost {
    double slc, native,
        fold;  ///< a row programmed in SLC mode, past it, and folded: read, programmed again, and its part of an erase
    explicit FoldCost(const NandConfig& n) {
        const OnfiTiming& o = n.onfi;
        const std::uint32_t planes = n.geometry.planes_per_die;
        const double prefix = static_cast<double>((planes * o.t_wc).count()),
                     between = static_cast<double>((planes - 1) * (o.t_wb + o.t_plane_busy).count());
        NandConfig in_slc = n;
        in_slc.t_program = {n.slc.t_program};
        native = static_cast<double>(reference::program_cycle(n, planes));
        slc = static_cast<double>(reference::program_cycle(in_slc, planes)) + prefix;
        const std::int64_t out =
            (o.t_cs + 7 * o.t_wc + o.t_ccs).count() + reference::data_out(n, n.geometry.page_bytes) + o.t_rhw.count();
        const double read = static_cast<double>(planes * reference::read_issue(n) + o.t_wb.count() +
                                                n.slc.t_read.count() + planes * out) +
                            between + prefix;
        const double erase =
            static_cast<double>((planes * (o.t_cs + 5 * o.t_wc) + o.t_wb + n.slc.t_erase).count()) + between + prefix;
        fold = read + native + erase / n.geometry.slc_pages_per_block();
    }
    double row(double share) const { return share * (slc + fold) + (1 - share) * native; }
};

/// `depth`: requests outstanding, which the edges of what is measured count half.
double folding_rate(const SsdConfig& c, std::uint32_t depth, std::uint64_t requests) {
    ClosedLoop::Spec s;
    s.op = HostOp::write;
    s.pattern = ClosedLoop::Pattern::sequential;
    s.bytes = 131072;
    s.depth = depth;
    s.requests = requests;
    s.skip = requests / 3;  // the cache fills first
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    return run_closed_loop(c, s)["write"]["MB_per_s"];
}

// A cache that is always short: so much of what the host writes goes into it as comes free, the rest past it, and
// folding has its part of the die.
TEST(SlcTime, FoldingWhileTheHostWrites) {
    double before = 1e9;
    for (const std::uint32_t percent : {25u, 50u, 75u, 100u}) {
        SsdConfig c = one_die(4);
        NandGeometry& g = c.nand.geometry;
        g.blocks_per_plane = 96;
        g.pages_per_block = 96;
        c.ftl.user_capacity_bytes = std::uint64_t{g.units()} / 2 * g.unit_bytes;
        c.ftl.slc.fold_free_blocks = 4;
        c.ftl.slc.fold_rate_percent = percent;
        c.ftl.buffer_mode = BufferMode::write_back;
        c.ftl.buffer_bytes = 1 << 20;
        const FoldCost cost(c.nand);
        const double row = g.planes_per_die * g.page_bytes, formula = row / (cost.row(percent / 100.0) * 1e-12) * 1e-6,
                     past = row / (cost.native * 1e-12) * 1e-6;
        const double model = folding_rate(c, 2, 480);
        std::printf(
            "[   FIGURE ] sequential writes while %u %% of them are folded: formula %.3f MB/s, model %.3f MB/s, %+.2f "
            "%%; past the cache %.3f MB/s\n",
            percent, formula, model, (model / formula - 1) * 100, past);
        EXPECT_NEAR(model / formula, 1.0, 0.03);
        EXPECT_LT(model, past) << "slower than past the cache";
        EXPECT_LT(model, before);
        before = model;
    }
}

// A drive of 16 dies; its buses carry what two dies each need.
TEST(SlcTime, ACacheThatIsFoldedOnADrive) {
    SsdConfig c = load_config({"wd-sn730-512g"}, {"slc.blocks=5", "slc.fold_free_blocks=5", "host.submit_time=0s",
                                                  "host.completion_time=0s", "host.submit_page_time_write=0s",
                                                  "host.completion_page_time_write=0s"})
                      .config;
    const FoldCost cost(c.nand);
    const double formula = 16 * 2 * 16384 / (cost.row(1) * 1e-12) * 1e-6, model = folding_rate(c, 32, 30'000);
    std::printf(
        "[   FIGURE ] 128 KiB sequential writes while the cache is folded: formula %.1f MB/s, model %.1f MB/s, %+.2f "
        "%%\n",
        formula, model, (model / formula - 1) * 100);
    EXPECT_NEAR(model / formula, 1.0, 0.03);
}

}  // namespace
}  // namespace ssdtlm
