// SPDX-License-Identifier: Apache-2.0
#include "sim/app/number_texts.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace ssdtlm {

namespace {
struct Multiple {
    const char* suffix;
    std::uint64_t factor;
};
constexpr Multiple kMultiples[] = {{"", 1},
                                   {"k", 1'000},
                                   {"M", 1'000'000},
                                   {"G", 1'000'000'000},
                                   {"Ki", std::uint64_t{1} << 10},
                                   {"Mi", std::uint64_t{1} << 20},
                                   {"Gi", std::uint64_t{1} << 30}};

/// Reads a number in decimal; 0 if it is none.
double factor_of(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return text.empty() || *end != 0 || !std::isfinite(value) ? 0 : value;
}
}  // namespace

const char* const kCountWords = "k, M, G for powers of 1000, Ki, Mi, Gi of 1024";

std::optional<std::uint64_t> parse_count(const std::string& text) {
    std::uint64_t digits = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, digits);
    if (error != std::errc()) return std::nullopt;
    std::uint64_t count = 0;
    for (const Multiple& m : kMultiples)
        if (std::string(rest, end) == m.suffix && !__builtin_mul_overflow(digits, m.factor, &count)) return count;
    return std::nullopt;
}

void read_numbers(const std::vector<CountText>& counts, const std::vector<FactorText>& factors,
                  std::vector<Problem>& problems) {
    constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
    for (const CountText& c : counts) {
        const std::optional<std::uint64_t> count = parse_count(c.text);
        if (count && *count >= c.least && *count <= kMost)
            *c.number = static_cast<std::uint32_t>(*count);
        else
            problems.push_back({"command line", fmt::format("{} '{}'", c.option, c.text),
                                fmt::format("a whole number, {}..{}; {}", c.least, kMost, kCountWords),
                                fmt::format("for example {}", *c.number)});
    }
    for (const FactorText& f : factors) {
        const double factor = factor_of(f.text);
        if (factor > 0 && factor <= f.most)
            *f.number = factor;
        else
            problems.push_back({"command line", fmt::format("{} '{}'", f.option, f.text),
                                fmt::format("a number above 0, at most {:g}, for example {}", f.most, f.example), ""});
    }
}

}  // namespace ssdtlm
