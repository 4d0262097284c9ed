// SPDX-License-Identifier: Apache-2.0
// What capacitors have to supply, by hand and against how long the drive takes to write as much; and what their
// protection spares the host.
#include "sim/device/capacitors.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "formula/one_by_one.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

/// 2 channels with 2 dies of 2 planes each: 8 pages of 16 KiB in a row.
SsdConfig four_dies(BufferMode mode, std::uint64_t buffer_units) {
    SsdConfig c = table3_small();
    NandGeometry& g = c.nand.geometry;
    g.channels = 2;
    g.ways = 1;
    g.dies_per_chip = 2;
    g.planes_per_die = 2;
    g.page_bytes = 16384;
    g.unit_bytes = 4096;
    c.nand.transfer_spare = false;
    c.nand.onfi.megatransfers = 400;
    c.nand.onfi.interface = OnfiInterface::nv_ddr2;
    c.nand.t_program = {Ps{700'000'000}};
    c.ftl.user_capacity_bytes = std::uint64_t{g.units()} / 2 * g.unit_bytes;
    c.ftl.initial_state = InitialState::fresh;
    c.ftl.buffer_mode = mode;
    c.ftl.buffer_bytes = buffer_units * g.unit_bytes;
    return c;
}

TEST(Capacitors, ByHand) {
    // 257 units are 65 pages, 9 rows and 33 programs of a die. A page takes 40.96 us on the bus, a row 4 * 40.96 + 700
    // us.
    const Capacitors buffer = capacitors_of(four_dies(BufferMode::power_protected, 257));
    EXPECT_EQ(buffer.buffer_pages, 65u);
    EXPECT_EQ(buffer.map_pages, 0u);
    EXPECT_EQ(buffer.time, Ps{std::int64_t{9} * 863'840'000});
    EXPECT_NEAR(buffer.joules, 7.77456e-3 * 3.0 + 33 * 0.7e-3 * 0.1, 1e-9);

    SsdConfig c = four_dies(BufferMode::write_back, 257);
    EXPECT_FALSE(capacitors_of(c).any());
    c.ftl.mapping = "dftl";
    EXPECT_FALSE(capacitors_of(c).any()) << "nothing bounds what is dirty, and the buffer is volatile";
    const std::uint64_t units = c.ftl.user_capacity_bytes / 4096, pages = (units * c.ftl.map.entry_bytes + 4095) / 4096;
    c.ftl.map.power_protected = 0.5;
    EXPECT_EQ(capacitors_of(c).map_pages, (static_cast<std::uint64_t>(static_cast<double>(pages) * 0.5 + 0.5) + 3) / 4);
    EXPECT_EQ(capacitors_of(c).buffer_pages, 0u);
    c.ftl.map.power_protected = 1.0;
    c.ftl.buffer_mode = BufferMode::power_protected;
    c.power = {1'000'000, 0};
    const Capacitors both = capacitors_of(c);
    EXPECT_EQ(both.map_pages, (pages + 3) / 4);
    EXPECT_NEAR(both.joules, static_cast<double>(both.time.count()) * 1e-12, 1e-9);
}

std::vector<OneByOne::Step> writes(std::uint32_t count) {
    std::vector<OneByOne::Step> steps;
    for (std::uint64_t i = 0; i < count; ++i) steps.push_back({HostOp::write, i * 16384, 16384});
    return steps;
}

// Above by what the drive overlaps, transfers of a row with the programs of the one before; no less than its programs.
TEST(Capacitors, TheDriveTakesNoLongerToEmptyItsBuffer) {
    SsdConfig c = four_dies(BufferMode::write_back, 400);
    c.ftl.flush_start_percent = 99;
    std::vector<OneByOne::Step> steps = writes(60);  // 240 units, 60 pages
    steps.push_back({HostOp::flush, 0, 0});
    const std::int64_t flush = latencies_one_by_one(c, steps).back();
    const std::int64_t bound = capacitors_of(four_dies(BufferMode::power_protected, 240)).time.count();
    std::printf("[   FIGURE ] 60 pages: flush %ld ps, capacitors for %ld ps at most\n", flush, bound);
    EXPECT_LE(flush, bound);
    EXPECT_GE(flush, std::int64_t{8} * 700'000'000);
}

/// From the failure of the supply of a drive at rest until the power goes; ps.
std::int64_t time_on_capacitors(SsdConfig c, const std::vector<OneByOne::Step>& steps) {
    c.host.power_cut_at = {Ps{10'000'000'000} * static_cast<std::int64_t>(steps.size() + 1)};
    return std::stoll(in_child([&] {
        OneByOne workload([&] {
            std::vector<OneByOne::Step> then_read = steps;
            for (int i = 0; i < 3; ++i) then_read.push_back({HostOp::read, 0, 4096});
            return then_read;
        }());
        Simulation simulation(c, workload, {});
        simulation.run();
        return std::to_string(simulation.system().power_cuts().at(0).on_capacitors.count());
    }));
}

// A flush that a host asks for takes as long, but for its way to the cores and back: that is all that a flush of an
// empty buffer takes.
TEST(Capacitors, SupplyTheDriveForAsLongAsAFlushTakes) {
    for (const std::uint32_t count : {0u, 1u, 60u}) {
        SsdConfig c = four_dies(BufferMode::write_back, 400);
        c.ftl.flush_start_percent = 99;
        c.firmware.other_command = 1000;
        std::vector<OneByOne::Step> steps = {{HostOp::flush, 0, 0}};
        for (const auto& s : writes(count)) steps.push_back(s);
        steps.push_back({HostOp::flush, 0, 0});
        const auto latency = latencies_one_by_one(c, steps);
        const std::int64_t formula = latency.back() - latency.front() +
                                     Clock::hertz(c.firmware.clock_hz).cycles(c.firmware.other_command).count();
        c.ftl.buffer_mode = BufferMode::power_protected;
        const std::int64_t model = time_on_capacitors(c, writes(count));
        std::printf("[   FIGURE ] %u pages on capacitors: formula %ld ps, model %ld ps\n", count, formula, model);
        EXPECT_EQ(model, formula);
    }
}

TEST(Capacitors, SpareTheHostFlushAndFua) {
    SsdConfig c = four_dies(BufferMode::power_protected, 400);
    c.ftl.flush_start_percent = 99;
    std::vector<OneByOne::Step> steps = {{HostOp::flush, 0, 0}};
    for (const auto& s : writes(60)) steps.push_back(s);
    steps.push_back({HostOp::flush, 0, 0});
    steps.push_back({HostOp::write, 61 * 16384, 16384, true});
    const auto latency = latencies_one_by_one(c, steps);
    EXPECT_EQ(latency[61], latency[0]) << "a flush waits for nothing in the buffer";
    EXPECT_EQ(latency[62], latency[60]) << "nor does a forced write";
}

}  // namespace
}  // namespace ssdtlm
