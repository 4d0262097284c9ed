// SPDX-License-Identifier: Apache-2.0
#include "protocol/tlp.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/random/random.h"
#include "host_pcie/link/link_rate.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kHigh = 0x1'0000'0000;

std::vector<std::uint32_t> payloads(const TlpTrain& t) {
    std::vector<std::uint32_t> p;
    for (std::uint32_t i = 0; i < t.count(); ++i) p.push_back(t.payload_of(i));
    return p;
}

// PCI Express Base Specification: framing 8 bytes up to Gen5 (STP/sequence/LCRC/END or STP token/LCRC), none in FLITs.
TEST(Tlp, WireBytesPerGeneration) {
    for (std::uint32_t generation = 1; generation <= 5; ++generation) {
        EXPECT_EQ(tlp_overhead_bytes(generation, false, TlpKind::mem_read, 0x1000), 20u);
        EXPECT_EQ(tlp_overhead_bytes(generation, false, TlpKind::mem_read, kHigh), 24u);
        EXPECT_EQ(tlp_overhead_bytes(generation, false, TlpKind::mem_write, kHigh - 4), 20u);
        EXPECT_EQ(tlp_overhead_bytes(generation, false, TlpKind::mem_write, kHigh), 24u);
        EXPECT_EQ(tlp_overhead_bytes(generation, false, TlpKind::completion, kHigh), 20u);
        EXPECT_EQ(tlp_overhead_bytes(generation, false, TlpKind::completion_data, kHigh), 20u);
        EXPECT_EQ(tlp_overhead_bytes(generation, true, TlpKind::mem_write, kHigh), 28u);
    }
    EXPECT_EQ(tlp_overhead_bytes(6, false, TlpKind::mem_write, 0), 12u);
    EXPECT_EQ(tlp_overhead_bytes(6, false, TlpKind::mem_write, kHigh), 16u);
    EXPECT_EQ(tlp_overhead_bytes(6, true, TlpKind::completion_data, 0), 16u);
}

// Writes and reads cut at multiples of MPS and MRRS, completions at multiples of the completer's size.
TEST(Tlp, Splits) {
    const auto write = TlpTrain::data(kHigh + 0x1000, 4096, 256, 24);
    EXPECT_EQ(payloads(write), std::vector<std::uint32_t>(16, 256));
    EXPECT_EQ(write.wire_bytes(), 16u * 280u);

    std::vector<std::uint32_t> skewed(17, 256);
    skewed.front() = 240;
    skewed.back() = 16;
    EXPECT_EQ(payloads(TlpTrain::data(0x1010, 4096, 256, 20)), skewed);

    EXPECT_EQ(piece_count(0x1000, 4096, 512), 8u);                // MRd
    EXPECT_EQ(TlpTrain::data(0x1000, 512, 256, 20).count(), 2u);  // CplD each
    EXPECT_EQ(TlpTrain::data(0x1000, 512, 64, 20).count(), 8u);
    EXPECT_EQ(piece_count(0x1040, 64, 512), 1u);  // SQE
    EXPECT_EQ(payloads(TlpTrain::data(0x1040, 64, 256, 20)), (std::vector<std::uint32_t>{64}));
    EXPECT_EQ(payloads(TlpTrain::data(0x1000, 248, 256, 20)), (std::vector<std::uint32_t>{248}));  // PRP list of 31
    EXPECT_EQ(payloads(TlpTrain::data(0x1000, 248, 64, 20)), (std::vector<std::uint32_t>{64, 64, 64, 56}));
    EXPECT_EQ(TlpTrain::data(kHigh, 16, 256, 24).wire_bytes(), 40u);      // CQE
    EXPECT_EQ(TlpTrain::data(0xFEE00000, 4, 256, 20).wire_bytes(), 24u);  // MSI-X
    EXPECT_EQ(piece_count(0x1F00, 512, 512), 2u);                         // 4 KiB boundary
    EXPECT_EQ(TlpTrain::data(0x1001, 2, 256, 20).wire_bytes(), 24u);      // whole DWs
    EXPECT_EQ(TlpTrain::data(0x1003, 2, 256, 20).wire_bytes(), 28u);
}

TEST(Tlp, PayloadEfficiency) {
    for (const std::uint32_t p : {128u, 256u, 512u, 1024u}) {
        const auto t = TlpTrain::data(kHigh, 4096, p, 24);
        EXPECT_DOUBLE_EQ(static_cast<double>(t.payload_bytes()) / static_cast<double>(t.wire_bytes()), p / (p + 24.0));
    }
}

// Any cut covers the range without gaps, respects unit and boundary, and the closed forms equal the sums.
TEST(Tlp, RandomTrainsAreConsistent) {
    Random r(1);
    for (int n = 0; n < 3000; ++n) {
        const std::uint32_t unit = 64u << r.below(7);
        const std::uint64_t address = r.below(1u << 20);
        const std::uint64_t bytes = 1 + r.below(20'000);
        const auto t = TlpTrain::data(address, bytes, unit, 20);
        std::uint64_t at = address & ~3ull, credits = 0, wire = 0;
        for (std::uint32_t i = 0; i < t.count(); ++i) {
            const std::uint32_t p = t.payload_of(i);
            ASSERT_GT(p, 0u);
            ASSERT_EQ(at / unit, (at + p - 1) / unit);
            ASSERT_TRUE(i + 1 == t.count() || (at + p) % unit == 0);
            at += p;
            credits += (p + 15) / 16;
            wire += p + 20;
            ASSERT_EQ(t.wire_prefix(i + 1), wire);
        }
        ASSERT_EQ(at, (address + bytes + 3) & ~3ull);
        ASSERT_EQ(t.data_credits(), credits);
        ASSERT_EQ(t.wire_bytes(), wire);
        std::uint64_t left = bytes, begin = address, pieces = 0;
        for (; left > 0; ++pieces) {
            ASSERT_EQ(piece_prefix(address, bytes, unit, pieces), bytes - left);
            const std::uint32_t p = first_piece(begin, left, unit);
            begin += p;
            left -= p;
        }
        ASSERT_EQ(piece_count(address, bytes, unit), pieces);
    }
}

// Raw rates from transfer rate and line code, in bytes per second.
TEST(LinkRate, EveryGenerationAndWidth) {
    const double giga_transfers[] = {2.5, 5, 8, 16, 32, 64};
    const double code[] = {0.8, 0.8, 128.0 / 130, 128.0 / 130, 128.0 / 130, 236.0 / 256};
    for (std::uint32_t g = 1; g <= 6; ++g)
        for (const std::uint32_t lanes : {1u, 2u, 4u, 8u, 16u})
            for (const double efficiency : {1.0, 0.98, 0.92}) {
                LinkConfig c;
                c.generation = g;
                c.lanes = lanes;
                c.data_link_efficiency = efficiency;
                const double expected = giga_transfers[g - 1] * 1e9 / 8 * code[g - 1] * lanes * efficiency;
                EXPECT_NEAR(link_rate(c).bytes_per_second(), expected, expected * 1e-12) << g << " x" << lanes;
            }
    // Exact: 3.93846.. bytes/ns is 256/65 bytes/ns, so 256 bytes take 65 ns on Gen3 x4.
    EXPECT_EQ(link_rate(3, 4, 1'000'000).time_for(256), 65ns);
    EXPECT_EQ(link_rate(6, 1, 1'000'000).time_for(236), 32ns);
}

}  // namespace
}  // namespace ssdtlm
