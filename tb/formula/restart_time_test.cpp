// SPDX-License-Identifier: Apache-2.0
// Starts of a drive with checkpoints: from a clean one in closed form, to the picosecond on one die; from one that is
// some time old, the reads by what the flash holds, against the interval between checkpoints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/random/random.h"
#include "controller/checkpoint/checkpoint_books.h"
#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/ftl_check.h"
#include "controller/map/cached/pages/translation_sizes.h"
#include "formula/reference.h"
#include "sim/simulation.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

std::int64_t core(const SsdConfig& c, std::uint64_t cycles) {
    return Clock::hertz(c.firmware.clock_hz).cycles(cycles).count();
}

/// Random writes of one mapping unit each, `depth` at a time, until the power has gone once.
class WritesUntilTheCut final : public Workload {
public:
    WritesUntilTheCut(const SsdConfig& c, std::uint32_t depth)
        : units_(c.ftl.user_capacity_bytes / c.nand.geometry.unit_bytes),
          unit_bytes_(c.nand.geometry.unit_bytes),
          depth_(depth) {}
    void follow(std::function<bool()> over) { over_ = std::move(over); }
    Next next(SimTime) override {
        Next n;
        n.state = over_() ? open_ == 0 ? State::done : State::blocked : open_ == depth_ ? State::blocked : State::ready;
        if (n.state != State::ready) return n;
        n.request.op = HostOp::write;
        n.request.bytes = unit_bytes_;
        n.request.offset = random_.below(units_) * unit_bytes_;
        ++open_;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override { --open_; }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return depth_; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    const std::uint64_t units_;
    const std::uint32_t unit_bytes_, depth_;
    Random random_{5, 9};
    std::function<bool()> over_;
    std::uint32_t open_ = 0;
};

/// Reads that find the first of `pages` that is not in use, by halves.
std::uint64_t halves(std::uint32_t pages, std::uint32_t used) {
    std::uint64_t reads = 0;
    for (std::uint32_t low = 0, high = pages; low != high; ++reads) {
        const std::uint32_t middle = (low + high) / 2;
        (middle < used ? low : high) = middle < used ? middle + 1 : middle;
    }
    return reads;
}

struct Needed {
    std::uint64_t spare = 0, whole = 0;  ///< reads of so much of a page
    std::uint64_t in_checkpoint = 0;     ///< of both
    std::uint64_t translation = 0;       ///< reads of a translation page
    std::uint64_t dirty_pages = 0;       ///< of the scan, pages programmed since the checkpoint,
    std::uint64_t units = 0;             ///< and mapping units in these
};

/// By what the flash holds when the power comes back, for the first time.
Needed reads_needed(const SsdConfig& c, const SpareArea& flash, bool clean) {
    const NandGeometry& g = c.nand.geometry;
    const CheckpointLayout layout(c.ftl, g);
    Needed n;
    std::uint64_t best = 0;
    std::optional<CheckpointRoot> root;
    for (std::uint32_t anchor = 0; anchor < 2 && c.ftl.has_checkpoints(); ++anchor) {
        std::uint32_t used = flash.next_page(g.block_of(layout.anchor_page(anchor, 0)));
        n.spare += halves(layout.anchor_pages(), used);
        while (used-- != 0) {
            ++n.whole;
            const PageAddress at = layout.anchor_page(anchor, used);
            const auto record = CheckpointRoot::decode(flash.content(at));
            if (!record) continue;
            if (flash.record(at).number > best) root = record;
            best = std::max(best, flash.record(at).number);
            break;
        }
    }
    // Entries of all units; of a map on the flash those of its translation pages behind them, and behind a clean
    // checkpoint these alone.
    const std::uint64_t units = c.ftl.user_capacity_bytes / g.unit_bytes, per_page = (g.page_bytes / 8 - 2) * 2;
    const std::uint64_t translation =
        c.ftl.mapping == "dftl" ? div_ceil(units, g.unit_bytes / c.ftl.map.entry_bytes) : 0;
    if (root)
        n.whole += root->books.size() + div_ceil(units + translation, per_page) -
                   (clean && translation != 0 ? units / per_page : 0);
    n.in_checkpoint = n.spare + n.whole;
    const std::uint32_t last = g.blocks_per_plane - layout.per_group();
    for (std::uint32_t b = 0; b < g.blocks() && !clean; ++b) {
        if (g.block_in_plane(BlockId{b}) >= last) continue;
        ++n.spare;
        const std::uint32_t used = flash.next_page(BlockId{b});
        const auto at = [&](std::uint32_t page) {
            return PageAddress{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}), page};
        };
        const auto is_old = [&](std::uint32_t page) {
            return root && flash.record(at(page)).number <= root->number && flash.at(g.ppa_of(at(page), 0)) != kTorn;
        };
        std::uint32_t known = 0;
        while (known < used && is_old(known)) ++known;
        if (used == 0 || known == g.pages_per_block) continue;
        for (std::uint32_t page = known; page < used; ++page) {
            n.spare += page != 0;
            ++n.dirty_pages;
            for (std::uint32_t slot = 0; slot < g.units_per_page(); ++slot) {
                const Spare unit = flash.at(g.ppa_of(at(page), slot));
                n.units += unit != kTorn && unit != kPadding;
            }
            n.whole += flash.content(at(page)) != nullptr && flash.record(at(page)).kind == PageKind::journal;
        }
        n.spare += used < g.pages_per_block && used != 0;
    }
    return n;
}

