// SPDX-License-Identifier: Apache-2.0
#include "common/config/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ssdtlm {
namespace {

struct Case {
    Dimension dimension;
    const char* text;
    std::int64_t value;
};

TEST(Quantity, ReadsExactly) {
    const std::int64_t k = 1000, ki = 1024;
    const std::vector<Case> cases{
        {Dimension::time, "75us", 75 * k * k},
        {Dimension::time, "75 us", 75 * k * k},
        {Dimension::time, "0.5us", k * k / 2},
        {Dimension::time, "3.8ms", 38 * k * k * k / 10},
        {Dimension::time, "6.5ns", 6500},
        {Dimension::time, "1s", k * k * k * k},
        {Dimension::time, "0s", 0},
        {Dimension::time, "007ps", 7},
        {Dimension::bytes, "480GB", 480 * k * k * k},
        {Dimension::bytes, "8KiB", 8 * ki},
        {Dimension::bytes, "1.5KiB", 1536},
        {Dimension::bytes, "256MiB", 256 * ki * ki},
        {Dimension::bytes, "2TiB", 2 * ki * ki * ki * ki},
        {Dimension::bytes, "448B", 448},
        {Dimension::bytes, "1kB", 1000},
        {Dimension::bandwidth, "12.8GB/s", 128 * k * k * k / 10},
        {Dimension::bandwidth, "1MiB/s", ki * ki},
        {Dimension::transfers, "333MT/s", 333},
        {Dimension::transfers, "2.4GT/s", 2400},
        {Dimension::frequency, "500MHz", 500 * k * k},
        {Dimension::frequency, "1.2GHz", 12 * k * k * k / 10},
        {Dimension::percent, "12.5%", 125'000},
        {Dimension::percent, "100%", 1'000'000},
        {Dimension::percent, "0.0001%", 1},
    };
    for (const auto& c : cases) {
        const QuantityResult r = parse_quantity(c.text, c.dimension);
        EXPECT_TRUE(r.ok) << c.text << ": " << r.found;
        EXPECT_EQ(r.value, c.value) << c.text;
    }
}

TEST(Quantity, SaysWhatIsWrongAndHowToRepairIt) {
    struct Wrong {
        Dimension dimension;
        const char* text;
        const char* found;
        const char* repair;
    };
    const std::vector<Wrong> cases{
        {Dimension::time, "75", "'75' has no unit", "add one, for example \"75us\""},
        {Dimension::time, "", "'' does not start with a digit", ""},
        {Dimension::time, "us", "'us' does not start with a digit", ""},
        {Dimension::time, "-5us", "'-5us' has a sign", "drop the sign"},
        {Dimension::time, "5.us", "'5.us' has no digit after the decimal point", ""},
        {Dimension::time, "1e3us", "'1e3us' has an exponent", "write the number without an exponent"},
        {Dimension::time, "600 uz", "'600 uz' has the unknown unit 'uz'", ""},
        {Dimension::time, "75US", "'75US' has the unknown unit 'US'", "did you mean \"75us\"?"},
        {Dimension::time, "75\xC2\xB5s", "'75\xC2\xB5s' has the unknown unit '\xC2\xB5s'", "did you mean \"75us\"?"},
        {Dimension::time, "75us ", "'75us ' has the unknown unit 'us '", "did you mean \"75us\"?"},
        {Dimension::time, "0.5ps", "'0.5ps' is no whole number of ps", "use fewer digits after the decimal point"},
        {Dimension::time, "107d", "'107d' has the unknown unit 'd'", ""},
        {Dimension::time, "9223373s", "'9223373s' is too large", ""},
        {Dimension::time, "1234567890123456789s", "'1234567890123456789s' has too many digits", ""},
        {Dimension::bytes, "480gb", "'480gb' has the unknown unit 'gb'", "did you mean \"480GB\"?"},
        {Dimension::bytes, "8K", "'8K' has the unknown unit 'K'", "did you mean \"8kB\"?"},
        {Dimension::bytes, "0.3KiB", "'0.3KiB' is no whole number of B", "use fewer digits after the decimal point"},
        {Dimension::transfers, "333MHz", "'333MHz' has the unknown unit 'MHz'", ""},
        {Dimension::percent, "0.00001%", "'0.00001%' is no whole number of 0.0001 %",
         "use fewer digits after the decimal point"},
    };
    for (const auto& c : cases) {
        const QuantityResult r = parse_quantity(c.text, c.dimension);
        EXPECT_FALSE(r.ok) << c.text;
        EXPECT_EQ(r.found, c.found);
        EXPECT_EQ(r.repair, c.repair) << c.text;
    }
}

TEST(Quantity, PrintsTheShortestExactText) {
    const std::int64_t k = 1000, ki = 1024;
    const std::vector<Case> cases{
        {Dimension::time, "75us", 75 * k * k},
        {Dimension::time, "3.8ms", 3800 * k * k},
        {Dimension::time, "500ps", 500},
        {Dimension::time, "100us", 100 * k * k},
        {Dimension::time, "0s", 0},
        {Dimension::time, "1s", k * k * k * k},
        {Dimension::time, "59975ns", 59'975 * k},
        {Dimension::bytes, "480GB", 480 * k * k * k},
        {Dimension::bytes, "8KiB", 8 * ki},
        {Dimension::bytes, "1536B", 1536},
        {Dimension::bytes, "448B", 448},
        {Dimension::bytes, "0B", 0},
        {Dimension::bytes, "256MiB", 256 * ki * ki},
        {Dimension::bandwidth, "12.8GB/s", 12'800 * k * k},
        {Dimension::transfers, "333MT/s", 333},
        {Dimension::transfers, "2.4GT/s", 2400},
        {Dimension::frequency, "500MHz", 500 * k * k},
        {Dimension::percent, "12.5%", 125'000},
    };
    for (const auto& c : cases) EXPECT_EQ(format_quantity(c.value, c.dimension), c.text);
}

TEST(Quantity, EveryTextReadsBackToItsValue) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const auto d : {Dimension::time, Dimension::bytes, Dimension::bandwidth, Dimension::transfers,
                         Dimension::frequency, Dimension::percent}) {
        for (std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{999}, std::int64_t{1023},
                               std::int64_t{1025}, std::int64_t{123'456'789}, most / 1'000'000, most / 1000 - 7}) {
            const std::string text = format_quantity(v, d);
            const QuantityResult r = parse_quantity(text, d);
            EXPECT_TRUE(r.ok) << text << ": " << r.found;
            EXPECT_EQ(r.value, v) << text;
        }
    }
}

}  // namespace
}  // namespace ssdtlm
