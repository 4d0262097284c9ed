// SPDX-License-Identifier: Apache-2.0
// Every read compared whole.
#include "bytes.h"

#include <cstdio>

namespace ssdtlm {
namespace {

TEST(Bytes, AHundredThousandMixedCommands) {
    const StressResult r = stress(byte_device(), mixed(60'000));
    const StressResult failing = stress(failing_byte_device(), mixed(40'000));
    std::printf("[   FIGURE ] %llu commands, %llu blocks compared whole, %llu erases\n",
                static_cast<unsigned long long>(r.commands + failing.commands),
                static_cast<unsigned long long>(r.blocks_checked + failing.blocks_checked),
                static_cast<unsigned long long>(r.erases + failing.erases));
}

TEST(Bytes, UnitsOfAPageAndOfManyBlocks) {
    for (const auto& [page, unit] : {std::pair{4096u, 4096u}, {65536u, 4096u}, {32768u, 32768u}, {131072u, 131072u}}) {
        SsdConfig c = byte_device();
        c.nand.geometry.page_bytes = page;
        c.nand.geometry.spare_bytes = page / 18;
        c.nand.geometry.unit_bytes = unit;
        c.ftl.buffer_bytes = 64ull * unit;
        fill_up(c);
        RandomMix::Spec m = mixed(4000);
        m.most_bytes = 2 * unit;
        stress(c, m);
    }
}

TEST(Bytes, WriteThroughAndBlocksOf4096Bytes) {
    SsdConfig c = byte_device();
    c.ftl.buffer_mode = BufferMode::write_through;
    stress(c, mixed(4000));
    c = byte_device();
    c.nvme.lba_bytes = 4096;
    stress(c, mixed(4000));
}

// Whose bytes move takes no part in when they move.
TEST(Bytes, TakeTheTimeThatSignaturesTake) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        RandomMix::Spec m = mixed(5000);
        m.seed = seed;
        SsdConfig c = byte_device();
        const StressResult bytes = stress(c, m);
        c.run.data = DataMode::signatures;
        const StressResult signatures = stress(c, m);
        EXPECT_EQ(bytes.history, signatures.history);
        EXPECT_EQ(bytes.blocks_checked, signatures.blocks_checked);
    }
}

}  // namespace
}  // namespace ssdtlm