/// Of translation pages: those that the checkpoint calls dirty, and those that a page written since speaks of, itself
/// or one of their units. Nothing is deallocated.
std::uint64_t translation_pages_needed(const SsdConfig& c, const Ftl& ftl, const SpareArea& flash) {
    const NandGeometry& g = c.nand.geometry;
    const CheckpointBooks& books = *checkpoints_of(ftl)->latest();
    std::vector<bool> needed(ftl.own_units());
    for (std::uint32_t page = 0; page < needed.size(); ++page) needed[page] = books.is_dirty(page);
    for (std::uint32_t unit = 0; unit < g.units(); ++unit) {
        const PageAddress a = g.page_of(Ppa{unit});
        if (a.page >= flash.next_page(g.block_of(a)) || flash.at(Ppa{unit}) == kTorn ||
            flash.record(a).number <= books.number)
            continue;
        const PageKind kind = flash.record(a).kind;
        if ((kind != PageKind::user && kind != PageKind::mapping) || flash.at(Ppa{unit}) == kPadding) continue;
        const Lpa lpa = ftl.codec().lpa(flash.at(Ppa{unit}));
        needed[ftl.is_own(lpa) ? idx(lpa) - ftl.logical_units() : idx(lpa) / ftl.needs().units_per_own] = true;
    }
    return static_cast<std::uint64_t>(std::count(needed.begin(), needed.end(), true));
}

struct Start {
    std::uint64_t reads, checkpoint_reads, entries, source, checkpoint_pages, host_units, flash_units;
    std::int64_t ps;
    std::uint64_t spare, whole, in_checkpoint, translation, translation_reads, dirty, dirty_pages, units;
};

