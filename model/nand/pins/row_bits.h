// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ssdtlm {

/// Bits of a row address that this many pages, planes, blocks or LUNs need.
constexpr unsigned bits_for(std::uint32_t values) {
    unsigned bits = 0;
    while ((std::uint64_t{1} << bits) < values) ++bits;
    return bits;
}

}  // namespace ssdtlm
