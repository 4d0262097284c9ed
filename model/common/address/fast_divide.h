// SPDX-License-Identifier: Apache-2.0
// Divides 32-bit numbers exactly by a fixed divisor, by a multiplication (Lemire, Kaser, Kurz, "Faster remainder by
// direct computation", 2019). The simulator divides for every invalidated unit, where hardware divisions would cost too
// much time.
#pragma once

#include <cstdint>

namespace ssdtlm {

class FastDivide {
public:
    /// Precondition: divisor > 0.
    explicit constexpr FastDivide(std::uint32_t divisor)
        : inverse_(divisor > 1 ? ~std::uint64_t{0} / divisor + 1 : 0), if_one_(divisor > 1 ? 0u : ~0u) {}
    constexpr std::uint32_t operator()(std::uint32_t n) const {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint32_t>((static_cast<Wide>(inverse_) * n) >> 64) + (n & if_one_);
    }

private:
    std::uint64_t inverse_;
    std::uint32_t if_one_;  // the inverse of 1 does not fit 64 bits
};

/// Divides 64-bit numbers by a fixed divisor. It is fast if the divisor is a power of two.
class LongDivide {
public:
    /// Precondition: divisor > 0.
    explicit constexpr LongDivide(std::uint64_t divisor)
        : divisor_(divisor),
          shift_((divisor & (divisor - 1)) == 0 ? static_cast<unsigned>(__builtin_ctzll(divisor)) : kNoShift) {}
    constexpr std::uint64_t operator()(std::uint64_t n) const {
        return shift_ != kNoShift ? n >> shift_ : n / divisor_;
    }

private:
    static constexpr unsigned kNoShift = 64;
    std::uint64_t divisor_;
    unsigned shift_;
};

}  // namespace ssdtlm
