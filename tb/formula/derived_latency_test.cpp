// SPDX-License-Identifier: Apache-2.0
// Unloaded latencies as `config derive` has them against the model's. What a command of 128 KiB overlaps is known to
// a few per cent: the order of pages on the bus is the scheduler's, and its requests for data share the link.
#include "formula/one_by_one.h"
#include "sim/derive/derive.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

void expect_derived(const char* what, SsdConfig c, double tolerance) {
    c.ftl.buffer_bytes = 8u << 20;
    // A command alone has no doorbell of the one before in front of it.
    const std::vector<OneByOne::Step> steps = {{HostOp::read, 0, 4096},
                                               {HostOp::read, 131072, 131072},
                                               {HostOp::write, 1u << 20, 4096},
                                               {HostOp::write, 2u << 20, 131072}};
    const auto model = latencies_one_by_one(c, steps);
    const Figures derived = latency_figures(c);
    const char* const names[] = {"read_4k", "read_128k", "write_4k", "write_128k"};
    for (std::size_t i = 0; i < 4; ++i)
        for (const Figure& f : derived.of) {
            if (f.name != names[i]) continue;
            const double us = static_cast<double>(model[i]) * 1e-6, formula = f.value * 1e6;
            std::printf("[   FIGURE ] %s, %s: formula %.3f us, model %.3f us, %+.2f %%\n", what, names[i], formula, us,
                        (us / formula - 1) * 100);
            EXPECT_NEAR(us / formula, 1, i % 2 == 1 ? tolerance : 0.01) << what << ", " << names[i];
        }
    EXPECT_EQ(derived.of.size(), 4u);
}

TEST(DerivedLatency, OfTable3) {
    expect_derived("table 3", table3_small(), 0.05);
}
TEST(DerivedLatency, OfOtherLinksAndBuses) {
    SsdConfig c = table3_small();
    c.link.generation = 4;
    c.link.max_payload_bytes = 128;
    c.link.completion_payload_bytes = 64;
    c.nand.onfi.interface = OnfiInterface::nv_ddr3;
    c.nand.onfi.megatransfers = 1200;
    c.ecc.decode_time = Ps{5'000'000};
    expect_derived("Gen4, 1200 MT/s", c, 0.08);
    c.ftl.superblock = SuperblockSpan::plane;
    expect_derived("planes by themselves", c, 0.08);
}
TEST(DerivedLatency, OfSerialAta) {
    SsdConfig c = table3_small();
    c.front_end.kind = "sata";
    expect_derived("Serial ATA", c, 0.01);
    c.front_end.policies["sata"]["rate"] = Value{std::string("1.5Gbps")};
    c.front_end.policies["sata"]["auto_activate"] = Value{true};
    expect_derived("1.5 Gb/s, auto-activate", c, 0.01);
}
TEST(DerivedLatency, OfADriveThatNothingIsBefore) {
    SsdConfig c = table3_small();
    c.front_end.kind = "raw";
    expect_derived("raw", c, 0.05);
}
TEST(DerivedLatency, OfFewDies) {
    // Each die reads several times for the large command; how far these overlap with transfers is not in the formula.
    expect_derived("2 channels with a die of 4 planes", grid(2, 1, 4), 0.15);
}

}  // namespace
}  // namespace ssdtlm
