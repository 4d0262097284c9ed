// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ssdtlm::test {

/// A data structure as the figures of the specification print it: what is not named is 0.
class Figure {
public:
    Figure& number(std::size_t at, std::size_t bytes, std::uint64_t value) {
        for (std::size_t i = 0; i < bytes; ++i)
            bytes_[at + i] = static_cast<std::uint8_t>(i < 8 ? value >> (8 * i) : 0);
        return *this;
    }
    Figure& ascii(std::size_t at, std::size_t bytes, std::string value) {
        value.resize(bytes, ' ');
        return string(at, value);
    }
    Figure& string(std::size_t at, const std::string& value) {
        for (std::size_t i = 0; i < value.size(); ++i) bytes_[at + i] = static_cast<std::uint8_t>(value[i]);
        return *this;
    }
    /// `bytes`: the length of the structure.
    void expect_equal(const std::uint8_t* found, std::size_t bytes) const {
        for (std::size_t i = 0; i < bytes; ++i) EXPECT_EQ(int{found[i]}, int{bytes_[i]}) << "byte " << i;
    }

private:
    std::array<std::uint8_t, 4096> bytes_{};
};

}  // namespace ssdtlm::test
