// SPDX-License-Identifier: Apache-2.0
// One credit account by itself: which limits it can forget because no traffic reaches them. What it does with the
// others is in link_direction_test.
#include "host_pcie/link/credits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ssdtlm {
namespace {

// In the loop of 240 ns (less the 2 ps for rounding) 240 bytes leave at 1 byte per ns. TLPs of at least 20 + 4 bytes:
// ten of them, the one that straddles the window's begin and the new one need 12 header credits. Data credits of 16
// bytes: most by byte of wire for payloads of 4 bytes (1 credit for 24 bytes: 10 in the window) or of 20 (2 for 40
// bytes: 12 in the window).
constexpr Ps kLoop{240'000 - 2};
constexpr Rate kBytePerNs = Rate::bytes_per_second(1'000'000'000);

bool lifted(std::uint32_t headers, std::uint32_t data, std::uint32_t max_payload) {
    CreditAccount a(headers, data, kLoop, kBytePerNs);
    a.lift_unreachable(20, 4, max_payload);
    return a.infinite();
}

TEST(CreditAccount, ForgetsAHeaderLimitThatNoTrafficReaches) {
    EXPECT_TRUE(lifted(0, 0, 4)) << "infinite as advertised";
    EXPECT_TRUE(lifted(12, 0, 4));
    EXPECT_FALSE(lifted(11, 0, 4));
    EXPECT_TRUE(lifted(13, 0, 256));
}

TEST(CreditAccount, ForgetsADataLimitThatNoTrafficReaches) {
    EXPECT_TRUE(lifted(0, 10 + 2, 4));
    EXPECT_FALSE(lifted(0, 10 + 2 - 1, 4));
    EXPECT_TRUE(lifted(0, 12 + 2 * 2, 20));
    EXPECT_FALSE(lifted(0, 12 + 2 * 2 - 1, 20));
}

// The same for any window, whose bytes are those that leave in the loop and the 2 ps, rounded up: at the longest and at
// the shortest loop that has it.
TEST(CreditAccount, TheLimitsThatNoTrafficReachesFollowTheLoop) {
    for (std::uint32_t window = 1; window <= 600; ++window)
        for (const Ps loop : {Ps{window * 1000ll - 2}, Ps{window * 1000ll - 1000 - 1}}) {
            if (loop < Ps{1}) continue;
            for (const std::uint32_t max_payload : {4u, 20u, 256u}) {
                const std::uint32_t headers = window / 24 + 2;
                std::uint32_t data = 0;
                for (std::uint32_t p = 4; p <= max_payload; p += 4) {
                    const std::uint32_t credits = (p + 15) / 16, wire = 20 + p;
                    data = std::max(data, (window * credits + wire - 1) / wire);
                }
                data += 2 * ((max_payload + 15) / 16);
                for (const int less : {0, 1}) {
                    CreditAccount by_headers(headers - less, 0, loop, kBytePerNs),
                        by_data(0, data - less, loop, kBytePerNs);
                    by_headers.lift_unreachable(20, 4, max_payload);
                    by_data.lift_unreachable(20, 4, max_payload);
                    ASSERT_EQ(by_headers.infinite(), less == 0) << window << " bytes, " << loop.count() << " ps";
                    ASSERT_EQ(by_data.infinite(), less == 0)
                        << window << " bytes, " << loop.count() << " ps, payloads to " << max_payload;
                }
            }
        }
}

TEST(CreditAccount, IsInfiniteWhenBothLimitsAreForgotten) {
    EXPECT_TRUE(lifted(12, 12, 4));
    EXPECT_FALSE(lifted(11, 12, 4));
    EXPECT_FALSE(lifted(12, 11, 4));
}

TEST(CreditAccount, KeepsEveryFiniteLimitUntilAsked) {
    EXPECT_FALSE(CreditAccount(1000, 0, kLoop, kBytePerNs).infinite());
    EXPECT_FALSE(CreditAccount(0, 1000, kLoop, kBytePerNs).infinite());
    EXPECT_TRUE(CreditAccount(0, 0, kLoop, kBytePerNs).infinite());
}

}  // namespace
}  // namespace ssdtlm
