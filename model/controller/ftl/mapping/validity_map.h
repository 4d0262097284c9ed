// SPDX-License-Identifier: Apache-2.0
// One bit per physical unit: set while the unit is the mapped copy of some logical unit.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "common/containers/zeroed_array.h"

namespace ssdtlm {

class ValidityMap {
public:
    explicit ValidityMap(std::uint64_t physical_units)
        : size_(physical_units / 64 + 2), words_(size_, "validity bitmap") {}

    bool test(Ppa p) const { return (words_[idx(p) / 64] >> (idx(p) % 64) & 1) != 0; }
    [[gnu::always_inline]] void prefetch(Ppa p) const { words_.prefetch(idx(p) / 64); }
    /// set() and clear() return what the bit was before.
    bool set(Ppa p) {
        std::uint64_t& w = words_[idx(p) / 64];
        const std::uint64_t bit = std::uint64_t{1} << (idx(p) % 64);
        const bool was = (w & bit) != 0;
        w |= bit;
        return was;
    }
    bool clear(Ppa p) {
        std::uint64_t& w = words_[idx(p) / 64];
        const std::uint64_t bit = std::uint64_t{1} << (idx(p) % 64);
        const bool was = (w & bit) != 0;
        w &= ~bit;
        return was;
    }
    /// First set bit in [from, end); `end` when there is none.
    std::uint32_t find(std::uint32_t from, std::uint32_t end) const {
        std::uint32_t word = from / 64;
        std::uint64_t bits = words_[word] & ~std::uint64_t{0} << (from % 64);
        while (bits == 0) {
            if (std::uint64_t{++word} * 64 >= end) return end;
            bits = words_[word];
        }
        const std::uint64_t found = std::uint64_t{word} * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
        return found < end ? static_cast<std::uint32_t>(found) : end;
    }
    /// Bits [from, from + count) as a number; count <= 32.
    std::uint32_t bits(std::uint32_t from, std::uint32_t count) const {
        const unsigned shift = from % 64;
        std::uint64_t b = words_[from / 64] >> shift;
        if (shift + count > 64) b |= words_[from / 64 + 1] << (64 - shift);
        return static_cast<std::uint32_t>(b & ((std::uint64_t{1} << count) - 1));
    }
    /// Number of set bits in [from, end).
    std::uint32_t count(std::uint32_t from, std::uint32_t end) const {
        std::uint32_t n = 0;
        for (std::uint32_t at = from; at < end;) {
            const std::uint32_t step = end - at < 32 ? end - at : 32;
            n += static_cast<std::uint32_t>(__builtin_popcount(bits(at, step)));
            at += step;
        }
        return n;
    }
    /// Sets [from, from + count).
    void fill(std::uint32_t from, std::uint32_t count) {
        const std::uint64_t end = std::uint64_t{from} + count;
        for (std::uint64_t at = from; at < end;) {
            const unsigned shift = at % 64;
            const std::uint64_t n = end - at < 64 - shift ? end - at : 64 - shift;
            words_[at / 64] |= (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << shift;
            at += n;
        }
    }
    template <class Archive>
    void state(Archive& s) {
        s.bytes(&words_[0], size_ * sizeof words_[0]);
    }

private:
    const std::size_t size_;
    ZeroedArray<std::uint64_t> words_;
};

}  // namespace ssdtlm
