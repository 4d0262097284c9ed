// SPDX-License-Identifier: Apache-2.0
// A small seeded generator with the same sequence on every platform, which distributions of std:: do not promise.
#pragma once

#include <cstdint>

namespace ssdtlm {

/// xoshiro256** (Blackman, Vigna 2018), seeded through SplitMix64. `stream`: generators with one seed and different
/// streams are independent.
class Random {
public:
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
        std::uint64_t z = seed ^ (stream * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u);
        for (auto& s : s_) s = split_mix(z);
    }
    std::uint64_t next() {
        const std::uint64_t result = rotl(s_[1] * 5, 7) * 9;
        const std::uint64_t t = s_[1] << 17;
        s_[2] ^= s_[0];
        s_[3] ^= s_[1];
        s_[1] ^= s_[2];
        s_[0] ^= s_[3];
        s_[2] ^= t;
        s_[3] = rotl(s_[3], 45);
        return result;
    }
    /// Returns a uniform number in [0, n); n > 0. It multiplies and shifts (Lemire), with a bias below 2^-64 * n.
    std::uint64_t below(std::uint64_t n) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * n) >> 64);
    }
    /// Returns a uniform number in [0, 1) with 53 bits.
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    template <class Archive>
    void state(Archive& s) {
        for (std::uint64_t& word : s_) s(word);
    }
    /// Returns true with probability percent/100.
    bool percent(unsigned percent) { return below(100) < percent; }

private:
    static std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    static std::uint64_t split_mix(std::uint64_t& z) {
        z += 0x9E3779B97F4A7C15u;
        std::uint64_t r = z;
        r = (r ^ (r >> 30)) * 0xBF58476D1CE4E5B9u;
        r = (r ^ (r >> 27)) * 0x94D049BB133111EBu;
        return r ^ (r >> 31);
    }
    std::uint64_t s_[4];
};

}  // namespace ssdtlm
