// SPDX-License-Identifier: Apache-2.0
// Which seeds a test of many runs: SSDTLM_TEST_SEED moves all of them, SSDTLM_TEST_SHARE (percent) takes that share of
// their number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ssdtlm {

inline std::uint64_t seed_offset() {
    const char* const offset = std::getenv("SSDTLM_TEST_SEED");
    return offset == nullptr ? 0 : std::strtoull(offset, nullptr, 10);
}

/// Of so many seeds, those that are run; one at least. CI runs a share of the longest tests, the night the whole.
inline std::uint64_t share_of(std::uint64_t seeds) {
    const char* const percent = std::getenv("SSDTLM_TEST_SHARE");
    return percent == nullptr ? seeds : std::max<std::uint64_t>(1, seeds * std::strtoull(percent, nullptr, 10) / 100);
}

}  // namespace ssdtlm
