// SPDX-License-Identifier: Apache-2.0
// Chooses the seeds that a test of many seeds runs. SSDTLM_TEST_SEED is added to all of them. SSDTLM_TEST_SHARE is the
// percentage of seeds that run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ssdtlm {

inline std::uint64_t seed_offset() {
    const char* const offset = std::getenv("SSDTLM_TEST_SEED");
    return offset == nullptr ? 0 : std::strtoull(offset, nullptr, 10);
}

/// Returns how many of `seeds` seeds run, at least one. CI runs a share of the seeds of the longest tests, and the
/// nightly run has all of them.
inline std::uint64_t share_of(std::uint64_t seeds) {
    const char* const percent = std::getenv("SSDTLM_TEST_SHARE");
    return percent == nullptr ? seeds : std::max<std::uint64_t>(1, seeds * std::strtoull(percent, nullptr, 10) / 100);
}

}  // namespace ssdtlm