Start start_of(const SsdConfig& c, std::uint32_t depth) {
    const auto j = nlohmann::json::parse(in_child([&] {
        WritesUntilTheCut workload(c, depth);
        Simulation simulation(c, workload, {});
        SsdSystem& s = simulation.system();
        workload.follow([&s] { return s.host.driver.power_cuts() != 0; });
        Needed needed;
        const FtlCounters start = s.device.controller.ftl->counters();
        FtlCounters before;
        s.device.set_on_rebuilt([&] {
            needed = reads_needed(c, s.device.flash.spare,
                                  s.device.controller.scan()->source() == MapSource::clean_checkpoint);
            const Ftl& ftl = *s.device.controller.ftl;
            if (ftl.own_units() != 0 && s.device.controller.scan()->source() == MapSource::checkpoint)
                needed.translation = translation_pages_needed(c, ftl, s.device.flash.spare);
            before = ftl.counters() - start;
        });
        const RunSummary r = simulation.run();
        const PowerCut& cut = r.power_cuts.at(0);
        return nlohmann::json{{"reads", cut.scan_reads},
                              {"checkpoint_reads", cut.checkpoint_reads},
                              {"entries", cut.entries},
                              {"ps", cut.scan_time.count()},
                              {"source", static_cast<int>(cut.source)},
                              {"spare", needed.spare},
                              {"whole", needed.whole},
                              {"in_checkpoint", needed.in_checkpoint},
                              {"translation", needed.translation},
                              {"translation_reads", cut.translation_reads},
                              {"dirty", cut.dirty_entries},
                              {"dirty_pages", needed.dirty_pages},
                              {"units", needed.units},
                              {"checkpoint_pages", before.checkpoint_pages},
                              {"host_units", before.host_units},
                              {"flash_units", before.flash_units(c.nand.geometry.units_per_page())}}
            .dump();
    }));
    return {j["reads"],
            j["checkpoint_reads"],
            j["entries"],
            j["source"],
            j["checkpoint_pages"],
            j["host_units"],
            j["flash_units"],
            j["ps"],
            j["spare"],
            j["whole"],
            j["in_checkpoint"],
            j["translation"],
            j["translation_reads"],
            j["dirty"],
            j["dirty_pages"],
            j["units"]};
}

void check_clean_start(bool map_on_flash) {
    for (const std::uint32_t cycles : {0u, 20u, 100u}) {
        SsdConfig c = grid(1, 1);
        if (map_on_flash) {
            c.ftl.mapping = "dftl";
            c.ftl.map.entry_bytes = 64;
            c.ftl.map.cache_bytes = 64 << 10;
        }
        NandGeometry& g = c.nand.geometry;
        g.page_bytes = 8192;
        g.spare_bytes = 448;
        g.blocks_per_plane = 40;
        g.pages_per_block = 256;
        c.ftl.checkpoint_at_shutdown = c.host.power_cut_shutdown = true;
        c.ftl.user_capacity_bytes = most_logical_units(c.ftl, g) * g.unit_bytes;
        c.ftl.scan_reads_per_die = 1;
        c.firmware.scan_page = cycles;
        c.host.power_cut_at = {20ms};
        c.host.power_off_time = 1ms;
        const Start found = start_of(c, 4);
        EXPECT_EQ(found.source, static_cast<std::uint64_t>(MapSource::clean_checkpoint));
        // One record, in the first anchor; the second was never written.
        const std::uint64_t spare = halves(g.pages_per_block, 1) + halves(g.pages_per_block, 0);
        EXPECT_EQ(found.spare, spare);
        EXPECT_EQ(found.reads, spare + found.whole);
        EXPECT_EQ(found.checkpoint_reads, found.reads);
        EXPECT_EQ(found.entries, 0u);
        EXPECT_EQ(found.translation_reads, 0u);
        const auto read = [&](std::int64_t out) {
            return reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() + out;
        };
        const std::int64_t between = std::max<std::int64_t>(0, c.nand.onfi.t_rhw.count() - core(c, cycles));
        const auto n = static_cast<std::int64_t>(found.reads);
        const std::int64_t expected =
            static_cast<std::int64_t>(spare) * read(reference::spare_out(c.nand)) +
            static_cast<std::int64_t>(found.whole) * read(reference::data_out(c.nand, g.page_bytes)) +
            n * core(c, cycles) + (n - 1) * between;
        EXPECT_EQ(found.ps, expected);
        std::printf(
            "[   FIGURE ] clean start%s, %u cycles a page: %llu spare areas and %llu whole pages read, formula and "
            "model %lld ps\n",
            map_on_flash ? " with the map on the flash" : "", cycles, static_cast<unsigned long long>(spare),
            static_cast<unsigned long long>(found.whole), static_cast<long long>(found.ps));
    }
}

TEST(RestartTime, FromACleanCheckpointOnOneDie) {
    check_clean_start(false);
}
TEST(RestartTime, FromACleanCheckpointOnOneDieWithTheMapOnTheFlash) {
    check_clean_start(true);
}

