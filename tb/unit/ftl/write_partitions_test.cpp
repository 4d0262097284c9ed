// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/write_partitions.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/address/sequential_layout.h"
#include "common/random/random.h"
#include "controller/ftl/ftl_check.h"
#include "controller/journal/notes.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

/// Channel, way, die and plane of it, as far as they are static.
std::string place_of(PlaneId plane, const std::string& fixed, const NandGeometry& g) {
    const DieId die = g.die_of(plane);
    std::string out;
    for (const char letter : fixed) {
        if (letter == 'C') out += " c" + std::to_string(g.channel_of(die));
        if (letter == 'W') out += " w" + std::to_string(g.die_in_channel(die) / g.dies_per_chip);
        if (letter == 'D') out += " d" + std::to_string(g.die_in_channel(die) % g.dies_per_chip);
        if (letter == 'P') out += " p" + std::to_string(g.plane_in_die(plane));
    }
    return fixed == "none" ? "" : out;
}

NandGeometry any_geometry(Random& r) {
    const auto one_of = [&r](std::uint32_t most) { return 1 + static_cast<std::uint32_t>(r.below(most)); };
    NandGeometry g;
    g.channels = one_of(4);
    g.ways = one_of(3);
    g.dies_per_chip = one_of(3);
    g.planes_per_die = one_of(4);
    g.blocks_per_plane = 3;
    g.pages_per_block = 4;
    g.page_bytes = 4096 * one_of(4);
    g.unit_bytes = 4096;
    return g;
}

TEST(WritePartitions, AnAddressBelongsWhereAnAscendingWritePutsIt) {
    Random random(1);
    const auto orders = allocation_orders(), choices = static_dimensions();
    ASSERT_EQ(std::set<std::string>(choices.begin(), choices.end()).size(), 16u);
    std::uint64_t units = 0;
    for (int i = 0; i < 400; ++i) {
        const NandGeometry g = any_geometry(random);
        const SuperblockSpan span = random.percent(50) ? SuperblockSpan::die : SuperblockSpan::plane;
        const std::string& order = orders[random.below(24)];
        std::string fixed = choices[random.below(16)];
        if (span == SuperblockSpan::die && fixed.find('P') != std::string::npos) fixed = "CW";
        SCOPED_TRACE(order + " with " + fixed);
        const SuperblockShape shape(g, span);
        const auto rows = row_sequence(order, g, span);
        WritePartitions partitions(fixed, rows, g, shape);
        const SequentialLayout layout(g, rows, g.units());
        std::map<std::string, std::uint32_t> partition_of;  // by what is static
        std::vector<std::uint64_t> seen(partitions.count());
        for (std::uint32_t u = 0; u < g.units(); ++u) {
            const PlaneId plane = g.page_of(layout.place_of(Lpa{u})).plane;
            const std::uint32_t partition = partitions.of(Lpa{u});
            ASSERT_EQ(partition_of.try_emplace(place_of(plane, fixed, g), partition).first->second, partition) << u;
            ASSERT_EQ(partitions.of(shape.group_of(plane)), partition) << u;
            ASSERT_EQ(partitions.nth(partition, seen[partition]++), u);
        }
        ASSERT_EQ(partition_of.size(), partitions.count());
        units += g.units();
        // Where the walk goes on behind so many rows.
        const std::uint64_t written = random.below(3 * shape.groups());
        partitions.move_to(written);
        for (std::uint32_t partition = 0; partition < partitions.count(); ++partition) {
            std::uint64_t row = written;
            while (partitions.of(partitions.sequence()[row % shape.groups()]) != partition) ++row;
            GroupId next{};
            ASSERT_TRUE(partitions.cursor(partition).next(next));
            ASSERT_EQ(next, partitions.sequence()[row % shape.groups()]);
        }
    }
    std::printf("%llu units\n", static_cast<unsigned long long>(units));
}

