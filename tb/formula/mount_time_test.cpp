// SPDX-License-Identifier: Apache-2.0
// The search for the map on an idle drive, against its closed form: one read after the other on one die to the
// picosecond, and on several dies, with several reads at once, between what the busiest resource needs and
// Mount::longest.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "controller/ftl/ftl_check.h"
#include "formula/reference.h"
#include "sim/simulation.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

/// Writes of a unit each, one after the other, a read, and when the drive has long been idle, another.
class TwoReads final : public Workload {
public:
    explicit TwoReads(std::uint64_t writes) : writes_(writes) {}
    Next next(SimTime now) override {
        Next n;
        n.state = issued_ == writes_ + 2 ? State::done : open_ ? State::blocked : State::ready;
        if (issued_ == writes_ + 1 && !open_ && now < SimTime{10s}) {
            n.state = State::wait;
            n.when = SimTime{10s};
        }
        if (n.state != State::ready) return n;
        n.request.op = issued_ < writes_ ? HostOp::write : HostOp::read;
        n.request.bytes = 4096;
        n.request.offset = issued_++ * 4096;
        open_ = true;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override { open_ = false; }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    const std::uint64_t writes_;
    std::uint64_t issued_ = 0;
    bool open_ = false;
};

struct Scan {
    std::uint64_t reads;
    std::uint64_t entries;
    std::int64_t ps;
    std::uint64_t translation_reads, dirty;
};

/// Of the one core.
std::int64_t core(const SsdConfig& c, std::uint64_t cycles) {
    return Clock::hertz(c.firmware.clock_hz).cycles(cycles).count();
}

Scan scan_of(SsdConfig c, std::uint64_t writes = 0) {
    c.host.power_cut_at = {1s};
    c.host.power_off_time = 1ms;
    const auto j = nlohmann::json::parse(in_child([&] {
        TwoReads workload(writes);
        Simulation simulation(c, workload, {});
        const RunSummary r = simulation.run();
        return nlohmann::json{{"reads", r.power_cuts.at(0).scan_reads},
                              {"entries", r.power_cuts.at(0).entries},
                              {"ps", r.power_cuts.at(0).scan_time.count()},
                              {"translation_reads", r.power_cuts.at(0).translation_reads},
                              {"dirty", r.power_cuts.at(0).dirty_entries}}
            .dump();
    }));
    return {j["reads"], j["entries"], j["ps"], j["translation_reads"], j["dirty"]};
}

/// Pages that are programmed, and of each block that is not full one more.
std::uint64_t reads_of(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    const std::uint64_t units = c.ftl.user_capacity_bytes / g.unit_bytes, pages = units / g.units_per_page();
    EXPECT_EQ(pages % g.planes(), 0u) << "every plane has the same number";
    const std::uint64_t in_plane = pages / g.planes();
    return g.planes() * (in_plane + (g.blocks_per_plane - in_plane / g.pages_per_block));
}

SsdConfig one_die() {
    SsdConfig c = grid(1, 1);
    NandGeometry& g = c.nand.geometry;
    g.page_bytes = 8192;
    g.spare_bytes = 448;
    g.blocks_per_plane = 32;
    g.pages_per_block = 16;
    c.ftl.user_capacity_bytes = std::uint64_t{20} * g.pages_per_block * g.page_bytes + 5 * g.page_bytes;
    c.ftl.scan_reads_per_die = 1;
    return c;
}

TEST(MountTime, OneReadAfterTheOther) {
    for (const auto& [decode, page_cycles, entry_cycles] :
         {std::tuple{Ps{}, 0u, 0u}, std::tuple{Ps{3'000'000}, 0u, 25u}, std::tuple{Ps{}, 20u, 0u},
          std::tuple{Ps{3'000'000}, 100u, 7u}}) {
        SsdConfig c = one_die();
        c.ecc.decode_time = decode;
        c.firmware.scan_page = page_cycles;
        c.firmware.scan_entry = entry_cycles;
        const Scan found = scan_of(c);
        EXPECT_EQ(found.reads, reads_of(c));
        const std::int64_t read = reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() +
                                  reference::spare_out(c.nand) + decode.count();
        // The next command waits for tRHW, if decoding and what the core does take no longer.
        const std::int64_t between =
            std::max<std::int64_t>(0, (c.nand.onfi.t_rhw - decode).count() - core(c, c.firmware.scan_page));
        const auto n = static_cast<std::int64_t>(found.reads);
        EXPECT_EQ(found.entries, c.ftl.user_capacity_bytes / c.nand.geometry.unit_bytes);
        EXPECT_EQ(found.ps, n * (read + core(c, c.firmware.scan_page)) + (n - 1) * between +
                                core(c, found.entries * c.firmware.scan_entry));
        EXPECT_LE(found.ps, MapRebuild::longest(c.nand, decode, 1, c.firmware, c.ftl).count());
        std::printf(
            "[   FIGURE ] %lld reads of one die, decoding %lld ps, %u cycles a page and %u an entry: formula and model "
            "%lld ps\n",
            static_cast<long long>(n), static_cast<long long>(decode.count()), page_cycles, entry_cycles,
            static_cast<long long>(found.ps));
    }
}

// A dynamic SLC cache: each block is asked without SLC mode first, and of one that is in it the first page tells
// nothing. So each of them costs a read more.
TEST(MountTime, BlocksThatMayBeInEitherMode) {
    for (const std::uint32_t writes : {0u, 1u, 5u, 10u, 37u, 60u}) {
        SsdConfig c = one_die();
        NandGeometry& g = c.nand.geometry;
        g.bits_per_cell = 3;
        c.nand.slc = {Ps{21'000'000}, Ps{130'000'000}, Ps{2'500'000'000}, 0xA2};
        c.ftl.slc.dynamic_blocks = 1000;
        c.ftl.user_capacity_bytes = most_logical_units(c.ftl, g) / 2 * g.unit_bytes;
        c.ftl.initial_state = InitialState::fresh;
        c.ftl.buffer_mode = BufferMode::write_through;
        const std::uint32_t slc_pages = g.pages_per_block / 3, slc_blocks = (writes + slc_pages - 1) / slc_pages;
        ASSERT_LE(slc_blocks, g.blocks_per_plane - (c.ftl.gc_soft_free_blocks + 1))
            << "none of them is written past the cache";
        const Scan found = scan_of(c, writes);
        // A page for each write; behind the last of a block that is not full the first erased one.
        const std::int64_t native = g.blocks_per_plane, slc = writes + (writes % slc_pages != 0);
        EXPECT_EQ(found.reads, static_cast<std::uint64_t>(native + slc));
        const std::int64_t rest =
            c.nand.onfi.t_wb.count() + reference::spare_out(c.nand) + core(c, c.firmware.scan_page);
        const std::int64_t between =
            std::max<std::int64_t>(0, c.nand.onfi.t_rhw.count() - core(c, c.firmware.scan_page));
        const std::int64_t issue = reference::read_issue(c.nand), n = native + slc;
        const std::int64_t expected = native * (issue + c.nand.t_read[0].count() + rest) +
                                      slc * (issue + c.nand.onfi.t_wc.count() + c.nand.slc.t_read.count() + rest) +
                                      (n - 1) * between + core(c, found.entries * c.firmware.scan_entry);
        EXPECT_EQ(found.ps, expected);
        EXPECT_LE(found.ps, MapRebuild::longest(c.nand, Ps{}, 1, c.firmware, c.ftl).count());
        std::printf(
            "[   FIGURE ] %u pages in %u blocks of a dynamic SLC cache, of %u blocks: %lld reads, formula and model "
            "%lld ps\n",
            writes, slc_blocks, g.blocks_per_plane, static_cast<long long>(n), static_cast<long long>(found.ps));
    }
}

// With a map on the flash its translation pages are read behind the scan, a mapping unit each, and their entries
// compared.
TEST(MountTime, TranslationPagesBehindIt) {
    for (const auto& [decode, page_cycles, entry_cycles] :
         {std::tuple{Ps{}, 0u, 0u}, std::tuple{Ps{3'000'000}, 0u, 25u}, std::tuple{Ps{}, 20u, 0u},
          std::tuple{Ps{3'000'000}, 100u, 7u}}) {
        SsdConfig c = one_die();
        const NandGeometry& g = c.nand.geometry;
        c.ftl.mapping = "dftl";
        c.ftl.map.entry_bytes = 256;
        c.ftl.user_capacity_bytes = std::uint64_t{16} * g.pages_per_block * g.page_bytes + 5 * g.page_bytes;
        c.ecc.decode_time = decode;
        c.firmware.scan_page = page_cycles;
        c.firmware.scan_entry = entry_cycles;
        const Scan found = scan_of(c);
        const std::uint64_t units = c.ftl.user_capacity_bytes / g.unit_bytes, in_page = g.unit_bytes / 256,
                            translation = div_ceil(units, in_page);
        // Two of them in a page of the flash; what is full of these and of the host's pages has no erased page to be
        // read.
        const std::uint64_t pages = div_ceil(translation, g.units_per_page()), full = pages / g.pages_per_block,
                            scan = reads_of(c) + pages - full;
        EXPECT_EQ(found.translation_reads, translation);
        EXPECT_EQ(found.reads, scan + translation);
        EXPECT_EQ(found.entries, units + translation + units);
        EXPECT_EQ(found.dirty, 0u);
        const auto read = [&](std::int64_t out) {
            return reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() + out +
                   decode.count();
        };
        const auto between = [&](std::int64_t on_core) {
            return std::max<std::int64_t>(0, (c.nand.onfi.t_rhw - decode).count() - on_core);
        };
        const auto n = static_cast<std::int64_t>(scan), m = static_cast<std::int64_t>(translation);
        const std::int64_t look = core(c, page_cycles), in_order = core(c, (units + translation) * entry_cycles),
                           compare = core(c, page_cycles + in_page * entry_cycles);
        const std::int64_t last = core(c, page_cycles + (units - (translation - 1) * in_page) * entry_cycles);
        const std::int64_t expected = n * (read(reference::spare_out(c.nand)) + look) + (n - 1) * between(look) +
                                      in_order + between(look + in_order) +
                                      m * read(reference::data_out(c.nand, g.unit_bytes)) +
                                      (m - 1) * (compare + between(compare)) + last;
        EXPECT_EQ(found.ps, expected);
        EXPECT_LE(found.ps, MapRebuild::longest(c.nand, decode, 1, c.firmware, c.ftl).count());
        std::printf(
            "[   FIGURE ] %lld reads of one die, %lld of them of translation pages, decoding %lld ps, %u cycles a page "
            "and %u an entry: formula %lld ps, model %lld ps\n",
            static_cast<long long>(found.reads), static_cast<long long>(m), static_cast<long long>(decode.count()),
            page_cycles, entry_cycles, static_cast<long long>(expected), static_cast<long long>(found.ps));
    }
}

TEST(MountTime, ManyDiesAtOnce) {
    for (const std::uint32_t at_once : {1u, 4u}) {
        SsdConfig c = one_die();
        NandGeometry& g = c.nand.geometry;
        g.channels = 2;
        g.ways = 4;
        c.ftl.user_capacity_bytes *= 8;
        c.ftl.scan_reads_per_die = at_once;
        const Scan found = scan_of(c);
        EXPECT_EQ(found.reads, reads_of(c));
        const std::uint64_t each = found.reads / g.dies();
        const std::int64_t die =
            static_cast<std::int64_t>(each) * (reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() +
                                               c.nand.t_read[0].count() + reference::spare_out(c.nand));
        EXPECT_GE(found.ps, die);
        const std::int64_t order = core(c, found.entries * c.firmware.scan_entry);
        // One core looks at all pages: it is the bottleneck where that takes it longer than a die.
        const std::int64_t pages = core(c, found.reads * c.firmware.scan_page);
        EXPECT_GE(found.ps, std::max(die, pages) + order);
        EXPECT_LE(found.ps, die + die / 20 + (at_once == 1 ? pages : 0) + order) << "the dies are busy, the bus is not";
        EXPECT_LE(found.ps, MapRebuild::longest(c.nand, c.ecc.decode_time, 1, c.firmware, c.ftl).count());
    }
}

}  // namespace
}  // namespace ssdtlm
