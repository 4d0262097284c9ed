// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/interrupts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "controller/nvme/async_events.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using Due = InterruptCoalescer::Due;

TEST(Msix, MaskedAfterResetAndPendingUntilUnmasked) {
    MsixTable t(65);
    const std::uint32_t entry = 64 * kMsixEntryBytes;
    t.write_table(entry + kMsixAddressLow, 0xFEE01003);  // dword aligned
    t.write_table(entry + kMsixAddressHigh, 0x1);
    t.write_table(entry + kMsixData, 0x55);
    EXPECT_EQ(t.read_table(entry + kMsixControl), 1u);
    EXPECT_FALSE(t.fire(64));
    EXPECT_EQ(t.read_pba(0), 0u);
    EXPECT_EQ(t.read_pba(8), 1u);
    EXPECT_EQ(t.write_table(entry + kMsixControl, 0), 64);
    EXPECT_EQ(t.read_pba(8), 0u);
    EXPECT_TRUE(t.fire(64));
    EXPECT_EQ(t.message(64).address, 0x1FEE01000u);
    EXPECT_EQ(t.message(64).data, 0x55u);
    EXPECT_EQ(t.write_table(entry + kMsixControl, 1), -1);
    EXPECT_EQ(t.write_table(entry + kMsixControl, 0), -1);  // nothing pending
}

// Behind the last vector nothing is stored, and what is read is 0.
TEST(Msix, EndsWithItsLastVector) {
    for (const std::uint32_t vectors : {1u, 2u, 63u, 64u, 65u, 128u, 129u}) {
        MsixTable t(vectors);
        const std::uint32_t words = (vectors + 63) / 64;  // of the PBA
        for (std::uint32_t v = 0; v < vectors; ++v) EXPECT_FALSE(t.fire(v));
        for (std::uint32_t v = 0; v < vectors + 3; ++v) {
            SCOPED_TRACE(std::to_string(v) + " of " + std::to_string(vectors));
            const std::uint32_t entry = v * kMsixEntryBytes;
            const bool there = v < vectors;
            EXPECT_EQ(t.read_table(entry + kMsixControl), there ? 1u : 0u);
            EXPECT_EQ(t.write_table(entry + kMsixAddressLow, 0xFEE01000), -1);
            EXPECT_EQ(t.write_table(entry + kMsixAddressHigh, v), -1);
            EXPECT_EQ(t.write_table(entry + kMsixData, ~v), -1);
            EXPECT_EQ(t.write_table(entry + kMsixControl, 0), there ? static_cast<int>(v) : -1);
            EXPECT_EQ(t.read_table(entry + kMsixAddressLow), there ? 0xFEE01000u : 0u);
            EXPECT_EQ(t.read_table(entry + kMsixAddressHigh), there ? v : 0u);
            EXPECT_EQ(t.read_table(entry + kMsixData), there ? ~v : 0u);
            EXPECT_EQ(t.read_table(entry + kMsixControl), 0u);
            // Of those behind it the bits are still set.
            for (std::uint32_t w = 0; w < words + 2; ++w) {
                std::uint64_t pending = 0;
                for (std::uint32_t p = std::max(v + 1, 64 * w); p < std::min(vectors, 64 * (w + 1)); ++p)
                    pending |= 1ull << p % 64;
                EXPECT_EQ(t.read_pba(8 * w), static_cast<std::uint32_t>(pending)) << w;
                EXPECT_EQ(t.read_pba(8 * w + 4), static_cast<std::uint32_t>(pending >> 32)) << w;
            }
        }
    }
}

TEST(Coalescing, ThresholdAndTimer) {
    InterruptCoalescer c(2);
    EXPECT_EQ(c.posted(1, 3), Due::start_timer);
    EXPECT_EQ(c.posted(1, 3), Due::later);
    EXPECT_EQ(c.posted(0, 3), Due::start_timer) << "each vector counts for itself";
    EXPECT_EQ(c.posted(1, 3), Due::now);
    c.sent(1);
    EXPECT_EQ(c.posted(1, 3), Due::start_timer);
    EXPECT_EQ(c.posted(0, 3), Due::later);
    c.reset();
    EXPECT_EQ(c.posted(0, 3), Due::start_timer);
    EXPECT_EQ(c.posted(1, 1), Due::now);
}

TEST(AsyncEvents, LimitMaskAndAbort) {
    AsyncEvents e;
    std::uint16_t cid = 0;
    std::uint32_t dw0 = 0;
    EXPECT_FALSE(e.raise(AsyncEvents::kTypeError, 1, cid, dw0));  // nobody to carry it
    for (std::uint16_t i = 0; i <= kAsyncEventLimit; ++i) EXPECT_TRUE(e.hold(static_cast<std::uint16_t>(10 + i)));
    EXPECT_FALSE(e.hold(99));
    ASSERT_TRUE(e.raise(AsyncEvents::kTypeError, 1, cid, dw0));
    EXPECT_EQ(cid, 10);                                           // oldest first
    EXPECT_EQ(dw0, 0x00010100u);                                  // type 0, info 1, log page 01h
    EXPECT_FALSE(e.raise(AsyncEvents::kTypeError, 0, cid, dw0));  // masked until the log is read
    ASSERT_TRUE(e.raise(AsyncEvents::kTypeSmart, 1, cid, dw0));
    EXPECT_EQ(cid, 11);
    EXPECT_EQ(dw0, 0x00020101u);
    e.log_read(kLogError);
    EXPECT_TRUE(e.abort(13));
    EXPECT_FALSE(e.abort(13));
    ASSERT_TRUE(e.raise(AsyncEvents::kTypeError, 0, cid, dw0));
    EXPECT_EQ(cid, 12);
    EXPECT_EQ(e.held(), 0u);
}

}  // namespace
}  // namespace ssdtlm
