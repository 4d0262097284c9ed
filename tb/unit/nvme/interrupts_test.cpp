// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/interrupts.h"

#include <gtest/gtest.h>

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
    EXPECT_EQ(t.write_table(65 * kMsixEntryBytes, 1), -1);  // no such vector
    EXPECT_EQ(t.read_table(65 * kMsixEntryBytes), 0u);
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
    EXPECT_EQ(cid, 10);  // oldest first
    EXPECT_EQ(dw0, 0x00010100u);  // type 0, info 1, log page 01h
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
