// SPDX-License-Identifier: Apache-2.0
// The random commands of firmware_random_test over flash that fails. Every read is compared or fails for a reason; at
// the end exactly the lost units fail. SSDTLM_TEST_SEED in the environment moves all seeds.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <utility>

#include "controller/ftl/mapping/mapping.h"
#include "controller/map/cached/pages/translation_contents.h"
#include "random_host.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

/// 6 of the 24 blocks of each plane are spare.
DeviceShape failing_device(const FaultRates& rates, std::uint32_t spare_blocks = 6) {
    DeviceShape d = tiny_device();
    d.ftl.spare_blocks = spare_blocks;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    d.faults = rates;
    return d;
}

/// Without random log blocks: block mapping.
DeviceShape with_log_blocks(DeviceShape d, std::uint32_t random_logs) {
    d.ftl.mapping = random_logs == 0 ? "block" : "fast";
    d.ftl.fast.random_log_blocks = random_logs;
    d.geometry.blocks_per_plane += random_logs + d.ftl.spare_blocks;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    return d;
}

/// With few entries in memory and few in a translation page.
DeviceShape with_map_on_flash(DeviceShape d, std::uint64_t seed) {
    const bool by_page = seed % 2 == 0;
    d.ftl.mapping = "dftl";
    d.ftl.map.granularity = by_page ? MapGranularity::page : MapGranularity::entry;
    d.ftl.map.entry_bytes = d.geometry.unit_bytes / (seed % 3 == 0 ? 2 : 8);
    d.ftl.map.cache_bytes =
        (seed % 4 < 2 ? 6 : 40) * std::uint64_t{by_page ? d.geometry.unit_bytes : 2 * d.ftl.map.entry_bytes};
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    return d;
}

struct Failures {
    std::uint64_t given_up = 0;
    std::uint64_t map_programs = 0, map_reads = 0;
    std::uint64_t programs = 0, erases = 0, retries = 0, lost = 0, healed = 0, marked = 0, failed_reads = 0,
                  failed_writes = 0, retired = 0;
    unsigned read_only = 0, devices = 0;
    void add(const DeviceUnderTest& d) {
        programs += d.flash.programs_failed;
        erases += d.flash.erases_failed;
        given_up += d.firmware.buffer().given_up();
        map_programs += d.flash.map_programs_failed;
        map_reads += d.flash.map_reads_lost;
        retries += d.flash.retried;
        lost += d.lost.found;
        healed += d.lost.healed;
        marked += d.ftl.media().units_lost;
        failed_reads += d.lost.failed_reads;
        failed_writes += d.failed[0] - d.lost.failed_reads;
        retired += d.ftl.media().blocks_retired;
        read_only += d.ftl.media().read_only;
        ++devices;
    }
    void print() const {
        std::printf(
            "%u devices, %u of them read-only at the end: %llu programs and %llu erases failed, %llu blocks retired; "
            "%llu reads retried; "
            "%llu units lost, %llu of them marked by GC or a merge, %llu written again; %llu reads and %llu writes "
            "ended with 2/81\n",
            devices, read_only, static_cast<unsigned long long>(programs), static_cast<unsigned long long>(erases),
            static_cast<unsigned long long>(retired), static_cast<unsigned long long>(retries),
            static_cast<unsigned long long>(lost), static_cast<unsigned long long>(marked),
            static_cast<unsigned long long>(healed), static_cast<unsigned long long>(failed_reads),
            static_cast<unsigned long long>(failed_writes));
        if (map_programs + map_reads != 0)
            std::printf(
                "of translation pages %llu programs failed, and %llu reads could not be corrected; %llu units given "
                "up\n",
                static_cast<unsigned long long>(map_programs), static_cast<unsigned long long>(map_reads),
                static_cast<unsigned long long>(given_up));
    }
};

/// Every unit answers 2/81 if it is lost, and else what was last written.
void expect_exactly_the_lost(DeviceUnderTest& d) {
    for (std::uint32_t unit = 0; unit < d.ftl.logical_units(); ++unit) {
        const auto slot = d.read(std::uint64_t{unit} * d.blocks_per_unit(), d.blocks_per_unit());
        d.drain();
        ASSERT_EQ(d.status(slot) == CommandStatus::unrecovered_read, d.lost.is_lost(unit)) << "unit " << unit;
        ASSERT_EQ(d.status(slot) == CommandStatus::success, !d.lost.is_lost(unit)) << "unit " << unit;
    }
}

