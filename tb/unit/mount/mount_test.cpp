// SPDX-License-Identifier: Apache-2.0
// The search for the map over flash of any contents: which pages are read, how often, and how many at once.
#include "controller/mount/mount.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/agenda.h"
#include "controller/cpu/core_pool.h"

namespace ssdtlm {
namespace {

/// Answers the reads in an order of its own.
struct Flash final : FlashPort {
    Flash(SpareArea& s, std::uint64_t seed) : spare(s), random(seed, 5), in_flight(s.geometry().dies()) {}
    void submit(FlashTransaction& t) override {
        t.begin(SimTime{});
        EXPECT_EQ(t.op, FlashOp::read);
        EXPECT_EQ(t.cls, FlashClass::mapping_read);
        EXPECT_EQ(spare.geometry().die_of(t.address.plane), t.die);
        waiting.push_back(&t);
        most = std::max(most, ++in_flight[idx(t.die)]);
    }
    void answer_one() {
        const std::size_t i = random.below(waiting.size());
        FlashTransaction& t = *waiting[i];
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
        --in_flight[idx(t.die)];
        const BlockId block = spare.geometry().block_of(t.address);
        EXPECT_LT(t.address.page, spare.geometry().pages_per_block);
        const bool is_whole = t.data_bytes == spare.geometry().page_bytes;
        ++(is_whole ? whole : parts)[{idx(block), t.address.page}];
        if (!is_whole && t.slc) ++slc_parts[{idx(block), t.address.page}];
        spare.read_page(t.address, t.spare.data());
        if (!spare.readable(t.address, t.slc)) t.spare.fill(kTorn);
        EXPECT_TRUE(!is_whole || spare.readable(t.address, t.slc)) << "the mode is known by then";
        t.then();
    }
    SpareArea& spare;
    Random random;
    std::vector<FlashTransaction*> waiting;
    std::vector<std::uint32_t> in_flight;
    std::uint32_t most = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> parts, whole;  // by block and page
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> slc_parts;     // of parts, in SLC mode
};

TEST(Mount, ReadsEachPageInUseOnceAndTheFirstThatIsErased) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 3);
        NandGeometry g;
        g.channels = static_cast<std::uint32_t>(1 + random.below(2));
        g.ways = static_cast<std::uint32_t>(1 + random.below(2));
        g.dies_per_chip = 1;
        g.planes_per_die = static_cast<std::uint32_t>(1 + random.below(2));
        g.blocks_per_plane = static_cast<std::uint32_t>(1 + random.below(9));
        g.pages_per_block = 6;
        g.page_bytes = 8192;
        g.spare_bytes = random.percent(20) ? 0 : 448;
        g.unit_bytes = 4096;
        SpareArea spare(g);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> parts, whole;
        const std::vector<Spare> data(g.units_per_page(), Spare{17});
        const PageContent content{1, 2, 3};
        std::uint64_t number = 0;
        for (std::uint32_t b = 0; b < g.blocks(); ++b) {
            const PlaneId plane = g.plane_of(BlockId{b});
            const auto programmed = static_cast<std::uint32_t>(random.below(g.pages_per_block + 1));
            for (std::uint32_t page = 0; page < programmed; ++page) {
                const PageAddress a{plane, g.block_in_plane(BlockId{b}), page};
                if (random.percent(10)) {
                    spare.tear(a);
                } else if (random.percent(10)) {
                    spare.program_page(a, data.data(), PageRecord{++number, PageKind::journal, 0, 0, &content});
                    whole[{b, page}] = 1;
                } else {
                    spare.program_page(a, data.data(), PageRecord{++number});
                }
            }
            if (programmed != 0 && random.percent(10)) {
                spare.tear_block(BlockId{b});
                for (std::uint32_t page = 0; page < programmed; ++page) whole.erase({b, page});
            }
            for (std::uint32_t page = 0; page < std::min(programmed + 1, g.pages_per_block); ++page)
                parts[{b, page}] = 1;
        }
        Flash flash(spare, seed);
        const auto at_once = static_cast<std::uint32_t>(1 + random.below(5));
        Agenda agenda;
        FirmwareConfig costs;
        costs.cores = static_cast<std::uint32_t>(1 + random.below(3));
        CorePool cores(agenda, costs);
        Mount scan({g, spare, flash, cores, at_once, random.percent(50) ? 0u : 100u});
        int done = 0;
        scan.start([&done] { ++done; });
        while (!flash.waiting.empty() || agenda.next_time() != kNever) {
            EXPECT_EQ(done, 0);
            EXPECT_FALSE(scan.over());
            if (flash.waiting.empty() || (agenda.next_time() != kNever && random.percent(50)))
                agenda.run_one(kNever);
            else
                flash.answer_one();
        }
        EXPECT_EQ(done, 1);
        EXPECT_TRUE(scan.over());
        EXPECT_EQ(flash.parts, parts);
        EXPECT_EQ(flash.whole, whole);
        EXPECT_EQ(scan.reads(), parts.size() + whole.size());
        EXPECT_EQ(flash.most, std::min(at_once, g.planes_per_die * g.blocks_per_plane));
    }
}

