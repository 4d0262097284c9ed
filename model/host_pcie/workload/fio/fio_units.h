// SPDX-License-Identifier: Apache-2.0
// Reads numbers as fio 3.33 does: sizes, percentages, times. They differ from the project's own strict units on
// purpose: with fio's default kb_base=1024, 10k = 10kb = 10Ki = 10240 but 10KiB = 10000, and the other way round with
// kb_base=1000. It is stricter than fio in one point: what fio would silently misread (4q, 1.5m, 30sec) is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/units/units.h"

namespace ssdtlm {

/// A byte count or count, or a percentage of a whole that is known later.
struct FioAmount {
    std::uint64_t value = 0;
    bool percent = false;
};

/// The unit of a time without suffix; it depends on the option (runtime: seconds, thinktime: microseconds).
enum class FioBareTime : std::uint8_t { microseconds, seconds };

/// Digits or 0x…, then nothing, k, m, g, t or p (with b, i or ib; any case), or %. A "/s" after the unit is allowed.
/// On failure `why` says what is allowed.
std::optional<FioAmount> parse_fio_amount(std::string_view text, unsigned kb_base, std::string& why);

/// Digits, then nothing, us (usec), ms (msec), s, m, h or d (any case).
std::optional<Ps> parse_fio_time(std::string_view text, FioBareTime bare, std::string& why);

/// A decimal number with optional fraction (percentiles, theta).
std::optional<double> parse_fio_float(std::string_view text, std::string& why);

}  // namespace ssdtlm