// Of the translation pages those are read that may say other things than the map.
TEST(RestartTime, AgainstTheIntervalWithTheMapOnTheFlash) {
    for (const std::uint64_t interval : {8_MiB, 2_MiB, 512_KiB}) {
        SsdConfig c = grid(2, 2);
        NandGeometry& g = c.nand.geometry;
        g.page_bytes = 16384;
        g.spare_bytes = 1872;
        g.blocks_per_plane = 64;
        g.pages_per_block = 64;
        c.ftl.mapping = "dftl";
        c.ftl.map.entry_bytes = 512;
        c.nvme.max_transfer_bytes = 131072;
        c.ftl.map.cache_bytes = 256_KiB;
        c.ftl.checkpoint_interval_bytes = interval;
        c.ftl.user_capacity_bytes = most_logical_units(c.ftl, g) * 9 / 10 * g.unit_bytes;
        c.ftl.buffer_bytes = 1_MiB;
        c.host.power_cut_at = {1s};
        c.host.power_off_time = 1ms;
        const Start found = start_of(c, 32);
        const std::uint64_t all = translation_pages_of(c.ftl, g);
        EXPECT_EQ(found.source, static_cast<std::uint64_t>(MapSource::checkpoint));
        EXPECT_EQ(found.translation_reads, found.translation);
        EXPECT_EQ(found.reads, found.spare + found.whole + found.translation);
        EXPECT_EQ(found.checkpoint_reads, found.in_checkpoint);
        EXPECT_LT(found.translation_reads, all * 2 / 3);
        const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
        std::printf(
            "[   FIGURE ] a checkpoint each %llu KiB, map on the flash: %llu reads, %llu of the checkpoint and %llu of "
            "the %llu translation pages; %llu entries dirty, %.1f ms\n",
            n(interval >> 10), n(found.reads), n(found.checkpoint_reads), n(found.translation_reads), n(all),
            n(found.dirty), static_cast<double>(found.ps) * 1e-9);
    }
}

/// One die, one read after the other: what the checkpoint takes, then a read for each block and each page programmed
/// since, a step of the core for each unit in these, and with a map on the flash a read and a comparison for each
/// translation page that may be stale.
void check_against_what_is_dirty(bool map_on_flash) {
    for (const std::uint64_t interval : {8_MiB, 4_MiB, 2_MiB, 512_KiB, 128_KiB}) {
        SsdConfig c = grid(1, 1);
        NandGeometry& g = c.nand.geometry;
        g.page_bytes = 16384;
        g.spare_bytes = 1872;
        g.blocks_per_plane = 64;
        g.pages_per_block = 64;
        if (map_on_flash) {
            c.ftl.mapping = "dftl";
            c.ftl.map.entry_bytes = 512;
            c.nvme.max_transfer_bytes = 131072;
            c.ftl.map.cache_bytes = 256_KiB;
        }
        c.ftl.checkpoint_interval_bytes = interval;
        const std::uint64_t per_page = g.unit_bytes / c.ftl.map.entry_bytes;
        c.ftl.user_capacity_bytes =
            most_logical_units(c.ftl, g) / 2 / per_page * per_page * g.unit_bytes;  // translation pages are full
        c.ftl.buffer_bytes = 1_MiB;
        c.ftl.scan_reads_per_die = 1;
        c.host.power_cut_at = {2500ms};
        c.host.power_off_time = 1ms;
        const Start found = start_of(c, 32);
        EXPECT_EQ(found.source, static_cast<std::uint64_t>(MapSource::checkpoint));
        const auto n = static_cast<std::int64_t>(found.spare + found.whole),
                   m = static_cast<std::int64_t>(found.translation);
        EXPECT_EQ(found.reads, found.spare + found.whole + found.translation);
        const auto read = [&](std::int64_t out) {
            return reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() + out;
        };
        const auto between = [&](std::int64_t on_core) {
            return std::max<std::int64_t>(0, c.nand.onfi.t_rhw.count() - on_core);
        };
        const std::int64_t look = core(c, c.firmware.scan_page),
                           in_order = core(c, found.units * c.firmware.scan_entry);
        const std::int64_t compare = core(c, c.firmware.scan_page + per_page * c.firmware.scan_entry);
        std::int64_t expected =
            static_cast<std::int64_t>(found.spare) * read(reference::spare_out(c.nand)) +
            static_cast<std::int64_t>(found.whole) * read(reference::data_out(c.nand, g.page_bytes)) + n * look +
            (n - 1) * between(look) + in_order;
        if (m != 0)
            expected += between(look + in_order) + m * (read(reference::data_out(c.nand, g.unit_bytes)) + compare) +
                        (m - 1) * between(compare);
        EXPECT_EQ(found.ps, expected);
        const auto u = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
        std::printf(
            "[   FIGURE ] a checkpoint each %llu KiB%s: %llu pages programmed since, %llu units, %llu translation "
            "pages, %llu dirty entries; %llu reads, formula %.6f ms, model %.6f ms\n",
            u(interval >> 10), map_on_flash ? ", map on the flash" : "", u(found.dirty_pages), u(found.units),
            u(found.translation), u(found.dirty), u(found.reads), static_cast<double>(expected) * 1e-9,
            static_cast<double>(found.ps) * 1e-9);
    }
}

