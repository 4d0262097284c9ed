// SPDX-License-Identifier: Apache-2.0
// Registers of the adapter: what software reads after what it has written. Sections are those of AHCI 1.3.1.
#include <gtest/gtest.h>

#include "unit/ahci/adapter_bench.h"

namespace ssdtlm {
namespace {

using namespace ahci;

TEST(AhciRegisters, SayWhatTheAdapterHas) {
    AdapterBench b;
    const std::uint32_t cap = b.adapter.read(kRegCap);
    EXPECT_EQ(Cap::slots(cap), 32u);
    EXPECT_EQ(cap & Cap::kNpMask, 0u);
    EXPECT_EQ(cap >> Cap::kIssShift & 15, 3u);
    for (const std::uint32_t bit : {Cap::kS64a, Cap::kSncq, Cap::kSclo, Cap::kSam, Cap::kCccs})
        EXPECT_NE(cap & bit, 0u);
    EXPECT_EQ(b.adapter.read(kRegPi), 1u);
    EXPECT_EQ(b.adapter.read(kRegVs), 0x00010301u);
    EXPECT_EQ(b.adapter.read(kRegGhc), Ghc::kAe);
    b.write(kRegGhc, 0);
    EXPECT_EQ(b.adapter.read(kRegGhc), Ghc::kAe) << "3.1.2: with CAP.SAM, AE is read only";
    for (const std::uint32_t reserved : {0x1Cu, 0x20u, 0x24u, 0x28u, 0xF0u}) {
        b.write(reserved, ~0u);
        EXPECT_EQ(b.adapter.read(reserved), 0u) << reserved;
    }
}

TEST(AhciRegisters, AddressesHaveTheirAlignment) {
    AdapterBench b;
    b.port(kPxClb, 0x12345FFF);
    b.port(kPxClbu, 0xABCD);
    b.port(kPxFb, 0x777);
    b.port(kPxFbu, 0x9);
    EXPECT_EQ(b.port(kPxClb), 0x12345C00u);
    EXPECT_EQ(b.port(kPxClbu), 0xABCDu);
    EXPECT_EQ(b.port(kPxFb), 0x700u);
    EXPECT_EQ(b.port(kPxFbu), 0x9u);
}

// 3.3.13, 3.3.14: bits are set by software while ST is set, and only cleared by the adapter.
TEST(AhciRegisters, CommandsAreIssuedOnlyWhileTheListRuns) {
    AdapterBench b;
    b.port(kPxSact, 5);
    b.port(kPxCi, 5);
    EXPECT_EQ(b.port(kPxSact), 0u);
    EXPECT_EQ(b.port(kPxCi), 0u);
    b.bring_up();
    b.queued(2, false, 0, {});
    b.port(kPxSact, 4);
    b.port(kPxCi, 4);
    b.port(kPxSact, 0);
    b.port(kPxCi, 0);
    EXPECT_EQ(b.port(kPxSact), 4u);
    EXPECT_EQ(b.port(kPxCi), 4u);
    EXPECT_EQ(b.port(kPxCmd) & PxCmd::kCr, PxCmd::kCr);
    b.port(kPxCmd, PxCmd::kFre);
    EXPECT_EQ(b.port(kPxSact), 0u);
    EXPECT_EQ(b.port(kPxCi), 0u);
    EXPECT_EQ(b.port(kPxCmd) & PxCmd::kCr, PxCmd::kCr) << "a header is being read";
    b.settle();
    EXPECT_EQ(b.port(kPxCmd) & PxCmd::kCr, 0u);
    EXPECT_TRUE(b.frames.empty());
}

// 10.1.2 and 3.3.10: no device, COMRESET, a device.
TEST(AhciRegisters, ThePhyFollowsSctl) {
    AdapterBench b;
    EXPECT_EQ(b.port(kPxSsts), 0u);
    EXPECT_EQ(b.port(kPxTfd), 0x7Fu);
    b.port(kPxSctl, 0x301);
    EXPECT_EQ(b.comresets, 1u);
    b.port(kPxSctl, 0x301);
    EXPECT_EQ(b.comresets, 1u) << "it stands";
    b.adapter.port().phy_up(2);
    EXPECT_EQ(b.port(kPxSsts), 0u) << "COMRESET goes on";
    b.port(kPxSctl, 0x300);
    EXPECT_EQ(b.port(kPxSsts), 0x123u);
    EXPECT_EQ(b.port(kPxTfd) & Tfd::kBsy, Tfd::kBsy);
    EXPECT_EQ(b.port(kPxIs), PxIs::kPcs | PxIs::kPrcs);
    b.port(kPxIs, ~0u);
    EXPECT_EQ(b.port(kPxIs), PxIs::kPcs | PxIs::kPrcs) << "3.3.5: they follow PxSERR";
    b.port(kPxSerr, ~0u);
    EXPECT_EQ(b.port(kPxIs), 0u);
    b.signature();
    EXPECT_EQ(b.port(kPxSig), kSignatureAta);
    EXPECT_EQ(b.port(kPxTfd), 0x0150u);
    b.adapter.port().phy_down();
    EXPECT_EQ(b.port(kPxSsts), 0u);
    EXPECT_EQ(b.port(kPxIs), PxIs::kPrcs);
}

// A frame that comes while COMRESET stands is taken when that is over.
TEST(AhciRegisters, FramesWaitForTheEndOfComreset) {
    AdapterBench b;
    b.port(kPxSctl, 0x301);
    b.adapter.port().phy_up(3);
    b.signature();
    EXPECT_EQ(b.port(kPxSig), ~0u);
    b.port(kPxSctl, 0x300);
    EXPECT_EQ(b.port(kPxSig), kSignatureAta);
    EXPECT_EQ(b.answers, std::vector<bool>{true});
}

// 3.3.7: only a list that does not run may override BSY.
TEST(AhciRegisters, CommandListOverride) {
    AdapterBench b;
    b.port(kPxSctl, 0x301);
    b.adapter.port().phy_up(3);
    b.port(kPxSctl, 0x300);
    b.port(kPxCmd, PxCmd::kSt);
    b.port(kPxCmd, PxCmd::kSt | PxCmd::kClo);
    EXPECT_NE(b.port(kPxTfd) & Tfd::kBsy, 0u);
    b.port(kPxCmd, 0);
    b.port(kPxCmd, PxCmd::kClo);
    EXPECT_EQ(b.port(kPxTfd) & (Tfd::kBsy | Tfd::kDrq), 0u);
    EXPECT_EQ(b.port(kPxCmd) & PxCmd::kClo, 0u);
}

// 10.7.2: a message each time that a bit of IS becomes 1, and again when it is cleared and the reason stands.
TEST(AhciRegisters, MessagesFollowIs) {
    AdapterBench b;
    b.bring_up();
    b.released();
    EXPECT_EQ(b.messages, 0u) << "without I";
    b.ends(0);
    EXPECT_EQ(b.port(kPxIs), PxIs::kSdbs);
    EXPECT_EQ(b.adapter.read(kRegIs), 1u);
    EXPECT_EQ(b.messages, 1u);
    b.ends(0);
    EXPECT_EQ(b.messages, 1u);
    b.write(kRegIs, 1);
    EXPECT_EQ(b.messages, 2u) << "PxIS still says so";
    b.port(kPxIs, PxIs::kSdbs);
    b.write(kRegIs, 1);
    EXPECT_EQ(b.adapter.read(kRegIs), 0u);
    EXPECT_EQ(b.messages, 2u);
    b.port(kPxIe, 0);
    b.ends(0);
    EXPECT_EQ(b.messages, 2u);
    b.port(kPxIe, PxIs::kSdbs);
    EXPECT_EQ(b.messages, 3u);
}

TEST(AhciRegisters, ResetOfTheAdapter) {
    AdapterBench b;
    b.bring_up();
    b.ends(0);
    b.write(kRegGhc, Ghc::kAe | Ghc::kHr);
    EXPECT_EQ(b.comresets, 1u);
    EXPECT_EQ(b.adapter.read(kRegGhc), Ghc::kAe);
    EXPECT_EQ(b.adapter.read(kRegIs), 0u);
    EXPECT_EQ(b.port(kPxClb), 0u);
    EXPECT_EQ(b.port(kPxCmd) & (PxCmd::kSt | PxCmd::kFre | PxCmd::kCr), 0u);
    EXPECT_EQ(b.port(kPxSsts), 0u);
    b.settle();
}

}  // namespace
}  // namespace ssdtlm
