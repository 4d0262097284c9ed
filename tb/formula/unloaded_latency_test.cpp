// SPDX-License-Identifier: Apache-2.0
// Queue depth 1: every command's end-to-end latency equals the formula to the picosecond.
#include <systemc>

#include "formula/reference.h"
#include "sim/config/config_loader.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

void expect_exact(const SsdConfig& c, std::uint32_t bytes) {
    ClosedLoop::Spec s;
    s.bytes = bytes;
    s.depth = 1;
    s.requests = 500;
    s.span = c.ftl.user_capacity_bytes / bytes * bytes;
    const auto r = run_closed_loop(c, s);
    const std::int64_t expected = reference::unloaded_read(c, bytes);
    std::printf("[   FIGURE ] %s Gen%u x%u, %u bytes: formula %ld ps, model %ld .. %ld ps\n", c.name.c_str(),
                c.link.generation, c.link.lanes, bytes, expected, r["exact_min_ps"].get<std::int64_t>(),
                r["exact_max_ps"].get<std::int64_t>());
    EXPECT_EQ(r["exact_min_ps"].get<std::int64_t>(), expected);
    EXPECT_EQ(r["exact_max_ps"].get<std::int64_t>(), expected);
}

SsdConfig preset() {
    return load_config({"mqsim-table3"}, {}).config;
}

TEST(UnloadedRead, ThePresetItself) {
    expect_exact(preset(), 4096);
    expect_exact(preset(), 512);
}

// Tests and documents take the small device's figures for the preset's.
TEST(UnloadedRead, TheSmallDeviceHasThePresetsTiming) {
    const SsdConfig small = table3_small(), whole = preset();
    for (const std::uint32_t bytes : {512u, 4096u, 8192u})
        EXPECT_EQ(reference::unloaded_read(small, bytes), reference::unloaded_read(whole, bytes)) << bytes;
    const OnfiTiming &a = small.nand.onfi, &b = whole.nand.onfi;
    for (Ps OnfiTiming::*t :
         {&OnfiTiming::t_wc, &OnfiTiming::t_cs, &OnfiTiming::t_adl, &OnfiTiming::t_ccs, &OnfiTiming::t_rhw,
          &OnfiTiming::t_rr, &OnfiTiming::t_wb, &OnfiTiming::t_wpre, &OnfiTiming::t_wpst, &OnfiTiming::t_wpsth,
          &OnfiTiming::t_rpre, &OnfiTiming::t_dqsre, &OnfiTiming::t_rpsth, &OnfiTiming::t_plane_busy})
        EXPECT_EQ(a.*t, b.*t);
    EXPECT_EQ(a.interface, b.interface);
    EXPECT_EQ(a.megatransfers, b.megatransfers);
    EXPECT_EQ(small.nand.t_read, whole.nand.t_read);
    EXPECT_EQ(small.nand.t_program, whole.nand.t_program);
    EXPECT_EQ(small.nand.t_erase, whole.nand.t_erase);
}

TEST(UnloadedRead, FourKiBOnTable3) {
    expect_exact(table3_small(), 4096);
}

TEST(UnloadedRead, OneSectorTransfersOneSector) {
    expect_exact(table3_small(), 512);
}

TEST(UnloadedRead, FasterLinkAndEcc) {
    SsdConfig c = table3_small();
    c.link.generation = 4;
    c.link.data_link_efficiency = 1.0;
    c.ecc.decode_time = Ps{3'000'000};
    c.host.interrupt_latency = Ps{1'000'000};
    expect_exact(c, 4096);
}

// 8 KiB at byte 512 of a page touch three pages: PRP2 names a list of two entries, which the drive reads first. As an
// SGL they are one data block descriptor, in the entry itself.
TEST(UnloadedRead, AListOfPrpsCostsItsReadAndADataBlockDescriptorNone) {
    SsdConfig c = table3_small();
    c.host.buffer_offset = 512;
    c.nvme.sgls = true;
    expect_exact(c, 8192);
    const LinkConfig& l = c.link;
    const std::int64_t list = reference::wire(l, reference::header(true)) + l.device_to_host_latency.count() +
                              l.root_complex_latency.count() + reference::wire(l, 16 + reference::header(false)) +
                              l.host_to_device_latency.count();
    const std::int64_t with_sgl = reference::unloaded_read(c, 8192);
    c.nvme.sgls = false;
    ClosedLoop::Spec s;
    s.bytes = 8192;
    s.depth = 1;
    s.requests = 200;
    s.span = c.ftl.user_capacity_bytes / 8192 * 8192;
    const auto r = run_closed_loop(c, s);
    std::printf("[   FIGURE ] 8 KiB in three pages: %ld ps by SGL, %ld ps more by PRPs\n", with_sgl, list);
    EXPECT_EQ(r["exact_min_ps"].get<std::int64_t>(), with_sgl + list);
    EXPECT_EQ(r["exact_max_ps"].get<std::int64_t>(), with_sgl + list);
}

TEST(UnloadedRead, PassesTheDramTwice) {
    SsdConfig c = table3_small();
    c.dram.bytes_per_second = 10'000'000;
    c.dram.access_latency = Ps{777};
    expect_exact(c, 4096);
}

// In and out of the DRAM, each 4,096 bytes and one access.
TEST(UnloadedWrite, PassesTheDramOnItsWayInAndOut) {
    const auto latency = [](std::uint64_t rate) {
        SsdConfig c = table3_small();
        c.ftl.buffer_mode = BufferMode::write_through;
        c.dram.bytes_per_second = rate;
        ClosedLoop::Spec s;
        s.op = HostOp::write;
        s.bytes = 4096;
        s.depth = 1;
        s.requests = 500;
        s.span = c.ftl.user_capacity_bytes / 4096 * 4096;
        const auto r = run_closed_loop(c, s);
        EXPECT_EQ(r["exact_min_ps"], r["exact_max_ps"]);
        return r["exact_max_ps"].get<std::int64_t>();
    };
    const std::int64_t slow = latency(10'000'000), fast = latency(12'800'000'000);
    std::printf("[   FIGURE ] 4 KiB write to flash: %ld ps, with 10 MB/s of DRAM %ld ps\n", fast, slow);
    EXPECT_EQ(slow - fast, 2 * (4096 * 100'000 - 320'000));
}

TEST(UnloadedRead, FirmwareCyclesCountFully) {
    SsdConfig c = table3_small();
    c.firmware.clock_hz = 333'000'000;
    c.firmware.read_command = 1001;
    expect_exact(c, 4096);
}

TEST(UnloadedRead, WithoutFirmwareCost) {
    SsdConfig c = table3_small();
    c.firmware.read_command = c.firmware.map_lookup = c.firmware.flash_issue = 0;
    expect_exact(c, 4096);
}

}  // namespace
}  // namespace ssdtlm
