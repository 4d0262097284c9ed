// SPDX-License-Identifier: Apache-2.0
// Bus times in the datasheets' units, computed here by hand from tCS 20, tWC 25, tWB 100, tADL 300, tCCS 400, tRR 20,
// ...
#include "nand/onfi/onfi_timing.h"

#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

NandConfig config(OnfiInterface interface, std::uint32_t megatransfers) {
    NandConfig c;
    c.geometry.page_bytes = 16384;
    c.geometry.spare_bytes = 2048;
    c.geometry.planes_per_die = 4;
    c.onfi.interface = interface;
    c.onfi.megatransfers = megatransfers;
    c.transfer_spare = false;
    return c;
}

TEST(OnfiTiming, CommandsDoNotDependOnTheDataRate) {
    for (const std::uint32_t rate : {67u, 400u, 533u}) {
        const OnfiBusTiming t(config(OnfiInterface::nv_ddr2, rate));
        for (std::uint32_t planes = 1; planes <= kMaxMultiPlane; ++planes) {
            const Ps between = (planes - 1) * Ps{100ns + 500ns};                       // tWB + tPLxBSY
            EXPECT_EQ(t.issue(FlashOp::read, planes), planes * Ps{195ns} + between);   // tCS + 7 tWC
            EXPECT_EQ(t.issue(FlashOp::erase, planes), planes * Ps{145ns} + between);  // tCS + 5 tWC
            EXPECT_EQ(t.issue(FlashOp::program, planes),
                      planes * Ps{170ns + 300ns + 45ns} + between);  // cmd(6) + tADL + cmd(1)
        }
        EXPECT_EQ(t.select(), 195ns + 400ns);  // cmd(7) + tCCS
        EXPECT_EQ(t.turnaround(), 100ns);
        EXPECT_EQ(t.slc_prefix(), 25ns);
        EXPECT_EQ(t.busy_delay(), 100ns);
    }
}

TEST(OnfiTiming, DoubleDataRateBursts) {
    const OnfiBusTiming t(config(OnfiInterface::nv_ddr2, 400));  // tRC 5 ns, 2.5 ns per byte
    // tRR + tRPRE + tDQSRE + n/2 tRC + tRPST (tDQSRE + tRC/2) + tRPSTH
    EXPECT_EQ(t.data_out(4096), 20ns + 15ns + 25ns + 2048 * 5ns + (25ns + Ps{2'500}) + 15ns);
    EXPECT_EQ(t.data_in(16384), 15ns + 8192 * 5ns + Ps{6'500} + 15ns);
    EXPECT_EQ(t.data_out(4095), t.data_out(4096)) << "an odd byte takes both edges";
}

TEST(OnfiTiming, AnIdealBusTakesNoTime) {
    const OnfiBusTiming t(config(OnfiInterface::ideal, 1));
    for (std::uint32_t op = 0; op < kFlashOpCount; ++op)
        for (std::uint32_t planes = 1; planes <= kMaxMultiPlane; ++planes)
            EXPECT_EQ(t.issue(static_cast<FlashOp>(op), planes), Ps{0});
    for (const std::uint32_t bytes : {0u, 1u, 512u, 4096u, 16384u}) {
        EXPECT_EQ(t.data_in(bytes), Ps{0});
        EXPECT_EQ(t.data_out(bytes), Ps{0});
        EXPECT_EQ(t.bus_bytes(bytes), OnfiBusTiming(config(OnfiInterface::nv_ddr2, 400)).bus_bytes(bytes))
            << "what passes is counted";
    }
    EXPECT_EQ(t.select() + t.turnaround() + t.slc_prefix() + t.busy_delay(), Ps{0});
}

TEST(OnfiTiming, RoundsOnceUp) {
    const OnfiBusTiming t(config(OnfiInterface::nv_ddr3, 2400));  // 416.67 ps per byte
    // 4097 transfers of 1250/3 ps = 1707083.33 ps
    EXPECT_EQ(t.data_out(4096), 100ns + Ps{1'707'084});
}

TEST(OnfiTiming, ChannelCheckOfFourPlanesAtSixteenHundred) {
    NandConfig c = config(OnfiInterface::nv_ddr3, 1600);
    c.transfer_spare = true;  // 18 KiB on the bus
    const OnfiBusTiming t(c);
    EXPECT_EQ(t.bus_bytes(16384), 18432u);
    // 46 us of data + 4 * (06h-5A-E0h + tCCS + pre- and postamble + tRHW) = 49.2 us a die; the sheet's 80 ns of
    // preamble and postamble is here with tRR 20 and half a tRC.
    const Ps die = 4 * (t.select() + t.data_out(16384) + t.turnaround());
    const Ps data = 4 * 18432 * Ps{625};
    EXPECT_EQ(data, Ps{46'080'000});
    EXPECT_EQ(die, data + 4 * (195ns + 400ns + 80ns + 100ns) + 4 * (20ns + Ps{625}));
    const double user_mbps = 65536.0 / to_microseconds(die);
    EXPECT_NEAR(user_mbps, 1332, 5);
}

TEST(OnfiTiming, SpareIsTransferredInProportionRoundedUp) {
    NandConfig c = config(OnfiInterface::nv_ddr2, 400);
    c.transfer_spare = true;
    const OnfiBusTiming t(c);
    EXPECT_EQ(t.bus_bytes(4096), 4608u);
    EXPECT_EQ(t.bus_bytes(512), 576u);
    EXPECT_EQ(t.bus_bytes(1), 2u);
    c.transfer_spare = false;
    EXPECT_EQ(OnfiBusTiming(c).bus_bytes(4096), 4096u);
}

TEST(OnfiTiming, SingleDataRate) {
    const OnfiBusTiming t(config(OnfiInterface::sdr, 50));  // mode 5: tRC 20 ns, tREA 16 ns
    EXPECT_EQ(t.data_out(2048), 20ns + 2048 * 20ns + 16ns);
    EXPECT_EQ(t.data_in(2049), 2049 * 20ns);
    EXPECT_EQ(OnfiBusTiming(config(OnfiInterface::sdr, 10)).data_out(1), 20ns + 100ns + 40ns);  // mode 0
}

TEST(OnfiTiming, NvDdr) {
    const OnfiBusTiming t(config(OnfiInterface::nv_ddr, 200));  // mode 5: tCK 10 ns
    EXPECT_EQ(t.data_in(4096), 15ns + 2048 * 10ns + 15ns);      // tWPRE = tWPST = 1.5 tCK
    // tRR + tDQSCK + n/2 tCK + tCKWR of ceil((25 + 10) / 10) = 4 clocks
    EXPECT_EQ(t.data_out(4096), 20ns + 25ns + 2048 * 10ns + 4 * 10ns);
}

TEST(OnfiTiming, InterfaceLimits) {
    EXPECT_EQ(onfi_interface_limit(OnfiInterface::sdr).max_megatransfers, 50u);
    EXPECT_EQ(onfi_interface_limit(OnfiInterface::nv_ddr).max_megatransfers, 200u);
    EXPECT_EQ(onfi_interface_limit(OnfiInterface::nv_ddr2).max_megatransfers, 533u);
    EXPECT_STREQ(onfi_interface_limit(OnfiInterface::nv_ddr3).name, "nv-ddr3");
}

}  // namespace
}  // namespace ssdtlm