void fail(DeviceShape shape, Mix mix, std::uint64_t seed, Failures& failures) {
    seed += seed_offset();
    SCOPED_TRACE("seed " + std::to_string(seed));
    shape.seed = seed;
    shape.bytes = seed % 3 == 0;
    shape.ftl.superblock = seed % 5 == 4 && !mapping_of(shape.ftl, {})->places_by_blocks() ? SuperblockSpan::drive
                           : seed % 2 == 0                                                 ? SuperblockSpan::die
                                                                                           : SuperblockSpan::plane;
    DeviceUnderTest d(shape);
    if (d.ftl.own_units() != 0) keep_translation_pages(d.ftl, d.spare);  // what comes from the flash is compared
    RandomHost host(d, mix, seed);
    ASSERT_NO_THROW(host.run()) << d.firmware.dump();
    ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
    ASSERT_EQ(d.failed[3], 0u);
    const MediaHealth& media = d.ftl.media();
    EXPECT_EQ(media.program_failures, d.flash.programs_failed);
    if (d.firmware.buffer().given_up() == 0) {
        ASSERT_NO_THROW(expect_exactly_the_lost(d)) << d.firmware.dump();
    } else {
        ASSERT_NO_THROW(d.read_all()) << d.firmware.dump();
    }
    if (!media.read_only) {
        EXPECT_EQ(d.failed[1] + d.failed[2], 0u);
        EXPECT_EQ(d.firmware.buffer().given_up(), 0u);
    } else {
        EXPECT_EQ(media.available_spare, 0u);
        const auto refused = d.write(0, 1);
        const auto trim = d.trim(0, d.blocks_per_unit());
        d.drain();
        EXPECT_EQ(d.status(refused), CommandStatus::read_only);
        EXPECT_EQ(d.status(trim), CommandStatus::read_only);
    }
    EXPECT_EQ(d.oracle.unverified(), 0u);
    ASSERT_NO_THROW(d.ftl.verify_books());
    failures.add(d);
}

// Merges pad what cannot be read, and superblocks that cannot be erased, or programmed, have others in their place.
TEST(FirmwareRandomFailures, LogBlocksThatFail) {
    Failures failures;
    Mix m;
    m.commands = 10000;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        const double programs = seed % 3 == 0 ? 0 : 1e-3, erases = seed % 4 == 3 ? 1e-2 : 1e-3,
                     lost = seed % 3 == 0 ? 0 : 3e-3;
        fail(with_log_blocks(failing_device({programs, erases, 1e-2, lost}, 16), static_cast<std::uint32_t>(seed % 4)),
             m, seed, failures);
        if (HasFatalFailure()) return;
    }
    failures.print();
    EXPECT_GT(failures.programs, 100u);
    EXPECT_GT(failures.erases, 30u);
    EXPECT_GT(failures.marked, 100u);
    EXPECT_GT(failures.healed, 100u);
    EXPECT_GT(failures.failed_reads, 100u);
    EXPECT_LT(failures.read_only, failures.devices);
    EXPECT_GT(failures.read_only, 0u);
}

// What a failed program was to write may be deallocated by then: nobody has to wait for it, or with it. With seed 6006
// one waited for a page behind others, which waited for a merge's erase, which waited for it.
TEST(FirmwareRandomFailures, ProgramsOfWhatIsDeallocated) {
    Failures failures;
    Mix m;
    m.read = 10;
    m.write = 80;
    m.trim = 6;
    m.zeroes = 2;
    m.hot = 95;
    m.commands = 3000;
    for (std::uint64_t seed = 6000; seed < 6024; ++seed) {
        DeviceShape d = failing_device({1e-2, 0, 0, 0});
        d.ftl.spare_blocks = 60;
        d.geometry.page_bytes = d.geometry.unit_bytes;
        const bool by_page = seed % 4 == 3;
        if (by_page) {
            d.geometry.blocks_per_plane += d.ftl.spare_blocks;
            d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
        }
        fail(by_page ? d : with_log_blocks(d, static_cast<std::uint32_t>(seed % 4)), m, seed, failures);
        if (HasFatalFailure()) return;
    }
    failures.print();
    EXPECT_GT(failures.programs, 100u);
    EXPECT_LT(failures.read_only, failures.devices);
}

TEST(FirmwareRandomFailures, FlashThatFails) {
    Failures failures;
    Mix m;
    m.commands = 15000;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) fail(failing_device({4e-4, 1e-3, 1e-2, 5e-3}), m, seed, failures);
    // The SLC cache has no spare blocks, and may be all gone.
    for (std::uint64_t seed = 9; seed <= 16; ++seed)
        fail(with_slc_cache(failing_device({1e-3, 2e-3, 1e-2, 5e-3}), 1 + static_cast<std::uint32_t>(seed % 5), 1), m,
             seed, failures);
    failures.print();
    EXPECT_GT(failures.programs, 10u);
    EXPECT_GT(failures.marked, 100u);
    EXPECT_GT(failures.healed, 100u);
    EXPECT_GT(failures.failed_reads, 100u);
    EXPECT_LT(failures.read_only, failures.devices);
}

