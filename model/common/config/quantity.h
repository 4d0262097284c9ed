// SPDX-License-Identifier: Apache-2.0
// Quantities as users write them ("75us", "480GB", "333MT/s"), and as the model counts them: as exact integers in one
// base unit per dimension. Prefixes are strict: k, M, G, T are powers of 1000, and Ki, Mi, Gi, Ti are powers of 1024. A
// number without a unit is not a quantity. Nothing is rounded: a value that is no whole number of base units is an
// error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ssdtlm {

enum class Dimension : std::uint8_t {
    time,       ///< base: picosecond
    age,        ///< base: nanosecond; up to 292 years
    bytes,      ///< base: byte
    bandwidth,  ///< base: byte per second
    transfers,  ///< base: 10^6 transfers per second
    frequency,  ///< base: hertz
    power,      ///< base: microwatt
    percent     ///< base: 1e-6 of the whole
};

struct UnitName {
    const char* text;         ///< "us"
    std::int64_t multiplier;  ///< in base units
};

/// Units of a dimension, the smallest first.
const std::vector<UnitName>& units_of(Dimension d);
/// Describes a dimension with its units: "a time (ps, ns, us, ms, s)".
std::string describe(Dimension d);
/// A regular expression (JSON Schema dialect) that matches the text of a quantity of this dimension.
std::string pattern_of(Dimension d);

struct QuantityResult {
    bool ok = false;
    std::int64_t value = 0;  ///< base units; never negative
    std::string found;       ///< what is wrong, when not ok
    std::string repair;      ///< how to repair, may be empty
};
/// Parses digits, an optional decimal fraction, at most one space, and a unit. A sign or an exponent is an error.
QuantityResult parse_quantity(std::string_view text, Dimension d);

/// Returns the shortest exact text. If two texts are equally short, one without a fraction goes first, then the larger
/// unit.
std::string format_quantity(std::int64_t value, Dimension d);

}  // namespace ssdtlm
