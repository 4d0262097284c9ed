// SPDX-License-Identifier: Apache-2.0
// A pseudo-random permutation of [0, n) in constant memory. It is a keyed Feistel network on the next power of two,
// which is repeated until the result is below n. It gives every block exactly once, in random order, without a map. It
// is not cryptographic.
#pragma once

#include <cstdint>

namespace ssdtlm {

class Permutation {
public:
    /// Precondition: n >= 1. Equal keys give equal orders.
    Permutation(std::uint64_t n, std::uint64_t key) : n_(n) {
        unsigned bits = 2;  // both halves need one bit
        while (bits < 64 && (std::uint64_t{1} << bits) < n) ++bits;
        low_bits_ = bits / 2;
        high_bits_ = bits - low_bits_;
        rekey(key);
    }
    void rekey(std::uint64_t key) {
        for (std::uint64_t& k : keys_) {
            key += 0x9E3779B97F4A7C15u;
            k = mix(key);
        }
    }
    std::uint64_t size() const { return n_; }
    /// Precondition: i < n. It takes less than two repetitions on average.
    std::uint64_t operator()(std::uint64_t i) const {
        do i = round_trip(i);
        while (i >= n_);
        return i;
    }

private:
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    /// One multiplication is enough for six rounds, because its high bits depend on all bits of z.
    static std::uint64_t scramble(std::uint64_t z) { return (z * 0x9E3779B97F4A7C15u) >> 32; }
    std::uint64_t round_trip(std::uint64_t x) const {
        const std::uint64_t low_mask = (std::uint64_t{1} << low_bits_) - 1;
        const std::uint64_t high_mask = (std::uint64_t{1} << high_bits_) - 1;
        std::uint64_t low = x & low_mask;
        std::uint64_t high = x >> low_bits_;
        for (unsigned round = 0; round < kRounds; round += 2) {
            low ^= scramble(high ^ keys_[round]) & low_mask;
            high ^= scramble(low ^ keys_[round + 1]) & high_mask;
        }
        return high << low_bits_ | low;
    }

    static constexpr unsigned kRounds = 6;
    std::uint64_t n_;
    unsigned low_bits_;
    unsigned high_bits_;
    std::uint64_t keys_[kRounds];
};

}  // namespace ssdtlm