TEST(RestartTime, AgainstWhatIsDirty) {
    check_against_what_is_dirty(false);
}
TEST(RestartTime, AgainstWhatIsDirtyWithTheMapOnTheFlash) {
    check_against_what_is_dirty(true);
}

TEST(RestartTime, AgainstTheInterval) {
    std::printf(
        "  interval  host data  map from          reads  of these checkpoint  entries  search, ms  checkpoint pages    "
        "WAF\n");
    std::uint64_t fewest = ~std::uint64_t{0}, most = fewest, all = 0;
    for (const std::uint64_t interval : {std::uint64_t{0}, 64_MiB, 32_MiB, 8_MiB, 2_MiB, 512_KiB}) {
        SsdConfig c = grid(2, 2);
        NandGeometry& g = c.nand.geometry;
        g.planes_per_die = 2;
        g.page_bytes = 16384;
        g.spare_bytes = 1872;
        g.blocks_per_plane = 64;
        g.pages_per_block = 64;
        c.ftl.checkpoint_interval_bytes = 1_MiB;  // the same capacity for all
        c.ftl.user_capacity_bytes = most_logical_units(c.ftl, g) * g.unit_bytes;
        c.ftl.checkpoint_interval_bytes = interval;
        c.ftl.buffer_bytes = 1_MiB;
        c.host.power_cut_at = {2s};
        c.host.power_off_time = 1ms;
        const Start found = start_of(c, 32);
        EXPECT_EQ(found.reads, found.spare + found.whole);
        EXPECT_EQ(found.checkpoint_reads, interval == 0 ? 0 : found.in_checkpoint);
        EXPECT_EQ(found.source,
                  static_cast<std::uint64_t>(interval == 0 ? MapSource::all_pages : MapSource::checkpoint));
        if (interval == 0) all = found.reads;
        // Below what the host writes while a checkpoint is being written, a shorter interval changes nothing.
        EXPECT_LE(found.reads, most);
        most = found.reads + found.reads / 50;
        const double waf = static_cast<double>(found.flash_units) / static_cast<double>(found.host_units);
        std::printf("%6llu KiB %6llu MiB  %-16s %6llu  %19llu  %7llu  %10.3f  %16llu  %5.3f\n",
                    static_cast<unsigned long long>(interval >> 10),
                    static_cast<unsigned long long>(found.host_units * g.unit_bytes >> 20),
                    name_of(static_cast<MapSource>(found.source)), static_cast<unsigned long long>(found.reads),
                    static_cast<unsigned long long>(found.checkpoint_reads),
                    static_cast<unsigned long long>(found.entries), static_cast<double>(found.ps) * 1e-9,
                    static_cast<unsigned long long>(found.checkpoint_pages), waf);
        fewest = std::min(fewest, found.reads);
    }
    EXPECT_LT(5 * fewest, all);
}

}  // namespace
}  // namespace ssdtlm
