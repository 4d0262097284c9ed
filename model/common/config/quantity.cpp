// SPDX-License-Identifier: Apache-2.0
#include "common/config/quantity.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kK = 1000, kM = 1000 * kK, kG = 1000 * kM, kT = 1000 * kG;
constexpr std::int64_t kKi = 1024, kMi = 1024 * kKi, kGi = 1024 * kMi, kTi = 1024 * kGi;
constexpr std::size_t kMaxDigits = 18;  // 10^18 fits 64 bits, and its product with a multiplier fits 128
constexpr int kMaxFraction = 12;        // digits behind the point that formatting uses at most

const char* noun(Dimension d) {
    switch (d) {
        case Dimension::time:
            return "a time";
        case Dimension::age:
            return "an age";
        case Dimension::bytes:
            return "a size";
        case Dimension::bandwidth:
            return "a bandwidth";
        case Dimension::transfers:
            return "a transfer rate";
        case Dimension::frequency:
            return "a frequency";
        case Dimension::power:
            return "a power";
        case Dimension::percent:
            return "a percentage";
    }
    return "";
}

bool digit(char c) {
    return c >= '0' && c <= '9';
}

std::string lower(std::string_view s) {
    std::string r(s);
    std::transform(r.begin(), r.end(), r.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return r;
}

QuantityResult fail(std::string found, std::string repair = {}) {
    QuantityResult r;
    r.found = std::move(found);
    r.repair = std::move(repair);
    return r;
}

/// The unit that the user may have meant: letters in another case, a bare prefix, a micro sign, or a slip of the
/// keyboard. It is empty if no unit is near.
std::string meant_unit(std::string_view unit, Dimension d) {
    const std::string given = lower(unit);
    for (const auto& u : units_of(d)) {
        if (lower(u.text) == given) return u.text;
    }
    if ((d == Dimension::time || d == Dimension::age) && (unit == "\xC2\xB5s" || unit == "\xCE\xBCs"))
        return "us";  // U+00B5, U+03BC
    if (d == Dimension::bytes && given.size() == 1) {
        for (const auto& u : units_of(d)) {
            if (lower(u.text) == given + "b") return u.text;
        }
    }
    std::vector<std::string> names;
    for (const auto& u : units_of(d)) names.emplace_back(u.text);
    return unit.size() > 2 ? nearest(std::string(unit), names) : std::string{};
}

}  // namespace

