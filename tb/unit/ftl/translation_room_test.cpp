// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "common/random/random.h"
#include "controller/ftl/ftl_check.h"
#include "controller/map/cached/pages/translation_pages.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

struct Divided {
    const char* dimensions;
    const char* sets;
};
constexpr Divided kAll[] = {{"none", ""},
                            {"C", ""},
                            {"CW", ""},
                            {"CWDP", ""},
                            {"P", ""},
                            {"none", "C0-2, C3"},
                            {"none", "C0, C1W0, C1W1D0, C1W1D1, C2-3"},
                            {"none", "C0-3"}};

NandGeometry geometry() {
    NandGeometry g = test::small_geometry();
    g.channels = 4;
    g.dies_per_chip = 2;
    return g;
}

/// Full to the last unit, and with translation pages of 8 entries: there are many.
FtlConfig config(const NandGeometry& g, const Divided& by) {
    FtlConfig c =
        test::small_config(g, 0.4, by.dimensions == std::string("P") ? SuperblockSpan::plane : SuperblockSpan::die);
    if (by.dimensions == std::string("CWDP")) c.superblock = SuperblockSpan::plane;
    c.mapping = "dftl";
    c.map.entry_bytes = g.unit_bytes / 8;
    c.map.cache_bytes = 1 << 16;
    c.static_dimensions = by.dimensions;
    c.nvm_sets = by.sets;
    c.initial_state = InitialState::sequential;
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    return c;
}

/// Some pages of one pool into one flash page, as write-backs place them.
class Places {
public:
    Places(Device& d) : d_(d) {}
    bool place(const std::vector<std::uint32_t>& pages) {
        GroupId group{};
        if (!TranslationPages::of(d_.ftl)->next_group(pages.front(), group)) return false;
        const PageAddress a = TranslationPages::of(d_.ftl)->allocate(group);
        Spare out[kMaxUnitsPerPage];
        std::fill_n(out, d_.geometry.units_per_page(), kPadding);
        for (std::uint32_t i = 0; i < pages.size(); ++i) {
            out[i] = d_.ftl.codec().make(TranslationPages::of(d_.ftl)->unit_of(pages[i]), 0);
            TranslationPages::of(d_.ftl)->put(pages[i], d_.geometry.ppa_of(a, i));
        }
        d_.flash.program_page(a, out, d_.ftl.draw_record(a, PageKind::mapping));
        TranslationPages::of(d_.ftl)->programmed(a);
        return true;
    }
    /// As many as a flash page takes, from this one on.
    std::vector<std::uint32_t> from(std::uint32_t first) const {
        std::vector<std::uint32_t> pages;
        const TranslationRoom& room = TranslationPages::of(d_.ftl)->room();
        for (std::uint32_t p = first; p < d_.ftl.own_units() && pages.size() < d_.geometry.units_per_page() &&
                                      room.pool_of(p) == room.pool_of(first);
             ++p)
            pages.push_back(p);
        return pages;
    }

private:
    Device& d_;
};

/// The host writes to one share, and translation pages are written at random: both find room for ever, and none is
/// where it must not be.
TEST(TranslationRoom, ThereIsAlwaysSomeInAFullDrive) {
    for (const Divided& by : kAll) {
        SCOPED_TRACE(std::string(by.dimensions) + " " + by.sets);
        const NandGeometry g = geometry();
        const FtlConfig c = config(g, by);
        Device d(c, g);
        Preconditioner(d.ftl).run();
        d.ftl.verify_books();
        Places places(d);
        const TranslationRoom& room = TranslationPages::of(d.ftl)->room();
        const WritePartitions& partitions = d.ftl.partitions();
        const NvmSets sets(by.sets, g);
        Random random(7);
        const auto collect_all = [&] {
            for (std::uint32_t group = 0; group < d.ftl.shape().groups(); ++group)
                if (d.ftl.wants_collection(GroupId{group})) d.collect(GroupId{group});
        };
        std::uint64_t waits = 0;
        const auto write = [&](Lpa lpa) {
            std::vector<Lpa> one{lpa};
            for (int i = 0; !d.write(one); ++i) {
                ASSERT_LT(i, 200) << "no room for unit " << idx(lpa);
                collect_all();
            }
        };
        for (std::uint32_t i = 0; i < 30000; ++i) {
            const auto pages = places.from(static_cast<std::uint32_t>(random.below(d.ftl.own_units())));
            for (int k = 0; !places.place(pages); ++k, ++waits) {
                ASSERT_LT(k, 200) << "no room for translation page " << pages.front();
                collect_all();
            }
            for (std::uint32_t share = 0; share < partitions.shares(); ++share) {
                const double part = static_cast<double>(d.ftl.own_units()) *
                                    static_cast<double>(partitions.groups(share).size()) / d.ftl.shape().groups();
                ASSERT_LE(room.held(share), part + g.units_per_page() + (partitions.has_ranges() ? 1 : 0)) << share;
            }
            // The host's in one share for a while, then in the next.
            const auto share = i / 500 % partitions.shares();
            const std::uint64_t of_share = partitions.first_units(share, d.ftl.logical_units());
            if (of_share == 0) continue;
            const std::uint64_t unit = partitions.nth(share, random.below(of_share));
            if (unit < d.ftl.logical_units()) write(Lpa{static_cast<std::uint32_t>(unit)});
        }
        d.ftl.verify_books();
        EXPECT_GT(waits, 0u);
        std::uint32_t sum = 0;
        for (std::uint32_t share = 0; share < partitions.shares(); ++share) sum += room.held(share);
        EXPECT_EQ(sum, d.ftl.own_units());
        for (std::uint32_t page = 0; page < d.ftl.own_units() && sets.any(); ++page) {
            const PlaneId plane = g.page_of(d.ftl.lookup(d.ftl.own_unit(page))).plane;
            ASSERT_EQ(sets.of(plane), partitions.share_of(Lpa{page * d.ftl.needs().units_per_own})) << page;
        }
    }
}

/// Each pool has turns of its own: the groups of a set are used evenly, whoever else writes.
TEST(TranslationRoom, EachSetUsesItsGroupsInTurn) {
    const NandGeometry g = geometry();
    const FtlConfig c = config(g, {"none", "C0-2, C3"});
    Device d(c, g);
    Preconditioner(d.ftl).run();
    const auto of_set = [&](std::uint32_t set) {
        const std::uint64_t first = set == 0 ? 0 : d.ftl.partitions().nth(set, 0);
        return static_cast<std::uint32_t>((first + d.ftl.needs().units_per_own - 1) / d.ftl.needs().units_per_own);
    };
    std::vector<std::uint32_t> of_group(d.ftl.shape().groups());
    for (int i = 0; i < 24; ++i)
        for (const std::uint32_t set : {0u, 1u}) {
            GroupId group{};
            ASSERT_TRUE(TranslationPages::of(d.ftl)->next_group(of_set(set), group));
            ++of_group[idx(group)];
        }
    const std::size_t in_first = d.ftl.partitions().groups(0).size();
    ASSERT_EQ(in_first, 12u);
    for (std::size_t i = 0; i < of_group.size(); ++i) EXPECT_EQ(of_group[i], i < in_first ? 2u : 6u) << i;
}

}  // namespace
}  // namespace ssdtlm
