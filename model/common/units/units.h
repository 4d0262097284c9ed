// SPDX-License-Identifier: Apache-2.0
// Types of durations, instants, rates and clocks, and the literals of byte counts. Only this file and age.h round.
// Durations are signed 64-bit picoseconds, which reach 106 days; ages reach further (age.h). sc_time exists only at
// sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ratio>

namespace ssdtlm {

using Ps = std::chrono::duration<std::int64_t, std::pico>;

struct SimClock {
    using rep = std::int64_t;
    using period = std::pico;
    using duration = Ps;
    using time_point = std::chrono::time_point<SimClock>;
    static constexpr bool is_steady = true;
};
/// An instant of simulated time; SimTime{} is the start of the run.
using SimTime = SimClock::time_point;
inline constexpr SimTime kNever = SimTime::max();

using namespace std::chrono_literals;

inline constexpr std::uint64_t operator""_KiB(unsigned long long n) {
    return n << 10;
}
inline constexpr std::uint64_t operator""_MiB(unsigned long long n) {
    return n << 20;
}
inline constexpr std::uint64_t operator""_GiB(unsigned long long n) {
    return n << 30;
}

constexpr double to_seconds(Ps d) {
    return static_cast<double>(d.count()) * 1e-12;
}
constexpr double to_microseconds(Ps d) {
    return static_cast<double>(d.count()) * 1e-6;
}

/// A serial rate, as the exact ratio of picoseconds to bytes. time_for() rounds up, once.
class Rate {
public:
    constexpr Rate() = default;
    /// The rate of `bytes` bytes in `ps` picoseconds. Both must be positive.
    static constexpr Rate of(std::uint64_t ps, std::uint64_t bytes) {
        const std::uint64_t g = std::gcd(ps, bytes);
        return Rate{ps / g, bytes / g};
    }
    static constexpr Rate bytes_per_second(std::uint64_t bps) { return of(1'000'000'000'000u, bps); }
    /// The rate of an 8-bit bus, with one byte per transfer, at `mts` * 10^6 transfers per second.
    static constexpr Rate megatransfers(std::uint64_t mts) { return of(1'000'000u, mts); }

    constexpr Ps time_for(std::uint64_t bytes) const {
        if (bytes_ == 1 && bytes <= limit_) return Ps{static_cast<std::int64_t>(bytes * ps_)};  // a byte takes whole ps
        if (bytes <= limit_) return Ps{static_cast<std::int64_t>((bytes * ps_ + bytes_ - 1) / bytes_)};
        __extension__ using Wide = unsigned __int128;
        return Ps{static_cast<std::int64_t>((static_cast<Wide>(bytes) * ps_ + bytes_ - 1) / bytes_)};
    }
    constexpr double bytes_per_second() const { return 1e12 * static_cast<double>(bytes_) / static_cast<double>(ps_); }
    constexpr std::uint64_t ps_part() const { return ps_; }
    constexpr std::uint64_t bytes_part() const { return bytes_; }

private:
    constexpr Rate(std::uint64_t ps, std::uint64_t bytes)
        : ps_(ps), bytes_(bytes), limit_((std::numeric_limits<std::uint64_t>::max() - bytes) / ps) {}
    std::uint64_t ps_ = 0;  // 0 ps per byte: infinitely fast
    std::uint64_t bytes_ = 1;
    std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
};

/// A clock. It converts cycles to time and rounds up once.
class Clock {
public:
    constexpr Clock() = default;
    static constexpr Clock hertz(std::uint64_t hz) { return Clock{Rate::of(1'000'000'000'000u, hz)}; }
    constexpr Ps cycles(std::uint64_t n) const { return rate_.time_for(n); }
    constexpr Ps period() const { return rate_.time_for(1); }
    constexpr double hertz() const { return rate_.bytes_per_second(); }

private:
    explicit constexpr Clock(Rate r) : rate_(r) {}
    Rate rate_;
};

constexpr std::uint64_t div_ceil(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}
constexpr bool is_power_of_two(std::uint64_t v) {
    return v != 0 && (v & (v - 1)) == 0;
}

}  // namespace ssdtlm
