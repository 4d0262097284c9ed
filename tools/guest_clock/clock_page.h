// SPDX-License-Identifier: Apache-2.0
#ifndef SSDTLM_GUEST_CLOCK_CLOCK_PAGE_H
#define SSDTLM_GUEST_CLOCK_CLOCK_PAGE_H
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace guest_clock {

/// The page between the model and a guest, little-endian. The first part is the model's: a line of guest time over wall
/// time, and how far guest time may go on it; `sequence` is odd while they are written. The second part is the guest's.
struct Page {
    std::atomic<std::uint64_t> sequence;
    std::atomic<std::int64_t> base_ns;   ///< Guest time at wall0_ns.
    std::atomic<std::int64_t> wall0_ns;  ///< CLOCK_MONOTONIC of the host, without what was stood (`stand`).
    std::atomic<std::uint64_t> rate;     ///< Bits of a double: guest seconds in a second of wall time; 0 stands still.
    std::atomic<std::uint64_t> version;
    std::atomic<std::int64_t> limit_ns;  ///< Guest time stands there: what comes after is the model's to say.
    std::atomic<std::uint64_t>
        taken;  ///< Bytes of the guest's messages that the model has taken; kNoMessages: not counted.
    std::uint64_t unused;

    std::atomic<std::int64_t> latest_ns;  ///< What the guest has read last.
    std::atomic<std::uint64_t> sending;   ///< Threads that are sending a message to the model.
    std::atomic<std::uint64_t> sent;      ///< Bytes that they have sent since the guest's start.
    std::atomic<std::int64_t> stand;      ///< See `gone`.
    std::atomic<std::int64_t> lost_ns;    ///< Wall time that was stood before.
    std::uint64_t unused2[3];

    char socket[112];  ///< Where the model listens, as a connected client sees it (getpeername); ends with 0.
};
static_assert(offsetof(Page, latest_ns) == 64 && offsetof(Page, socket) == 128, "the layout that README.md describes");
constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kVersion = 2;
constexpr std::int64_t kNever = INT64_MAX;
constexpr std::uint64_t kNoMessages = UINT64_MAX;
/// A thread that has been woken runs within that time, or the guest's clock goes on: it may want what another one has
/// that waits for the model. Of the wall. assumed: some time slices of a busy host
constexpr std::int64_t kLongestStand = 100'000'000;

/// Wall time without what was stood. `stand` is negative while the guest's clock stands because a thread that has been
/// woken does not run yet: then it is -1 - (the wall time of its beginning, without what was lost before).
inline std::int64_t gone(const Page& page, std::int64_t wall) {
    const std::int64_t stand = page.stand.load(std::memory_order_acquire);
    if (stand >= 0) {
        return wall - stand;
    }
    const std::int64_t begin = -1 - stand;
    const std::int64_t stood = wall - page.lost_ns.load(std::memory_order_acquire) - begin;
    return stood > kLongestStand ? begin + stood - kLongestStand : begin;
}

/// A message is on its way to the model: guest time stands at what was read before it was sent.
inline bool message_under_way(const Page& page) {
    const std::uint64_t taken = page.taken.load(std::memory_order_acquire);
    return taken != kNoMessages &&
           (page.sending.load(std::memory_order_acquire) != 0 || page.sent.load(std::memory_order_acquire) > taken);
}

struct Line {
    std::int64_t base_ns = 0;
    std::int64_t wall0_ns = 0;
    double rate = 1;
    std::int64_t limit_ns = kNever;

    /// `gone_ns`: as `gone` says.
    std::int64_t guest(std::int64_t gone_ns) const {
        const std::int64_t now = base_ns + std::llround(static_cast<double>(gone_ns - wall0_ns) * rate);
        return now < limit_ns ? now : limit_ns;
    }
    /// When guest time will be `guest_ns` if the line stays as it is.
    std::int64_t wall(std::int64_t guest_ns) const {
        if (guest_ns <= base_ns) {
            return wall0_ns;
        }
        const double distance = static_cast<double>(guest_ns - base_ns) / rate;
        return guest_ns <= limit_ns && rate > 0 && distance < 1e18 ? wall0_ns + std::llround(std::ceil(distance))
                                                                   : kNever;
    }
};

/// Reads a line that is whole. A writer that died between its two counts leaves the last whole one in `line`.
inline bool read(const Page& page, Line& line) {
    for (int tries = 0; tries < 10000; ++tries) {
        const std::uint64_t before = page.sequence.load(std::memory_order_acquire);
        Line seen;
        seen.base_ns = page.base_ns.load(std::memory_order_relaxed);
        seen.wall0_ns = page.wall0_ns.load(std::memory_order_relaxed);
        seen.limit_ns = page.limit_ns.load(std::memory_order_relaxed);
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

/// Writes it; one writer only.
inline void write(Page& page, const Line& line) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &line.rate, sizeof bits);
    page.sequence.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    page.base_ns.store(line.base_ns, std::memory_order_relaxed);
    page.wall0_ns.store(line.wall0_ns, std::memory_order_relaxed);
    page.limit_ns.store(line.limit_ns, std::memory_order_relaxed);
    page.rate.store(bits, std::memory_order_relaxed);
    page.sequence.fetch_add(1, std::memory_order_release);
}

}  // namespace guest_clock
#endif
