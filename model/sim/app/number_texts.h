// SPDX-License-Identifier: Apache-2.0
// Numbers on the command line. The parser of the command line would say of a wrong one only that it cannot be
// converted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

/// Reads a whole number, with k, M, G for powers of 1000, or Ki, Mi, Gi of 1024. Empty: it is none, or too large.
std::optional<std::uint64_t> parse_count(const std::string& text);
/// What parse_count() reads, in words.
extern const char* const kCountWords;

/// An option that was given, and takes a whole number.
struct CountText {
    std::string option, text;
    std::uint32_t least;
    std::uint32_t* number;
};
/// An option that was given, and takes a factor above 0.
struct FactorText {
    std::string option, text;
    double most;
    const char* example;  ///< in words
    double* number;
};

/// Sets the numbers. Texts that are none become problems.
void read_numbers(const std::vector<CountText>& counts, const std::vector<FactorText>& factors,
                  std::vector<Problem>& problems);

}  // namespace ssdtlm
