// SPDX-License-Identifier: Apache-2.0
// Quantities as users write them ("75us", "480GB", "333MT/s") and as the model counts them: exact integers of one base
// unit per dimension. Prefixes are strict: k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti powers of 1024. A number
// without a unit is not a quantity, and nothing is rounded: a value that is no whole number of base units is an error.
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
/// Describes a dimension: "a time (ps, ns, us, ms, s)".
std::string describe(Dimension d);
/// Regular expression (JSON Schema dialect) that matches the text of such a quantity.
std::string pattern_of(Dimension d);

struct QuantityResult {
    bool ok = false;
    std::int64_t value = 0;  ///< base units; never negative
    std::string found;       ///< what is wrong, when not ok
    std::string repair;      ///< how to repair, may be empty
};
/// Parses digits, an optional decimal fraction, at most one space, and a unit. A sign or an exponent is an error.
QuantityResult parse_quantity(std::string_view text, Dimension d);

/// Returns the shortest exact text; of two texts of equal length the one without a fraction, then the one with the
/// larger unit.
std::string format_quantity(std::int64_t value, Dimension d);

}  // namespace ssdtlm
