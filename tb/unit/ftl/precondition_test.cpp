// SPDX-License-Identifier: Apache-2.0
#include "controller/precondition/precondition.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

#include "common/random/random.h"
#include "controller/ftl/ftl_check.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

void expect_same(const Device& a, const Device& b) {
    for (std::uint32_t l = 0; l < a.ftl.logical_units(); ++l)
        ASSERT_EQ(a.ftl.lookup(Lpa{l}), b.ftl.lookup(Lpa{l})) << l;
    for (std::uint32_t p = 0; p < a.geometry.units(); ++p) ASSERT_EQ(a.flash.at(Ppa{p}), b.flash.at(Ppa{p})) << p;
    for (std::uint32_t n = 0; n < a.ftl.shape().superblocks(); ++n) {
        const BlockRecord &x = a.ftl.superblock(SuperblockId{n}), &y = b.ftl.superblock(SuperblockId{n});
        ASSERT_EQ(x.state, y.state) << n;
        ASSERT_EQ(x.valid, y.valid) << n;
        ASSERT_EQ(x.write_pointer, y.write_pointer) << n;
        ASSERT_EQ(x.programs, y.programs) << n;
    }
    for (std::uint32_t n = 0; n < a.geometry.blocks(); ++n) {
        ASSERT_EQ(a.flash.next_page(BlockId{n}), b.flash.next_page(BlockId{n})) << n;
        ASSERT_EQ(a.flash.erase_count(BlockId{n}), b.flash.erase_count(BlockId{n})) << n;
    }
    for (std::uint32_t p = 0; p < a.geometry.planes(); ++p)
        ASSERT_EQ(a.ftl.free_blocks(PlaneId{p}), b.ftl.free_blocks(PlaneId{p}));
    const FtlCounters d = a.ftl.counters() - b.ftl.counters();
    EXPECT_EQ(d.host_units + d.host_pages_allocated + d.host_pages + d.gc_pages + d.gc_units_moved + d.blocks_erased +
                  d.victims + d.victim_valid_units,
              0u);
}

/// The same random writes on both, with GC, so that the order of candidates is compared too.
void continue_same(Device& a, Device& b) {
    Random random(99);
    for (int i = 0; i < 8000; ++i) {
        std::vector<Lpa> units;
        for (std::uint32_t s = 0; s < a.geometry.units_per_page(); ++s)
            units.push_back(Lpa{static_cast<std::uint32_t>(random.below(a.ftl.logical_units()))});
        for (Device* d : {&a, &b}) {
            std::vector<Lpa> left = units;
            while (!d->write(left)) {
                for (std::uint32_t group = 0; group < d->ftl.shape().groups(); ++group) d->collect(GroupId{group});
            }
            while (d->ftl.gc_soft(d->last_group()) && d->collect(d->last_group())) {
            }
        }
        ASSERT_EQ(idx(a.geometry.ppa_of(a.last, 0)), idx(b.geometry.ppa_of(b.last, 0))) << i;
    }
    expect_same(a, b);
    a.ftl.verify_books();
}

void write_one_by_one(Device& d, std::uint64_t units) {
    std::vector<Lpa> page;
    for (std::uint64_t l = 0; l < units; ++l) {
        page.push_back(Lpa{static_cast<std::uint32_t>(l)});
        const std::size_t row = std::size_t{d.geometry.units_per_page()} * d.ftl.shape().planes();
        if (page.size() == row || l + 1 == units) {
            ASSERT_TRUE(d.write(page));  // leaves it empty
        }
    }
}

TEST(Precondition, LayOutEqualsUnitByUnitWriting) {
    const NandGeometry g = small_geometry();
    const std::uint64_t row = g.planes() * g.units_per_page(), stripe = row * g.pages_per_block;
    for (const auto& [order, span] :
         {std::pair{"CWDP", SuperblockSpan::plane}, std::pair{"PDWC", SuperblockSpan::plane},
          std::pair{"CWDP", SuperblockSpan::die}}) {
        for (const auto& policy : VictimPolicies::instance().names()) {
            FtlConfig c = small_config(g, 0.6, span);
            c.allocation = order;
            c.gc_policy = policy;
            c.initial_state = InitialState::sequential;
            const std::uint64_t most = Device(c, g).ftl.logical_units();
            for (const std::uint64_t units : {std::uint64_t{1}, std::uint64_t{4}, row - 1, row, 2 * row + 9, stripe - 2,
                                              stripe, stripe + 1, 5 * stripe, 5 * stripe - row + 6, most - 1, most}) {
                SCOPED_TRACE(std::string(order) + (span == SuperblockSpan::die ? " die " : " plane ") + policy + " " +
                             std::to_string(units));
                c.fill = static_cast<double>(units) / static_cast<double>(most) + 1e-9;
                if (c.fill > 1.0) c.fill = 1.0;
                Device fast(c, g), slow(c, g);
                Preconditioner(fast.ftl).run();
                ASSERT_EQ(fast.ftl.mapped_units(), units);
                write_one_by_one(slow, units);
                expect_same(fast, slow);
                fast.ftl.verify_books();
                continue_same(fast, slow);
                if (HasFatalFailure()) return;
            }
        }
    }
}

