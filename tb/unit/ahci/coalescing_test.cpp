// SPDX-License-Identifier: Apache-2.0
// Command completion coalescing: an interrupt for CC commands, or when TV has passed (AHCI 1.3.1, 11).
#include <gtest/gtest.h>

#include "unit/ahci/adapter_bench.h"

namespace ssdtlm {
namespace {

using namespace ahci;

/// A port with eight queued commands in the drive, whose own interrupts are off.
struct CoalescingBench : AdapterBench {
    CoalescingBench(std::uint32_t commands, std::uint32_t ms) {
        bring_up();
        port(kPxIe, 0);
        write(kRegCccCtl, CccCtl::of(commands, ms) & ~CccCtl::kEn);
        write(kRegCccPorts, 1);
        write(kRegCccCtl, CccCtl::of(commands, ms));
        for (std::uint32_t slot = 0; slot < 8; ++slot) queued(slot, false, slot, {});
        began = agenda.now();
        issue_queued(0xFF);
        for (int i = 0; i < 8; ++i) {
            sent();
            released();
        }
        messages = 0;
    }
    SimTime began;
};

TEST(Coalescing, AfterSoManyCommands) {
    CoalescingBench b(3, 60000);
    b.ends(1);
    b.ends(2);
    EXPECT_EQ(b.messages, 0u);
    b.ends(4);
    EXPECT_EQ(b.messages, 1u);
    EXPECT_EQ(b.adapter.read(kRegIs), 1u << 1);
    EXPECT_EQ(b.adapter.read(kRegCccCtl) >> CccCtl::kIntShift & 31, 1u);
    b.write(kRegIs, 2);
    b.ends(0x78);  // four at once are as good as three
    EXPECT_EQ(b.messages, 2u);
}

TEST(Coalescing, AfterTheTimeout) {
    CoalescingBench b(200, 2);
    b.ends(1);
    b.agenda.run_until(b.began + Ps{1'999'999'999});
    EXPECT_EQ(b.messages, 0u);
    b.agenda.run_until(b.began + Ps{2'000'000'000});
    EXPECT_EQ(b.messages, 1u);
    b.ends(0xFE);
    b.settle();
    EXPECT_EQ(b.messages, 1u) << "IS says so already";
    b.write(kRegIs, 2);
    EXPECT_TRUE(b.agenda.empty()) << "nothing is outstanding, and all have been told of";
}

TEST(Coalescing, TheTimeoutAlone) {
    CoalescingBench b(0, 1);
    b.ends(0xFF);
    EXPECT_EQ(b.messages, 0u);
    b.settle();
    EXPECT_EQ(b.messages, 1u);
}

// 3.1.6: CC and TV stand while it is on; without a timeout it does not go on.
TEST(Coalescing, ItsRegister) {
    AdapterBench b;
    b.write(kRegCccCtl, CccCtl::of(5, 0));
    EXPECT_EQ(b.adapter.read(kRegCccCtl) & CccCtl::kEn, 0u);
    b.write(kRegCccCtl, CccCtl::of(5, 10));
    EXPECT_NE(b.adapter.read(kRegCccCtl) & CccCtl::kEn, 0u);
    b.write(kRegCccCtl, CccCtl::of(9, 99));
    EXPECT_EQ(CccCtl::completions(b.adapter.read(kRegCccCtl)), 5u);
    EXPECT_EQ(CccCtl::milliseconds(b.adapter.read(kRegCccCtl)), 10u);
    b.write(kRegCccCtl, 0);
    EXPECT_EQ(b.adapter.read(kRegCccCtl) & CccCtl::kEn, 0u);
}

}  // namespace
}  // namespace ssdtlm
