// SPDX-License-Identifier: Apache-2.0
// The configuration space as Linux reads it (drivers/pci): identity, size of the BAR, list of capabilities, link, FLR.
#include "host_vfio/pci_config_space.h"

#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <map>

namespace ssdtlm::vfio {
namespace {

struct PciConfig : testing::Test {
    static PciFacts facts() {
        PciFacts f;
        f.vendor = 0xFFFE;
        f.bar_bytes = 0x4000;
        f.vectors = 9;
        f.table_offset = 0x2000;
        f.pba_offset = 0x3000;
        f.generation = 4;
        f.lanes = 4;
        f.max_payload_bytes = 512;
        f.max_read_request_bytes = 1024;
        return f;
    }
    PciConfigSpace space{facts()};
    std::uint32_t get(std::uint32_t offset, std::uint32_t bytes) const {
        std::uint8_t b[4] = {};
        space.read(offset, b, bytes);
        return static_cast<std::uint32_t>(b[0] | b[1] << 8 | b[2] << 16) | static_cast<std::uint32_t>(b[3]) << 24;
    }
    PciConfigSpace::Asked put(std::uint32_t offset, std::uint32_t value, std::uint32_t bytes) {
        std::uint8_t b[4];
        for (std::uint32_t i = 0; i < 4; ++i) b[i] = static_cast<std::uint8_t>(value >> 8 * i);
        return space.write(offset, b, bytes);
    }
    std::map<std::uint32_t, std::uint32_t> capabilities() const {
        std::map<std::uint32_t, std::uint32_t> found;
        for (std::uint32_t at = get(PCI_CAPABILITY_LIST, 1); at != 0 && found.size() < 48; at = get(at + 1, 1))
            found[get(at, 1)] = at;
        return found;
    }
};

TEST_F(PciConfig, IsAnNvmeControllerWithOneMemoryBar) {
    EXPECT_EQ(get(PCI_CLASS_REVISION, 4) >> 8, 0x010802u);
    EXPECT_EQ(get(PCI_HEADER_TYPE, 1), 0u);
    EXPECT_EQ(get(PCI_STATUS, 2) & PCI_STATUS_CAP_LIST, unsigned{PCI_STATUS_CAP_LIST});
    put(PCI_BASE_ADDRESS_0, ~0u, 4);
    put(PCI_BASE_ADDRESS_1, ~0u, 4);
    EXPECT_EQ(get(PCI_BASE_ADDRESS_0, 4), 0xFFFFC004u) << "16 KiB, 64 bits";
    EXPECT_EQ(get(PCI_BASE_ADDRESS_1, 4), ~0u);
    put(PCI_BASE_ADDRESS_2, ~0u, 4);
    EXPECT_EQ(get(PCI_BASE_ADDRESS_2, 4), 0u);
    EXPECT_EQ(get(PCI_INTERRUPT_PIN, 1), 1u);
}

TEST_F(PciConfig, HasThreeCapabilitiesWithTheLinkAsConfigured) {
    const auto caps = capabilities();
    ASSERT_EQ(caps.size(), 3u);
    const std::uint32_t exp = caps.at(PCI_CAP_ID_EXP), msix = caps.at(PCI_CAP_ID_MSIX), pm = caps.at(PCI_CAP_ID_PM);
    EXPECT_EQ(get(exp + PCI_EXP_FLAGS, 2) & PCI_EXP_FLAGS_VERS, 2u);
    EXPECT_EQ(get(exp + PCI_EXP_FLAGS, 2) & PCI_EXP_FLAGS_TYPE, 0u);
    EXPECT_NE(get(exp + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR, 0u);
    EXPECT_EQ(get(exp + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_PAYLOAD, 2u) << "512 bytes";
    EXPECT_EQ(get(exp + PCI_EXP_DEVCTL, 2) >> 12, 3u) << "1,024 bytes";
    EXPECT_EQ(get(exp + PCI_EXP_LNKSTA, 2) & PCI_EXP_LNKSTA_CLS, 4u);
    EXPECT_EQ((get(exp + PCI_EXP_LNKSTA, 2) & PCI_EXP_LNKSTA_NLW) >> 4, 4u);
    EXPECT_EQ(get(exp + PCI_EXP_LNKCAP, 4) & 0x3FF, 0x44u);
    EXPECT_EQ(get(exp + PCI_EXP_LNKCAP2, 4), 0x1Eu) << "2.5 to 16 GT/s";
    EXPECT_EQ(get(msix + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_QSIZE, 8u);
    EXPECT_EQ(get(msix + PCI_MSIX_TABLE, 4), 0x2000u);
    EXPECT_EQ(get(msix + PCI_MSIX_PBA, 4), 0x3000u);
    EXPECT_EQ(get(pm + PCI_PM_PMC, 2) & PCI_PM_CAP_VER_MASK, 3u);
    EXPECT_EQ(get(0x100, 4), 0u) << "no extended capability";
    EXPECT_EQ(get(4096, 4), ~0u);
}

TEST_F(PciConfig, KeepsWhatMayBeWrittenAndNothingElse) {
    for (std::uint32_t at = 0; at < 256; at += 4) put(at, ~0u, 4);
    EXPECT_EQ(get(PCI_VENDOR_ID, 4), 0x0010FFFEu);
    EXPECT_EQ(get(PCI_COMMAND, 2), 0x0446u);
    EXPECT_TRUE(space.is_bus_master());
    EXPECT_TRUE(space.intx_disabled());
    EXPECT_TRUE(space.msix_enabled());
    EXPECT_TRUE(space.sleeps());
    EXPECT_EQ(get(capabilities().at(PCI_CAP_ID_MSIX) + PCI_MSIX_FLAGS, 2), 0xC008u);
    space.reset();
    EXPECT_EQ(get(PCI_COMMAND, 2), 0u);
    EXPECT_FALSE(space.msix_enabled());
    EXPECT_EQ(get(PCI_BASE_ADDRESS_0, 4), 4u);
}

TEST_F(PciConfig, AsksForAResetOnlyByItsBit) {
    const std::uint32_t control = capabilities().at(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;
    EXPECT_FALSE(put(control, 0x7FFF, 2).reset);
    EXPECT_TRUE(put(control, PCI_EXP_DEVCTL_BCR_FLR, 2).reset);
    EXPECT_TRUE(put(control + 1, 0x80, 1).reset) << "its upper byte alone";
    EXPECT_FALSE(put(control, 0xFF, 1).reset);
    EXPECT_EQ(get(control, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0u) << "reads as 0";
}

TEST_F(PciConfig, KeepsTheLinkOverAResetOfTheFunction) {
    const std::uint32_t exp = capabilities().at(PCI_CAP_ID_EXP);
    const std::uint32_t before = get(exp + PCI_EXP_DEVCTL, 2) & ~unsigned{PCI_EXP_DEVCTL_PAYLOAD};
    for (std::uint32_t at = 0; at < 256; at += 4) put(at, ~0u, 4);
    space.reset_function();
    EXPECT_EQ(get(PCI_COMMAND, 2), 0u);
    EXPECT_FALSE(space.msix_enabled());
    EXPECT_FALSE(space.sleeps());
    EXPECT_EQ(get(PCI_BASE_ADDRESS_0, 4), 4u);
    EXPECT_EQ(get(exp + PCI_EXP_DEVCTL, 2), before | PCI_EXP_DEVCTL_PAYLOAD);
    EXPECT_EQ(get(exp + PCI_EXP_LNKCTL, 2), 0x01CBu);
    EXPECT_EQ(get(exp + PCI_EXP_LNKCTL2, 2), 0x000Fu);
    space.reset();
    EXPECT_EQ(get(exp + PCI_EXP_DEVCTL, 2) & PCI_EXP_DEVCTL_PAYLOAD, 0u);
    EXPECT_EQ(get(exp + PCI_EXP_LNKCTL, 2), 0u);
}

TEST_F(PciConfig, ShowsThePin) {
    space.set_intx(true);
    EXPECT_NE(get(PCI_STATUS, 2) & PCI_STATUS_INTERRUPT, 0u);
    space.set_intx(false);
    EXPECT_EQ(get(PCI_STATUS, 2) & PCI_STATUS_INTERRUPT, 0u);
}

}  // namespace
}  // namespace ssdtlm::vfio
