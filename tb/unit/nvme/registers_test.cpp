// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/registers.h"

#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

using namespace nvme;
using Action = NvmeRegisters::Action;

NvmeRegisters with_admin_queues(const NvmeConfig& config = {}) {
    NvmeRegisters r(config);
    r.write(kRegAqa, 4, Aqa::of(32, 32));
    r.write(kRegAsq, 8, 0x10000);
    r.write(kRegAcq, 8, 0x20000);
    return r;
}

TEST(NvmeRegisters, CapabilitiesAndVersion) {
    NvmeConfig config;
    config.max_queue_entries = 1024;
    config.ready_time = 1200ms;
    const NvmeRegisters r(config);
    const std::uint64_t cap = r.read(kRegCap, 8);
    EXPECT_EQ(Cap::mqes(cap), 1023u);
    EXPECT_TRUE(cap & Cap::kCqr);
    EXPECT_TRUE(cap & Cap::kCssNvm);
    EXPECT_EQ(Cap::to(cap), 3u);  // 1200 ms in 500 ms units, rounded up
    EXPECT_EQ(Cap::dstrd(cap), 0u);
    EXPECT_EQ(Cap::mps_min(cap), 0u);
    EXPECT_EQ(Cap::mps_max(cap), 0u);
    EXPECT_EQ(cap >> 17 & 3, 0u);  // AMS: round robin only
    EXPECT_EQ(r.read(kRegCap, 4) | r.read(kRegCap + 4, 4) << 32, cap);
    EXPECT_EQ(r.read(kRegVs, 4), 0x00010400u);
}

TEST(NvmeRegisters, AddressesTakeOneOrTwoAccesses) {
    NvmeRegisters r{NvmeConfig{}};
    r.write(kRegAsq, 8, 0x123456789000);
    EXPECT_EQ(r.read(kRegAsq, 8), 0x123456789000u);
    r.write(kRegAcq, 4, 0x89ABC000);
    r.write(kRegAcq + 4, 4, 0x77);
    EXPECT_EQ(r.read(kRegAcq, 8), 0x7789ABC000u);
    r.write(kRegAcq, 2, 0xFFFF);     // wrong size
    r.write(kRegAcq + 4, 8, ~0ull);  // unaligned
    EXPECT_EQ(r.read(kRegAcq, 8), 0x7789ABC000u);
    EXPECT_EQ(r.read(kRegAcq + 4, 8), 0u);
    EXPECT_EQ(r.read(kRegAcq, 1), 0u);
}

TEST(NvmeRegisters, AnAccessOfEightBytesMayEnableByItsUpperHalf) {
    NvmeRegisters r = with_admin_queues();
    EXPECT_EQ(r.write(kRegIntmc, 8, std::uint64_t{Cc::kTypical} << 32), Action::enable);
    r.ready();
    EXPECT_EQ(r.write(kRegAqa - 4, 8, 0), Action::none);
}

TEST(NvmeRegisters, BringUpAndReset) {
    NvmeRegisters r = with_admin_queues();
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical & ~Cc::kEnable), Action::none);
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical), Action::enable);
    EXPECT_EQ(r.csts(), 0u);
    r.ready();
    EXPECT_TRUE(r.is_running());
    // While enabled the admin queue registers and CSS, MPS, AMS are frozen.
    r.write(kRegAqa, 4, Aqa::of(2, 2));
    r.write(kRegAsq, 8, 0);
    r.write(kRegCc, 4, Cc::kTypical | 6u << 4 | 3u << 7 | 1u << 11);
    EXPECT_EQ(r.aqa(), Aqa::of(32, 32));
    EXPECT_EQ(r.asq(), 0x10000u);
    EXPECT_EQ(r.cc(), Cc::kTypical);
    // RDY stays until the work has stopped.
    EXPECT_EQ(r.write(kRegCc, 4, 0), Action::disable);
    EXPECT_EQ(r.csts(), Csts::kReady);
    EXPECT_FALSE(r.is_running());
    EXPECT_EQ(r.stopped(), Action::none);
    EXPECT_EQ(r.csts(), 0u);
    EXPECT_EQ(r.aqa(), Aqa::of(32, 32));  // kept over a reset
    EXPECT_EQ(r.asq(), 0x10000u);
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical), Action::enable);
}

TEST(NvmeRegisters, EnableWhileStoppingWaits) {
    NvmeRegisters r = with_admin_queues();
    r.write(kRegCc, 4, Cc::kTypical);
    r.ready();
    EXPECT_EQ(r.write(kRegCc, 4, 0), Action::disable);
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical), Action::none);
    EXPECT_EQ(r.stopped(), Action::enable);
}