// Writes of parts of units that are lost, or turn out to be, in every order.
TEST(FirmwareRandomFailures, PartialWritesToLostUnits) {
    Failures failures;
    Mix m;
    m.whole = 10;
    m.hot = 80;
    m.fua = 40;
    m.trim = 10;
    m.commands = 10000;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        DeviceShape d = failing_device({1e-4, 0, 1e-3, 3e-2});
        d.slots = seed % 3 == 0 ? 2 : 64;
        if (seed > 4) d.late_map = LateMap::Shape{Ps{1}, Ps{2'000'000'000}, 30};
        fail(d, m, seed, failures);
    }
    failures.print();
    EXPECT_GT(failures.failed_writes, 100u);
    EXPECT_GT(failures.healed, 100u);
}

// Blocks that have to be emptied pile up; collection must not run out of free ones.
TEST(FirmwareRandomFailures, ManyFailuresAndManySpareBlocks) {
    Failures failures;
    Mix m;
    m.read = 20;
    m.write = 75;
    m.trim = m.zeroes = 1;
    m.hot = 10;
    m.commands = 6000;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        DeviceShape d = failing_device({seed % 2 == 0 ? 5e-3 : 2e-3, 1e-2, 1e-3, 1e-3}, 0);
        d.geometry.blocks_per_plane = 24 + 60;
        d.ftl.spare_blocks = 60;
        d.ftl.gc_soft_free_blocks = seed % 3 == 0 ? 3 : 4;
        d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
        fail(d, m, seed, failures);
    }
    failures.print();
    EXPECT_GT(failures.retired, 500u);
    EXPECT_LT(failures.read_only, failures.devices);
}

TEST(FirmwareRandomFailures, SparesThatAreUsedUp) {
    Failures failures;
    Mix m;
    m.commands = 6000;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        DeviceShape d =
            failing_device({seed % 2 == 0 ? 1e-2 : 2e-3, 1e-2, 1e-3, 1e-3}, static_cast<std::uint32_t>(seed % 4));
        if (seed > 8) d.ftl.buffer_mode = BufferMode::write_through;
        if (seed % 3 == 0) d.ftl.buffer_bytes = 6 * 4096;
        fail(d, m, seed, failures);
    }
    failures.print();
    EXPECT_EQ(failures.read_only, failures.devices);
}

// What a translation page says does not get lost, however often programs and reads of it fail.
TEST(FirmwareRandomFailures, WithTheMapOnTheFlash) {
    Failures failures;
    Mix m;
    m.commands = 15000;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        DeviceShape d = with_map_on_flash(failing_device({seed % 2 == 0 ? 1e-3 : 2e-4, 1e-3, 1e-2, 2e-2}), seed);
        fail(seed % 4 == 3 ? with_slc_cache(d, 2, 1) : d, m, seed, failures);
    }
    failures.print();
    EXPECT_GT(failures.map_programs, 25u);
    EXPECT_GT(failures.map_reads, 1000u);
    EXPECT_LT(failures.read_only, failures.devices);
}

TEST(FirmwareRandomFailures, SparesThatAreUsedUpWithTheMapOnTheFlash) {
    Failures failures;
    Mix m;
    m.commands = 5000;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        DeviceShape d = with_map_on_flash(
            failing_device({seed % 2 == 0 ? 1e-2 : 2e-3, 1e-2, 1e-3, 1e-3}, static_cast<std::uint32_t>(seed % 4)),
            seed);
        if (seed > 40) d.ftl.buffer_mode = BufferMode::write_through;
        if (seed % 3 == 0) d.ftl.buffer_bytes = 6 * 4096;
        fail(d, m, seed, failures);
    }
    failures.print();
    EXPECT_GT(failures.map_programs, 20u);
    EXPECT_EQ(failures.read_only, failures.devices);
}

struct AllProgramsFail final : ArrayFaults {
    explicit AllProgramsFail(const DeviceUnderTest& device) : d(device) {}
    bool program_fails(const ArrayWork& work) override {
        const PageAddress& a = work.page;
        const SuperblockId b = d.ftl.shape().superblock_of(d.shape.geometry.block_of(a));
        return on && d.ftl.superblock(b).stream == kMapStream;
    }
    bool erase_fails(const ArrayWork&) override { return false; }
    std::uint16_t wrong_bits(const ArrayWork&, std::uint32_t) override { return 0; }
    const DeviceUnderTest& d;
    bool on = false;
};

