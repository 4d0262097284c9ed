// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace ssdtlm {

/// FNV-1a with 64 bits. It tells configurations and workloads apart. It is not cryptographic: collisions can be made on
/// purpose.
class ContentHash {
public:
    void add(std::string_view bytes) {
        for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    }
    /// The hash as 16 hexadecimal digits.
    std::string text() const {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value_));
        return digits;
    }

private:
    std::uint64_t value_ = 0xCBF29CE484222325u;
};

}  // namespace ssdtlm