// A host need not wait for the end of a reset before it asks for a shutdown (a function-level reset leaves CC = 0).
TEST(NvmeRegisters, ShutdownWhileStoppingIsNotForgotten) {
    NvmeRegisters r = with_admin_queues();
    r.write(kRegCc, 4, Cc::kTypical);
    r.ready();
    r.reset_function();
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kShnNormal), Action::shutdown);
    EXPECT_EQ(r.csts(), Csts::kShstOccurring);
    EXPECT_EQ(r.stopped(), Action::none);
    EXPECT_TRUE(r.is_asked_to_shut_down());
    r.shutdown_complete();
    EXPECT_EQ(r.csts(), Csts::kShstComplete);
    // Another reset forgets it, and so does a host that takes it back.
    for (const bool reset : {true, false}) {
        r.reset_function();
        r.write(kRegCc, 4, Cc::kShnNormal);
        if (reset)
            r.reset_function();
        else
            r.write(kRegCc, 4, 0);
        r.stopped();
        EXPECT_EQ(r.csts(), 0u);
    }
    // Before the reset it belongs to the controller that is reset.
    r.write(kRegCc, 4, Cc::kShnNormal);
    r.reset_function();
    r.stopped();
    EXPECT_EQ(r.csts(), 0u);
}

struct FatalCase {
    const char* what;
    std::uint32_t cc;
    std::uint32_t aqa;
    std::uint64_t asq;
    std::uint64_t acq;
};

class NvmeFatal : public testing::TestWithParam<FatalCase> {};

TEST_P(NvmeFatal, BadEnableParametersSetCfs) {
    const FatalCase& c = GetParam();
    NvmeRegisters r{NvmeConfig{}};
    r.write(kRegAqa, 4, c.aqa);
    r.write(kRegAsq, 8, c.asq);
    r.write(kRegAcq, 8, c.acq);
    EXPECT_EQ(r.write(kRegCc, 4, c.cc), Action::none) << c.what;
    EXPECT_EQ(r.csts(), Csts::kFatal) << c.what;
    // Only a reset helps.
    EXPECT_EQ(r.write(kRegCc, 4, 0), Action::disable);
    r.stopped();
    EXPECT_EQ(r.csts(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Conditions, NvmeFatal,
    testing::Values(FatalCase{"MPS above MPSMAX", Cc::kTypical | 1u << 7, Aqa::of(32, 32), 0x1000, 0x2000},
                    FatalCase{"CSS not offered", Cc::kTypical | 6u << 4, Aqa::of(32, 32), 0x1000, 0x2000},
                    FatalCase{"AMS not offered", Cc::kTypical | 1u << 11, Aqa::of(32, 32), 0x1000, 0x2000},
                    FatalCase{"ASQ unaligned", Cc::kTypical, Aqa::of(32, 32), 0x1040, 0x2000},
                    FatalCase{"ACQ unaligned", Cc::kTypical, Aqa::of(32, 32), 0x1000, 0x2010},
                    FatalCase{"ASQS 0", Cc::kTypical, Aqa::of(1, 32), 0x1000, 0x2000},
                    FatalCase{"ACQS 0", Cc::kTypical, Aqa::of(32, 1), 0x1000, 0x2000}));

TEST(NvmeRegisters, WeightedRoundRobinWhereItIsOffered) {
    NvmeConfig config;
    config.weighted_round_robin = true;
    for (const std::uint32_t ams : {0u, 1u, 2u, 7u}) {
        NvmeRegisters r{config};
        EXPECT_EQ(r.read(kRegCap, 8) >> 17 & 3, 1u);  // weighted round robin with urgent class, and no vendor's own
        r.write(kRegAqa, 4, Aqa::of(32, 32));
        r.write(kRegAsq, 8, 0x1000);
        r.write(kRegAcq, 8, 0x2000);
        EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical | ams << 11), ams < 2 ? Action::enable : Action::none) << ams;
        EXPECT_EQ((r.csts() & Csts::kFatal) != 0, ams >= 2) << ams;
    }
}

TEST(NvmeRegisters, Shutdown) {
    NvmeRegisters r = with_admin_queues();
    r.write(kRegCc, 4, Cc::kTypical);
    r.ready();
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical | Cc::kShnNormal), Action::shutdown);
    EXPECT_EQ(r.csts(), Csts::kReady | Csts::kShstOccurring);
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical | Cc::kShnNormal), Action::none);  // asked already
    r.shutdown_complete();
    EXPECT_EQ(r.csts(), Csts::kReady | Csts::kShstComplete);
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical), Action::none);
    EXPECT_EQ(r.csts(), Csts::kReady);
    EXPECT_EQ(r.write(kRegCc, 4, Cc::kTypical | Cc::kShnAbrupt), Action::shutdown);
}

TEST(NvmeRegisters, InterruptMaskAndAbsentRegisters) {
    NvmeRegisters r{NvmeConfig{}};
    r.write(kRegIntms, 4, 0x0F);
    r.write(kRegIntmc, 4, 0x05);
    EXPECT_EQ(r.read(kRegIntms, 4), 0x0Au);
    EXPECT_EQ(r.read(kRegIntmc, 4), 0x0Au);
    r.write(kRegNssr, 4, 0x4E564D65);
    EXPECT_EQ(r.read(kRegNssr, 4), 0u);
    r.write(kRegCmbsz, 4, ~0u);
    EXPECT_EQ(r.read(kRegCmbsz, 4), 0u);
    r.write(kRegCap, 8, 0);
    EXPECT_NE(r.read(kRegCap, 8), 0u);
}

}  // namespace
}  // namespace ssdtlm
