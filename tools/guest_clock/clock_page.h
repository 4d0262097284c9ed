// SPDX-License-Identifier: Apache-2.0
#ifndef SSDTLM_GUEST_CLOCK_CLOCK_PAGE_H
#define SSDTLM_GUEST_CLOCK_CLOCK_PAGE_H
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace guest_clock {

/// The page that the model writes and the guest's clock is read from, little-endian: a line of guest time over wall
/// time. `sequence` is odd while the rest is written.
struct Page {
    std::atomic<std::uint64_t> sequence;
    std::atomic<std::int64_t> base_ns;   ///< Guest time at wall0_ns.
    std::atomic<std::int64_t> wall0_ns;  ///< CLOCK_MONOTONIC of the host.
    std::atomic<std::uint64_t> rate;     ///< Bits of a double: guest seconds in a second of wall time; 0 stands still.
    std::atomic<std::uint64_t> version;
};
constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kVersion = 1;
constexpr std::int64_t kNever = INT64_MAX;

struct Line {
    std::int64_t base_ns = 0;
    std::int64_t wall0_ns = 0;
    double rate = 1;

    std::int64_t guest(std::int64_t wall_ns) const {
        return base_ns + std::llround(static_cast<double>(wall_ns - wall0_ns) * rate);
    }
    /// When guest time will be `guest_ns` if the line stays as it is.
    std::int64_t wall(std::int64_t guest_ns) const {
        if (guest_ns <= base_ns) {
            return wall0_ns;
        }
        const double distance = static_cast<double>(guest_ns - base_ns) / rate;
        return rate > 0 && distance < 1e18 ? wall0_ns + std::llround(std::ceil(distance)) : kNever;
    }
};

/// Reads a line that is whole. A writer that died between its two counts leaves the last whole one in `line`.
inline bool read(const Page& page, Line& line) {
    for (int tries = 0; tries < 10000; ++tries) {
        const std::uint64_t before = page.sequence.load(std::memory_order_acquire);
        Line seen;
        seen.base_ns = page.base_ns.load(std::memory_order_relaxed);
        seen.wall0_ns = page.wall0_ns.load(std::memory_order_relaxed);
        const std::uint64_t bits = page.rate.load(std::memory_order_relaxed);
        std::memcpy(&seen.rate, &bits, sizeof bits);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (before % 2 == 0 && page.sequence.load(std::memory_order_relaxed) == before) {
            line = seen;
            return true;
        }
    }
    return false;
}

}  // namespace guest_clock
#endif
