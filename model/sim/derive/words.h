// SPDX-License-Identifier: Apache-2.0
// Formats the numbers that formulas show.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "common/config/quantity.h"
#include "common/units/units.h"

namespace ssdtlm {

inline std::string time_words(double seconds) {
    if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
    if (seconds >= 1e-6) return fmt::format("{:.4g} us", seconds * 1e6);
    return fmt::format("{:.4g} ns", seconds * 1e9);
}
inline std::string time_words(Ps time) {
    return time_words(to_seconds(time));
}
inline std::string size_words(std::uint64_t bytes) {
    return format_quantity(static_cast<std::int64_t>(bytes), Dimension::bytes);
}

}  // namespace ssdtlm