TEST(WritePartitions, PreconditioningLeavesEachUnitInItsOwn) {
    for (const double fill : {1.0, 0.31, 0.003}) {
        const NandGeometry g = test::small_geometry();
        FtlConfig c = test::small_config(g, 0.6);
        c.static_dimensions = "CWDP";
        c.initial_state = InitialState::random;
        c.fill = fill;
        c.overwrite = 4.0;
        Device d(c, g);
        Preconditioner(d.ftl).run();
        d.ftl.verify_books();
        std::uint32_t mapped = 0;
        for (std::uint32_t u = 0; u < d.ftl.logical_units(); ++u) {
            const Ppa p = d.ftl.lookup(Lpa{u});
            if (p == kUnmapped) continue;
            ++mapped;
            ASSERT_EQ(d.ftl.partitions().of(d.ftl.shape().group_of(g.page_of(p).plane)), d.ftl.partitions().of(Lpa{u}))
                << u;
        }
        EXPECT_EQ(mapped, static_cast<std::uint32_t>(fill * static_cast<double>(d.ftl.logical_units())));
        EXPECT_EQ(d.ftl.counters().host_units, std::uint64_t{5} * mapped);
    }
}

/// Full to the last unit; all partitions but the first one are at their hard threshold, and their units are deallocated
/// one by one: the journal must not take room in the first one that its own units need.
TEST(WritePartitions, TheJournalOfTheOthersTakesItsShareOfOneAndNoMore) {
    NandGeometry g = test::small_geometry();
    g.channels = 8;
    g.page_bytes = g.unit_bytes = 128;  // 8 entries to a page
    FtlConfig c = test::small_config(g, 0.5);
    c.static_dimensions = "CWDP";
    c.initial_state = InitialState::sequential;
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    Device d(c, g);
    Preconditioner(d.ftl).run();
    Random random(1);
    std::vector<std::vector<Lpa>> units(d.ftl.partitions().count());
    for (std::uint32_t u = 0; u < d.ftl.logical_units(); ++u) units[d.ftl.partitions().of(Lpa{u})].push_back(Lpa{u});
    const auto group = [&d](std::uint32_t partition) { return d.ftl.partitions().groups(partition).front(); };
    const auto some_of = [&](std::uint32_t partition) {
        return std::vector<Lpa>{units[partition][random.below(units[partition].size())]};
    };
    for (std::uint32_t partition = 1; partition < units.size(); ++partition)
        while (!d.ftl.gc_hard(group(partition))) ASSERT_TRUE(d.write(some_of(partition)));
    const auto write_page = [&](GroupId to) {
        const Journal::Id id = notes_of(d.ftl).journal().next(false);
        const PageAddress a = notes_of(d.ftl).place_page(id, to);
        const Spare none[] = {kPadding};
        PageRecord record = d.ftl.draw_record(a, PageKind::journal);
        record.content = &notes_of(d.ftl).journal().page(id).content;
        d.flash.program_page(a, none, record);
        std::vector<SuperblockId> freed;
        notes_of(d.ftl).page_programmed(id, freed);
    };
    std::uint32_t pages = 0, next = 0;
    GroupId to{};
    for (;; ++pages) {
        while (notes_of(d.ftl).journal().next(false) == Journal::kDetached) {
            const auto& from = units[1 + next % (units.size() - 1)];
            d.ftl.trim(from[next / (units.size() - 1)]);
            ++next;
        }
        if (!notes_of(d.ftl).group_for_page(to)) break;
        ASSERT_EQ(to, group(0));
        write_page(to);
    }
    EXPECT_EQ(pages, most_journal_pages(c, g));
    ASSERT_TRUE(d.collect(group(5)));
    ASSERT_TRUE(notes_of(d.ftl).group_for_page(to));
    EXPECT_EQ(to, group(5));
    for (int i = 0; i < 20000; ++i) {
        std::vector<Lpa> unit = some_of(0);
        while (!d.write(unit)) ASSERT_TRUE(d.collect(group(0))) << "no space and nothing to collect";
    }
    d.ftl.verify_books();
}

}  // namespace
}  // namespace ssdtlm