// The last translation pages of a drive that has become read-only fail, when what the buffer held may have taken all
// that was free: there is no page for them, and what they were to say stays in memory. Some of the buffer finds none
// either, and is given up.
TEST(FirmwareRandomFailures, TranslationPagesThatFindNoOtherPage) {
    std::uint64_t failed = 0, given_up = 0, without_page = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape s = tiny_device();
        s.geometry.pages_per_block = 4;
        s.geometry.blocks_per_plane = 60;
        s.ftl.buffer_bytes = 256ull * s.geometry.unit_bytes;
        s.ftl.flush_start_percent = seed % 2 == 0 ? 80 : 0;
        s = with_map_on_flash(s, seed);
        s.ftl.map.cache_bytes *= 2;
        s.seed = seed;
        DeviceUnderTest d(s);
        keep_translation_pages(d.ftl, d.spare);
        AllProgramsFail faults(d);
        d.flash.faults = &faults;
        d.flash.map_programs_slower = 30;
        Mix m;
        m.read = 10;
        m.write = 88;
        m.trim = m.zeroes = m.flush = 0;
        m.hot = 10;
        m.commands = 3000;
        std::uint64_t programs = 0;
        d.flash.on_program = [&](const FlashTransaction& t) {
            if (t.cls != FlashClass::mapping_write || ++programs != 5 + seed) return;
            faults.on = true;
            d.ftl.refuse_writes();
        };
        RandomHost host(d, m, seed);
        ASSERT_NO_THROW(host.run()) << d.firmware.dump();
        const std::uint64_t dirty_pages = d.ftl.counters().map_pages;
        ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
        if (!d.ftl.media().read_only) continue;
        for (int again = 0; again < 2; ++again) ASSERT_NO_THROW(d.read_all()) << d.firmware.dump();
        ASSERT_NO_THROW(d.ftl.verify_books());
        EXPECT_EQ(d.ftl.counters().map_pages, dirty_pages);
        failed += d.flash.map_programs_failed;
        given_up += d.firmware.buffer().given_up();
        std::set<std::uint32_t> pages;
        for (std::uint32_t u = 0; u < d.ftl.logical_units(); ++u)
            if (is_place(d.ftl.lookup(Lpa{u}))) pages.insert(u / d.ftl.needs().units_per_own);
        for (const std::uint32_t page : pages) without_page += !is_place(d.ftl.lookup(d.ftl.own_unit(page)));
    }
    std::printf(
        "%llu programs of translation pages failed, %llu of these pages are on the flash no more; %llu units given "
        "up\n",
        static_cast<unsigned long long>(failed), static_cast<unsigned long long>(without_page),
        static_cast<unsigned long long>(given_up));
    EXPECT_GT(without_page, 20u);
    EXPECT_GT(given_up, 100u);
}

struct OneProgramFails final : ArrayFaults {
    bool program_fails(const ArrayWork&) override { return std::exchange(next, false); }
    bool erase_fails(const ArrayWork&) override { return false; }
    std::uint16_t wrong_bits(const ArrayWork&, std::uint32_t) override { return 0; }
    bool next = false;
};

// The drive becomes read-only at any moment of a collection: while pages are read, while programs of them wait for a
// slow core.
TEST(FirmwareRandomFailures, CollectionIsGivenUpWhereverItIs) {
    Mix m;
    m.read = 5;
    m.write = 92;
    m.trim = m.zeroes = 1;
    m.flush = 1;
    m.hot = 5;
    m.commands = 2500;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape shape = tiny_device();
        shape.seed = seed;
        shape.firmware.clock_hz = 20'000'000;
        shape.ftl.gc_max_inflight_pages = static_cast<std::uint32_t>(2 + seed % 8);
        shape.ftl.superblock = seed % 2 == 0 ? SuperblockSpan::die : SuperblockSpan::plane;
        DeviceUnderTest d(shape);
        OneProgramFails faults;
        d.flash.faults = &faults;
        std::uint64_t moved = 0;
        d.flash.on_program = [&](const FlashTransaction& t) {
            if (t.cls == FlashClass::gc_write && ++moved == 50 + 3 * seed) faults.next = true;
        };
        RandomHost host(d, m, seed);
        ASSERT_NO_THROW(host.run()) << d.firmware.dump();
        ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
        EXPECT_TRUE(d.ftl.media().read_only);
        ASSERT_NO_THROW(d.read_all()) << d.firmware.dump();
    }
}

}  // namespace
}  // namespace ssdtlm
