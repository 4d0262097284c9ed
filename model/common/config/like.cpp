// SPDX-License-Identifier: Apache-2.0
#include "common/config/like.h"

#include <algorithm>
#include <cstdio>

namespace ssdtlm {
namespace {

constexpr std::int64_t kDecimals = 1000, kMost = 1'000'000;

std::string unit_of(const std::string& text) {
    const std::size_t digit = text.find_last_of("0123456789.");
    std::string unit = digit == std::string::npos ? text : text.substr(digit + 1);
    unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
    return unit;
}

bool is_binary(const std::string& unit) {
    return unit.find('i') != std::string::npos;
}

/// The value in this unit, such as "1.5". It is empty if the value needs more than three decimals or is too large to
/// read.
std::string in_unit(std::int64_t value, std::int64_t factor) {
    if (value / factor >= kMost) return "";
    const std::int64_t rest = value % factor;
    if (rest == 0) return std::to_string(value / factor);
    if (rest > INT64_MAX / kDecimals || rest * kDecimals % factor != 0 || value < factor) return "";
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%lld.%03lld", static_cast<long long>(value / factor),
                  static_cast<long long>(rest * kDecimals / factor));
    std::string text = buffer;
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

}  // namespace

std::string format_like(std::int64_t value, Dimension dimension, const std::string& like) {
    const std::string wanted = unit_of(like);
    const auto& units = units_of(dimension);
    const auto named = std::find_if(units.begin(), units.end(), [&](const UnitName& u) { return wanted == u.text; });
    if (named == units.end()) return format_quantity(value, dimension);
    if (const std::string text = in_unit(value, named->multiplier); !text.empty()) return text + named->text;
    for (auto u = units.rbegin(); u != units.rend(); ++u)
        if (is_binary(u->text) == is_binary(wanted))
            if (const std::string text = in_unit(value, u->multiplier); !text.empty()) return text + u->text;
    return format_quantity(value, dimension);
}

std::string round_size_like(std::uint64_t bytes, const std::string& like) {
    const std::uint64_t whole = is_binary(unit_of(like)) ? std::uint64_t{1} << 20 : 1'000'000;
    return format_like(static_cast<std::int64_t>(bytes >= whole ? bytes / whole * whole : bytes), Dimension::bytes,
                       like);
}

std::string block_size_like(std::uint64_t bytes, const std::string& like) {
    constexpr std::uint64_t kBlock = 4096;
    // 4.096 MB is the smallest size that is both whole blocks and exact in three decimals of an MB.
    const std::uint64_t whole = is_binary(unit_of(like)) ? std::uint64_t{1} << 20 : 1000 * kBlock;
    const std::uint64_t rounded = bytes >= whole    ? bytes / whole * whole
                                  : bytes >= kBlock ? bytes / kBlock * kBlock
                                                    : bytes;
    return format_like(static_cast<std::int64_t>(rounded), Dimension::bytes, like);
}

}  // namespace ssdtlm