const std::vector<UnitName>& units_of(Dimension d) {
    static const std::vector<UnitName> time{{"ps", 1}, {"ns", kK}, {"us", kM}, {"ms", kG}, {"s", kT}};
    // A year has 365 days, as is usual for data retention.
    static const std::vector<UnitName> age{
        {"ns", 1},        {"us", kK},        {"ms", kM},         {"s", kG},
        {"min", 60 * kG}, {"h", 3'600 * kG}, {"d", 86'400 * kG}, {"y", 365 * 86'400 * kG}};
    static const std::vector<UnitName> bytes{{"B", 1},   {"kB", kK},   {"KiB", kKi}, {"MB", kM},  {"MiB", kMi},
                                             {"GB", kG}, {"GiB", kGi}, {"TB", kT},   {"TiB", kTi}};
    static const std::vector<UnitName> bandwidth{{"B/s", 1},     {"kB/s", kK},   {"KiB/s", kKi},
                                                 {"MB/s", kM},   {"MiB/s", kMi}, {"GB/s", kG},
                                                 {"GiB/s", kGi}, {"TB/s", kT},   {"TiB/s", kTi}};
    static const std::vector<UnitName> transfers{{"MT/s", 1}, {"GT/s", kK}};
    static const std::vector<UnitName> frequency{{"Hz", 1}, {"kHz", kK}, {"MHz", kM}, {"GHz", kG}};
    static const std::vector<UnitName> power{{"uW", 1}, {"mW", kK}, {"W", kM}};
    static const std::vector<UnitName> percent{{"%", 10'000}};
    switch (d) {
        case Dimension::time:
            return time;
        case Dimension::age:
            return age;
        case Dimension::bytes:
            return bytes;
        case Dimension::bandwidth:
            return bandwidth;
        case Dimension::transfers:
            return transfers;
        case Dimension::frequency:
            return frequency;
        case Dimension::power:
            return power;
        case Dimension::percent:
            break;
    }
    return percent;
}

std::string describe(Dimension d) {
    std::string s = std::string(noun(d)) + " (";
    for (const auto& u : units_of(d)) {
        if (s.back() != '(') s += ", ";
        s += u.text;
    }
    return s + ")";
}

std::string pattern_of(Dimension d) {
    std::string s = "^[0-9]+(\\.[0-9]+)? ?(";
    for (const auto& u : units_of(d)) {
        if (s.back() != '(') s += '|';
        s += u.text;
    }
    return s + ")$";
}

QuantityResult parse_quantity(std::string_view text, Dimension d) {
    const std::string quoted = "'" + std::string(text) + "'";
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) return fail(quoted + " has a sign", "drop the sign");
    std::size_t i = 0;
    while (i < text.size() && digit(text[i])) ++i;
    const std::string_view whole = text.substr(0, i);
    if (whole.empty()) return fail(quoted + " does not start with a digit");
    std::string_view fraction;
    if (i < text.size() && text[i] == '.') {
        const std::size_t begin = ++i;
        while (i < text.size() && digit(text[i])) ++i;
        fraction = text.substr(begin, i - begin);
        if (fraction.empty()) return fail(quoted + " has no digit after the decimal point");
    }
    const std::string number(text.substr(0, i));
    if (i < text.size() && text[i] == ' ') ++i;
    const std::string_view unit = text.substr(i);
    const auto& units = units_of(d);
    if (unit.empty()) {
        return fail(quoted + " has no unit", "add one, for example \"" + number + units[units.size() / 2].text + "\"");
    }
    const auto u = std::find_if(units.begin(), units.end(), [&](const UnitName& n) { return unit == n.text; });
    if (u == units.end()) {
        if (unit.size() > 1 && lower(unit.substr(0, 1)) == "e" &&
            (digit(unit[1]) || unit[1] == '-' || unit[1] == '+')) {
            return fail(quoted + " has an exponent", "write the number without an exponent");
        }
        const std::string meant = meant_unit(unit, d);
        return fail(quoted + " has the unknown unit '" + std::string(unit) + "'",
                    meant.empty() ? "" : "did you mean \"" + number + meant + "\"?");
    }
    if (whole.size() > kMaxDigits || fraction.size() > kMaxDigits) return fail(quoted + " has too many digits");
    std::int64_t integer = 0;
    for (const char c : whole) integer = integer * 10 + (c - '0');
    std::int64_t numerator = 0, denominator = 1;
    for (const char c : fraction) {
        numerator = numerator * 10 + (c - '0');
        denominator *= 10;
    }
    const Wide part = Wide{numerator} * u->multiplier;
    if (part % denominator != 0) {
        return fail(quoted + " is no whole number of " + (d == Dimension::percent ? "0.0001 %" : units[0].text),
                    "use fewer digits after the decimal point");
    }
    const Wide value = Wide{integer} * u->multiplier + part / denominator;
    if (value > std::numeric_limits<std::int64_t>::max()) return fail(quoted + " is too large");
    QuantityResult r;
    r.ok = true;
    r.value = static_cast<std::int64_t>(value);
    return r;
}

std::string format_quantity(std::int64_t value, Dimension d) {
    const auto& units = units_of(d);
    if (value == 0) return std::string("0") + (d == Dimension::time || d == Dimension::age ? "s" : units[0].text);
    std::string best;
    bool best_whole = false;
    for (auto u = units.rbegin(); u != units.rend(); ++u) {
        std::string s = std::to_string(value / u->multiplier);
        Wide rest = value % u->multiplier;
        const bool whole = rest == 0;
        if (!whole) s += '.';
        for (int n = 0; rest != 0 && n < kMaxFraction; ++n) {
            rest *= 10;
            s += static_cast<char>('0' + static_cast<int>(rest / u->multiplier));
            rest %= u->multiplier;
        }
        if (rest != 0) continue;  // not exact in this unit
        s += u->text;
        if (best.empty() || s.size() < best.size() || (s.size() == best.size() && whole && !best_whole)) {
            best = s;
            best_whole = whole;
        }
    }
    return best;
}

}  // namespace ssdtlm
