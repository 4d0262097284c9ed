// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_units.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>

namespace ssdtlm {
namespace {

constexpr const char* kSizeForm = "a whole number with nothing, k, m, g, t, p (also kb, KiB, ...) or % after it";
constexpr const char* kTimeForm = "a whole number with nothing, us, ms, s, m, h or d after it";

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

bool multiply(std::uint64_t& value, std::uint64_t factor) {
    return !__builtin_mul_overflow(value, factor, &value);
}

/// Takes the digits off the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text, std::string& why) {
    std::size_t i = 0;
    unsigned base = 10;
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        i = 2;
    }
    const std::size_t first = i;
    std::uint64_t value = 0;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        unsigned digit = 0;
        if (c >= '0' && c <= '9')
            digit = static_cast<unsigned>(c - '0');
        else if (base == 16 && std::isxdigit(static_cast<unsigned char>(c)))
            digit = static_cast<unsigned>(std::tolower(static_cast<unsigned char>(c)) - 'a') + 10;
        else
            break;
        if (!multiply(value, base) || __builtin_add_overflow(value, digit, &value)) {
            why = "a number below 2^64";
            return std::nullopt;
        }
    }
    if (i == first) return std::nullopt;
    text.remove_prefix(i);
    return value;
}

/// 1024 or 1000 to the power that `unit` stands for; 0 for an unknown unit. fio's rule: "kib" and its like are the
/// opposite of kb_base, everything else beginning with the letter is kb_base.
std::uint64_t size_factor(const std::string& unit, unsigned kb_base) {
    if (unit.empty() || unit == "b") return 1;
    constexpr std::string_view letters = "kmgtp";
    const std::size_t power = letters.find(unit[0]);
    if (power == std::string_view::npos) return 0;
    const std::string rest = unit.substr(1);
    std::uint64_t step = kb_base;
    if (rest == "ib")
        step = kb_base == 1000 ? 1024 : 1000;
    else if (!rest.empty() && rest != "b" && rest != "i")
        return 0;
    std::uint64_t factor = 1;
    for (std::size_t i = 0; i <= power; ++i) factor *= step;
    return factor;
}

}  // namespace

std::optional<FioAmount> parse_fio_amount(std::string_view text, unsigned kb_base, std::string& why) {
    why = kSizeForm;
    const auto number = take_number(text, why);
    if (!number) return std::nullopt;
    FioAmount amount{*number, false};
    if (text == "%") {
        amount.percent = true;
        return amount;
    }
    const std::uint64_t factor = size_factor(lower(text.substr(0, text.find('/'))), kb_base);
    if (factor == 0) return std::nullopt;
    if (!multiply(amount.value, factor)) {
        why = "a number below 2^64";
        return std::nullopt;
    }
    return amount;
}

std::optional<Ps> parse_fio_time(std::string_view text, FioBareTime bare, std::string& why) {
    why = kTimeForm;
    const auto number = take_number(text, why);
    if (!number) return std::nullopt;
    const std::string unit = lower(text);
    constexpr std::uint64_t us = 1'000'000;
    constexpr std::uint64_t s = us * 1'000'000;
    std::uint64_t factor = 0;
    if (unit.empty())
        factor = bare == FioBareTime::seconds ? s : us;
    else if (unit == "us" || unit == "usec")
        factor = us;
    else if (unit == "ms" || unit == "msec")
        factor = us * 1000;
    else if (unit == "s")
        factor = s;
    else if (unit == "m")
        factor = 60 * s;
    else if (unit == "h")
        factor = 3600 * s;
    else if (unit == "d")
        factor = 86400 * s;
    else
        return std::nullopt;
    std::uint64_t value = *number;
    // A quarter of the range: delay, ramp and runtime are added to each other.
    if (!multiply(value, factor) || value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 4)) {
        why = "at most 26 days of simulated time";
        return std::nullopt;
    }
    return Ps{static_cast<std::int64_t>(value)};
}

std::optional<double> parse_fio_float(std::string_view text, std::string& why) {
    why = "a decimal number";
    const std::string copy(text);
    char* end = nullptr;
    errno = 0;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || end != copy.c_str() + copy.size() || errno == ERANGE || !(value > -1e18 && value < 1e18))
        return std::nullopt;
    return value;
}

}  // namespace ssdtlm
