// SPDX-License-Identifier: Apache-2.0
// Bytes per time of every generation, width and efficiency, against transfer rate x line code x lanes; and what is no
// link.
#include "host_pcie/link/link_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace ssdtlm {
namespace {

constexpr std::uint64_t kAll = 1'000'000;  // ppm
constexpr std::array<std::uint32_t, 5> kWidths{1, 2, 4, 8, 16};

// PCI Express Base Specification: GT/s of a lane, and bits (PAM4: TLP bytes of a FLIT) of data in those that are sent.
TEST(LinkRate, IsTransferRateTimesLineCodeTimesLanes) {
    constexpr struct {
        double rate, data, sent;
    } kGenerations[] = {{2.5e9, 8, 10},   {5e9, 8, 10},     {8e9, 128, 130},
                        {16e9, 128, 130}, {32e9, 128, 130}, {64e9, 236, 256}};
    for (std::uint32_t generation = 1; generation <= 6; ++generation)
        for (const std::uint32_t lanes : kWidths)
            for (const std::uint64_t ppm : {std::uint64_t{1}, std::uint64_t{333'333}, kAll - 1, kAll}) {
                const auto& g = kGenerations[generation - 1];
                const double expected = g.rate / 8 * g.data / g.sent * lanes * static_cast<double>(ppm) / 1e6;
                const Rate rate = link_rate(generation, lanes, ppm);
                const double is =
                    static_cast<double>(rate.bytes_part()) / (static_cast<double>(rate.ps_part()) * 1e-12);
                EXPECT_NEAR(is, expected, expected * 1e-12)
                    << "Gen" << generation << " x" << lanes << ", " << ppm << " ppm";
            }
}

TEST(LinkRate, OfNoLinkIsRefused) {
    for (std::uint32_t generation = 0; generation <= 8; ++generation)
        for (std::uint32_t lanes = 0; lanes <= 66; ++lanes)
            for (const std::uint64_t ppm : {std::uint64_t{0}, std::uint64_t{1}, kAll, kAll + 1}) {
                const bool exists = generation >= 1 && generation <= 6 &&
                                    std::count(kWidths.begin(), kWidths.end(), lanes) != 0 && ppm != 0 && ppm <= kAll;
                bool refused = false;
                try {
                    link_rate(generation, lanes, ppm);
                } catch (const Panic&) {
                    refused = true;
                }
                ASSERT_EQ(refused, !exists) << "Gen" << generation << " x" << lanes << ", " << ppm << " ppm";
            }
}

TEST(LinkRate, EfficiencyIsRoundedToTheNearestStep) {
    for (std::uint64_t ppm = 1; ppm <= kAll; ppm += 37) {
        ASSERT_EQ(efficiency_ppm(static_cast<double>(ppm) * 1e-6), ppm);
        ASSERT_EQ(efficiency_ppm((static_cast<double>(ppm) - 0.4) * 1e-6), ppm);
        ASSERT_EQ(efficiency_ppm((static_cast<double>(ppm) + 0.4) * 1e-6), ppm);
    }
}

}  // namespace
}  // namespace ssdtlm
