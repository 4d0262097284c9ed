// SPDX-License-Identifier: Apache-2.0
// Bits of Verilated ports, whatever their width: up to 64 bits they are integers, beyond that arrays of words.
#pragma once

#include <cstdint>
#include <type_traits>

#include <verilated.h>

namespace ssdtlm::rtl {

template <class Port>
void put(Port& port, std::uint64_t value) {
    static_assert(std::is_integral_v<Port>);
    port = static_cast<Port>(value);
}

/// `width` bits from bit `at` on; bits beyond the value's 64 are 0.
template <class Port>
void put_bits(Port& port, unsigned at, unsigned width, std::uint64_t value) {
    const std::uint64_t mask = width < 64 ? (std::uint64_t{1} << width) - 1 : ~std::uint64_t{0};
    if constexpr (std::is_integral_v<Port>) {
        port = static_cast<Port>((port & ~(mask << at)) | (value & mask) << at);
    } else {
        for (unsigned done = 0; done < width;) {
            const unsigned word = (at + done) / 32, shift = (at + done) % 32;
            const unsigned n = width - done < 32 - shift ? width - done : 32 - shift;
            const std::uint32_t part = static_cast<std::uint32_t>(~std::uint64_t{0} >> (64 - n)) << shift;
            port[word] = (port[word] & ~part) | (static_cast<std::uint32_t>((done < 64 ? value >> done : 0) << shift) & part);
            done += n;
        }
    }
}

template <class Port>
std::uint32_t get_word(const Port& port, unsigned word) {
    if constexpr (std::is_integral_v<Port>)
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(port) >> 32 * word);
    else
        return port[word];
}

}  // namespace ssdtlm::rtl
