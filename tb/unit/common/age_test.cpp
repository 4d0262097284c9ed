// SPDX-License-Identifier: Apache-2.0
#include "common/units/age.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <type_traits>

#include "common/config/quantity.h"
#include "common/random/random.h"

namespace ssdtlm {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// What 64 bits hold of it; the lowest number stands for nothing.
std::int64_t held(Wide exact) {
    return exact > kMost ? kMost : exact < -Wide{kMost} ? -kMost : static_cast<std::int64_t>(exact);
}

/// Edges more often than chance would.
std::int64_t draw(Random& random) {
    const std::array<std::int64_t, 10> edges{
        0, 1, 999, 1000, kMost / 1000, kMost / 1000 + 1, kMost / 2, kMost / 2 + 1, kMost - 1, kMost};
    const std::int64_t n = random.percent(50)
                               ? edges[random.below(edges.size())]
                               : static_cast<std::int64_t>(random.below(std::uint64_t{1} << (1 + random.below(62))));
    return random.percent(50) ? n : -n;
}

static_assert(!std::is_convertible_v<Ps, Age> && !std::is_convertible_v<Age, Ps> &&
              !std::is_convertible_v<std::int64_t, Age> && !std::is_convertible_v<Age, std::int64_t>);

TEST(Age, IsWhatWideArithmeticSaysAndNeverOverflows) {
    Random random(7);
    for (int i = 0; i < 200'000; ++i) {
        const std::int64_t a = draw(random), b = draw(random);
        const Age x = Age::nanoseconds(a), y = Age::nanoseconds(b);
        ASSERT_EQ((x + y).count(), held(Wide{a} + b)) << a << " " << b;
        ASSERT_EQ((x - y).count(), held(Wide{a} - b)) << a << " " << b;
        ASSERT_EQ((x * b).count(), held(Wide{a} * b)) << a << " " << b;
        ASSERT_EQ(Age::seconds(a).count(), held(Wide{a} * 1'000'000'000)) << a;
        ASSERT_EQ(Age::days(a).count(), held(Wide{a} * 86'400 * 1'000'000'000)) << a;
        ASSERT_EQ(Age::years(a).count(), held(Wide{a} * 365 * 86'400 * 1'000'000'000)) << a;
        ASSERT_EQ(x < y, a < b);
        ASSERT_EQ(x >= y, a >= b);
        ASSERT_EQ(x.fits(), held(Wide{a} * 1000) == Wide{a} * 1000) << a;
        ASSERT_EQ(x.at_most().count(), held(Wide{a} * 1000)) << a;
        // From picoseconds it is the whole nanoseconds below; there and back is the same where it fits.
        const Age of = Age::of(Ps{b});
        ASSERT_TRUE(Wide{of.count()} * 1000 <= b && b < (Wide{of.count()} + 1) * 1000) << b;
        if (x.fits()) {
            ASSERT_EQ(Age::of(x.at_most()), x) << a;
        }
        const SimTime from{Ps{b < 0 ? -b : b}};
        const Wide at = Wide{from.time_since_epoch().count()} + Wide{a} * 1000;
        if (a >= 0) {
            ASSERT_EQ(after(from, x), at >= kMost ? kNever : SimTime{Ps{static_cast<std::int64_t>(at)}})
                << a << " " << b;
        }
    }
    EXPECT_EQ(Age::nanoseconds(std::numeric_limits<std::int64_t>::min()).count(), -kMost);
    EXPECT_EQ(Age::of(Ps{-1}), Age::nanoseconds(-1));
    EXPECT_EQ(Age::of(Ps::max()).count(), kMost / 1000);
}

TEST(Age, ReachesCenturiesAndIsWrittenInYears) {
    EXPECT_TRUE(Age::days(106).fits());
    EXPECT_FALSE(Age::days(107).fits());
    EXPECT_LT(Age::years(292), Age::longest());
    EXPECT_EQ(Age::years(293), Age::longest());
    const std::pair<const char*, Age> cases[] = {{"10y", Age::years(10)},       {"0.5y", Age::days(365) / 2},
                                                 {"30d", Age::days(30)},        {"36h", Age::seconds(36 * 3600)},
                                                 {"90min", Age::seconds(5400)}, {"500ms", Age::seconds(1) / 2},
                                                 {"1ns", Age::nanoseconds(1)},  {"292y", Age::years(292)}};
    for (const auto& [text, age] : cases) {
        const QuantityResult r = parse_quantity(text, Dimension::age);
        ASSERT_TRUE(r.ok) << text << r.found;
        EXPECT_EQ(r.value, age.count()) << text;
        const QuantityResult again = parse_quantity(format_quantity(r.value, Dimension::age), Dimension::age);
        EXPECT_TRUE(again.ok && again.value == r.value) << text;
    }
    EXPECT_EQ(format_quantity(Age::years(2).count(), Dimension::age), "2y");
    EXPECT_EQ(format_quantity(0, Dimension::age), "0s");
    EXPECT_FALSE(parse_quantity("293y", Dimension::age).ok);
    EXPECT_FALSE(parse_quantity("500ps", Dimension::age).ok);
    EXPECT_FALSE(parse_quantity("1y", Dimension::time).ok) << "simulated time ends before";
}

}  // namespace
}  // namespace ssdtlm