// What is looked up together is used where it still holds: on small devices with few groups a host page comes between
// often.
TEST(Precondition, LookingAheadChangesNothing) {
    Random random(12);
    for (int i = 0; i < 60; ++i) {
        NandGeometry g = small_geometry();
        g.channels = static_cast<std::uint32_t>(1 + random.below(4));
        g.planes_per_die = static_cast<std::uint32_t>(1 + random.below(2));
        g.page_bytes = 4096u << random.below(3);
        const char* const mappings[] = {"page", "page", "page", "dftl", "fast"};
        const char* const mapping = mappings[random.below(5)];
        const double share =
            mapping == std::string("fast") ? 0.2 : 0.3 + 0.3 * random.unit();  // the log blocks take their part
        const char* const partitions[] = {"none", "none", "C"};
        FtlConfig c = small_config(g, share, random.below(2) == 0 ? SuperblockSpan::plane : SuperblockSpan::die);
        c.mapping = mapping;
        if (c.mapping == "page") c.static_dimensions = partitions[random.below(3)];
        const auto policies = VictimPolicies::instance().names();
        c.gc_policy = policies[random.below(policies.size())];
        if (c.mapping == "page" && random.below(3) == 0) c.most_spread = 2;
        if (random.below(3) == 0) c.free_blocks = FreeBlocks::by_wear;
        c.initial_state = InitialState::random;
        c.fill = 0.7 + 0.3 * random.unit();
        c.overwrite = 3 * random.unit();
        SCOPED_TRACE(std::to_string(i) + " " + c.mapping + " " + c.static_dimensions + " " + c.gc_policy);
        Device ahead(c, g, 9), one_by_one(c, g, 9);
        Preconditioner(ahead.ftl, 1 + random.below(40)).run();
        Preconditioner(one_by_one.ftl, 0).run();
        expect_same(ahead, one_by_one);
        ahead.ftl.verify_books();
        if (HasFatalFailure()) return;
    }
}

TEST(Precondition, RandomIsDeterministicAndEndsWhereAHostAtFullSpeedWould) {
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
        const NandGeometry g = small_geometry();
        FtlConfig c = small_config(g, 0.67, span);
        c.gc_soft_free_blocks = 4;
        c.initial_state = InitialState::random;
        c.fill = 0.95;
        c.overwrite = 2.5;
        Device d(c, g, 42), again(c, g, 42), other(c, g, 43);
        Preconditioner(d.ftl).run();
        Preconditioner(again.ftl).run();
        Preconditioner(other.ftl).run();
        expect_same(d, again);
        d.ftl.verify_books();
        const auto mapped = static_cast<std::uint64_t>(0.95 * static_cast<double>(d.ftl.logical_units()));
        EXPECT_EQ(d.ftl.mapped_units(), mapped);
        EXPECT_EQ(d.ftl.counters().host_units,
                  mapped + static_cast<std::uint64_t>(2.5 * static_cast<double>(mapped) + 0.5));
        const SuperblockShape& shape = d.ftl.shape();
        std::uint32_t victims = 0, waiting = 0, writing = 0;
        for (std::uint32_t i = 0; i < shape.groups(); ++i) {
            const GroupId group{i};
            // The host takes what is above the hard threshold at once, and GC may have opened one below it.
            EXPECT_LE(d.ftl.free_blocks(group), c.gc_hard_free_blocks + 1) << i;
            EXPECT_GE(d.ftl.free_blocks(group) + 1, c.gc_hard_free_blocks) << i;
            ++(d.ftl.takes_host_pages(group) ? writing : waiting);
        }
        for (std::uint32_t b = 0; b < shape.superblocks(); ++b)
            victims += d.ftl.superblock(SuperblockId{b}).state == BlockState::victim;
        std::printf("  %s: %u groups write, %u wait for GC, %u victims begun\n",
                    span == SuperblockSpan::die ? "die" : "plane", writing, waiting, victims);
        EXPECT_GT(victims, 0u);
        std::uint64_t different = 0;
        for (std::uint32_t l = 0; l < mapped; ++l) {
            different += d.ftl.lookup(Lpa{l}) != other.ftl.lookup(Lpa{l});
            ASSERT_EQ(d.ftl.codec().version(d.flash.at(d.ftl.lookup(Lpa{l}))), 1u);
        }
        EXPECT_GT(different, mapped / 2);
        continue_same(d, again);
    }
}

TEST(Precondition, FreshLeavesNothing) {
    const NandGeometry g = small_geometry();
    Device d(small_config(g, 0.65), g);
    Preconditioner(d.ftl).run();
    EXPECT_EQ(d.ftl.mapped_units(), 0u);
    EXPECT_EQ(d.ftl.free_blocks(PlaneId{0}), g.blocks_per_plane);
    d.ftl.verify_books();
}

TEST(Precondition, FullestDeviceCanStillBeOverwritten) {
    const NandGeometry g = small_geometry();
    FtlConfig c = small_config(g, 0.5);
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    c.initial_state = InitialState::random;
    c.overwrite = 1.0;
    Device d(c, g);
    Preconditioner(d.ftl).run();
    d.ftl.verify_books();
}

}  // namespace
}  // namespace ssdtlm