// Where a block may be in either mode, the one that is likelier is tried first, and the other one for a page that tells
// nothing, until a page has told.
TEST(Mount, TriesBothModesUntilAPageTells) {
    std::uint64_t told_late = 0, never_told = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 4);
        NandGeometry g;
        g.channels = g.ways = g.dies_per_chip = 1;
        g.planes_per_die = 2;
        g.blocks_per_plane = 8;
        g.pages_per_block = 12;
        g.bits_per_cell = 3;
        g.page_bytes = 8192;
        g.spare_bytes = 448;
        g.unit_bytes = 4096;
        constexpr std::uint32_t kSlcPages = 4, kStatic = 2;
        SpareArea spare(g);
        std::vector<std::uint8_t> modes(g.blocks());
        std::vector<bool> likely(random.percent(30) ? 0 : g.blocks());
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> parts, slc_parts, whole;
        const std::vector<Spare> data(g.units_per_page(), Spare{17});
        const PageContent content{1, 2, 3};
        std::uint64_t number = 0;
        for (std::uint32_t b = 0; b < g.blocks(); ++b) {
            const std::uint32_t in_plane = g.block_in_plane(BlockId{b});
            const bool is_static = in_plane >= g.blocks_per_plane - kStatic, slc = is_static || random.percent(40);
            modes[b] = is_static;
            if (!likely.empty()) likely[b] = random.percent(50);
            const std::uint32_t exist = slc ? kSlcPages : g.pages_per_block;
            const auto programmed = static_cast<std::uint32_t>(random.below(exist + 1));
            std::vector<bool> torn(programmed);
            const bool is_cut = random.percent(10);  // in its erase
            for (std::uint32_t page = 0; page < programmed; ++page) {
                const PageAddress a{g.plane_of(BlockId{b}), in_plane, page};
                torn[page] = is_cut || random.percent(page == 0 ? 40 : 10);
                const bool journal = !torn[page] && random.percent(10);
                if (torn[page])
                    spare.tear(a, slc);
                else
                    spare.program_page(a, data.data(),
                                       PageRecord{++number, journal ? PageKind::journal : PageKind::user, 0, 0,
                                                  journal ? &content : nullptr},
                                       nullptr, slc);
                if (journal) whole[{b, page}] = 1;
            }
            // In the words of the rule.
            bool known = is_static;
            for (std::uint32_t page = 0; page < (known && slc ? kSlcPages : g.pages_per_block); ++page) {
                const bool both = page < kSlcPages, first = known ? slc : both && !likely.empty() && likely[b];
                const bool erased = page >= programmed, tells = !erased && !torn[page];
                ++parts[{b, page}];
                if (first) ++slc_parts[{b, page}];
                if (!known && both && !erased && (torn[page] || first != slc)) {
                    ++parts[{b, page}];
                    if (!first) ++slc_parts[{b, page}];
                }
                told_late += !known && tells && page != 0;
                known = known || tells;
                if (erased) break;
            }
            never_told += !known && programmed != 0;
        }
        Flash flash(spare, seed);
        Agenda agenda;
        CorePool cores(agenda, FirmwareConfig{});
        Mount scan({g, spare, flash, cores, static_cast<std::uint32_t>(1 + random.below(5)), 100u,
                    SlcRegion{0, g.blocks_per_plane, kSlcPages, modes.data()}});
        bool over = false;
        scan.start([&over] { over = true; }, {}, nullptr, likely);
        while (!flash.waiting.empty() || agenda.next_time() != kNever) {
            if (flash.waiting.empty() || (agenda.next_time() != kNever && random.percent(50)))
                agenda.run_one(kNever);
            else
                flash.answer_one();
        }
        EXPECT_TRUE(over);
        EXPECT_EQ(flash.parts, parts);
        EXPECT_EQ(flash.slc_parts, slc_parts);
        EXPECT_EQ(flash.whole, whole);
    }
    EXPECT_GT(told_late, 100u);
    EXPECT_GT(never_told, 100u);
}

// Beside its pages, which all cost the same, each block costs a whole page: tR and all its bytes on the bus.
TEST(Mount, AtMostAWholePageOfEachBlockIsReadToo) {
    NandConfig nand;
    nand.geometry.planes_per_die = 2;
    nand.geometry.blocks_per_plane = 7;
    nand.geometry.pages_per_block = 10;
    const Ps of_10 = Mount::longest(nand, Ps{}, 1);
    nand.geometry.pages_per_block = 11;
    const Ps of_one_more = Mount::longest(nand, Ps{}, 1) - of_10, behind_the_pages = of_10 - of_one_more * 10;
    const std::int64_t blocks = 2 * 7;
    const double bytes_ps = nand.geometry.page_bytes * 1e6 / nand.onfi.megatransfers * nand.geometry.dies_per_channel();
    const auto whole_page = static_cast<std::int64_t>(static_cast<double>(nand.t_read[0].count()) + bytes_ps);
    EXPECT_GT(behind_the_pages.count(), blocks * whole_page);
    EXPECT_LT(behind_the_pages.count(), blocks * whole_page * 11 / 10);
    EXPECT_GT(of_one_more.count(), blocks * nand.t_read[0].count());
    EXPECT_EQ(Mount::longest(nand, Ps{}, 3), Mount::longest(nand, Ps{}, 1) * 3);
    nand.geometry.pages_per_block = 10;
    EXPECT_EQ(Mount::longest(nand, Ps{}, 1, Ps{}, 4), of_10 + of_one_more * 4)
        << "four pages of each block in both modes";
    EXPECT_EQ(Mount::longest(nand, Ps{}, 1, Ps{1000}, 4) - Mount::longest(nand, Ps{}, 1, Ps{}, 4),
              Ps{1000} * static_cast<std::int64_t>(nand.geometry.blocks() * (10 + 1 + 4)));
}

}  // namespace
}  // namespace ssdtlm
