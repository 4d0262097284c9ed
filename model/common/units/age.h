// SPDX-License-Identifier: Apache-2.0
// The age of data, and the length of idle times, in signed 64-bit nanoseconds, which reach 292 years. Simulated time is
// in picoseconds, which reach 106 days (units.h). There are no implicit conversions. An age from picoseconds is rounded
// down. An age may be too long for picoseconds. Nothing overflows: an age beyond the longest one becomes the longest
// one.
#pragma once

#include <cstdint>
#include <limits>

#include "common/units/units.h"

namespace ssdtlm {

class Age {
public:
    constexpr Age() = default;
    static constexpr Age nanoseconds(std::int64_t n) { return Age(n); }
    /// The age that a duration of simulated time has, in whole nanoseconds.
    static constexpr Age of(Ps time) { return Age(time.count() / kPsPerNs - (time.count() % kPsPerNs < 0)); }
    static constexpr Age seconds(std::int64_t n) {
        return Age(n > kMost / kPerSecond ? kMost : n < -(kMost / kPerSecond) ? -kMost : n * kPerSecond);
    }
    static constexpr Age days(std::int64_t n) {
        return n > kMost / kPerDay ? longest() : n < -(kMost / kPerDay) ? Age(-kMost) : Age(n * kPerDay);
    }
    /// Years of 365 days.
    static constexpr Age years(std::int64_t n) {
        return n > kMost / (365 * kPerDay)      ? longest()
               : n < -(kMost / (365 * kPerDay)) ? Age(-kMost)
                                                : Age(n * 365 * kPerDay);
    }
    static constexpr Age longest() { return Age(kMost); }

    constexpr std::int64_t count() const { return ns_; }
    constexpr double in_seconds() const { return static_cast<double>(ns_) * 1e-9; }
    /// True: it fits into a duration of simulated time.
    constexpr bool fits() const { return ns_ <= kMost / kPsPerNs && ns_ >= -(kMost / kPsPerNs); }
    /// The age as a duration of simulated time, or the longest such duration if it does not fit.
    constexpr Ps at_most() const { return fits() ? Ps{ns_ * kPsPerNs} : ns_ < 0 ? Ps{-kMost} : Ps::max(); }

    friend constexpr Age operator+(Age a, Age b) {
        std::int64_t sum = 0;
        if (__builtin_add_overflow(a.ns_, b.ns_, &sum)) return Age(a.ns_ < 0 ? -kMost : kMost);
        return Age(sum);
    }
    friend constexpr Age operator-(Age a, Age b) {
        std::int64_t difference = 0;
        if (__builtin_sub_overflow(a.ns_, b.ns_, &difference)) return Age(a.ns_ < 0 ? -kMost : kMost);
        return Age(difference);
    }
    friend constexpr Age operator*(Age a, std::int64_t n) {
        std::int64_t product = 0;
        if (__builtin_mul_overflow(a.ns_, n, &product)) return Age((a.ns_ < 0) != (n < 0) ? -kMost : kMost);
        return Age(product);
    }
    /// The number of times that b goes into a, rounded towards 0. Precondition: b is not 0.
    friend constexpr std::int64_t operator/(Age a, Age b) { return a.ns_ / b.ns_; }
    friend constexpr Age operator/(Age a, std::int64_t n) { return Age(a.ns_ / n); }
    friend constexpr bool operator==(Age a, Age b) { return a.ns_ == b.ns_; }
    friend constexpr bool operator!=(Age a, Age b) { return a.ns_ != b.ns_; }
    friend constexpr bool operator<(Age a, Age b) { return a.ns_ < b.ns_; }
    friend constexpr bool operator>(Age a, Age b) { return a.ns_ > b.ns_; }
    friend constexpr bool operator<=(Age a, Age b) { return a.ns_ <= b.ns_; }
    friend constexpr bool operator>=(Age a, Age b) { return a.ns_ >= b.ns_; }

private:
    static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kPsPerNs = 1000,
                                  kPerSecond = 1'000'000'000, kPerDay = 86'400 * kPerSecond;
    explicit constexpr Age(std::int64_t ns) : ns_(ns == std::numeric_limits<std::int64_t>::min() ? -kMost : ns) {}
    std::int64_t ns_ = 0;
};

/// The instant `age` after `from`. It is kNever if simulated time ends before, and the start of the run if a negative
/// age does not fit.
constexpr SimTime after(SimTime from, Age age) {
    if (!age.fits()) return age < Age() ? SimTime{} : kNever;
    std::int64_t at = 0;
    if (__builtin_add_overflow(from.time_since_epoch().count(), age.at_most().count(), &at)) return kNever;
    return SimTime{Ps{at}};
}

}  // namespace ssdtlm
