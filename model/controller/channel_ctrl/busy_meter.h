// SPDX-License-Identifier: Apache-2.0
// Measures how long a die or a plane has been busy, by the kind of work. So the wait of a transaction can be divided
// among its reasons. Kernel-free.
#pragma once

#include <array>
#include <cstdint>

#include "common/latency/timeline.h"
#include "common/units/units.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

/// The kind of work that keeps a die busy, in the order of the die_wait_* stages. From rmw on there is a kind for each
/// FlashCause.
enum class BusyKind : std::uint8_t {
    host_read,
    host_write,
    gc,
    mapping,
    erase,
    rmw,
    fold,
    relocation,
    merge,
    journal,
    parity,
    padding,
    checkpoint,
    count
};
inline constexpr std::size_t kBusyKinds = static_cast<std::size_t>(BusyKind::count);
/// Number of the kinds in front. Most devices have no others.
inline constexpr std::size_t kCommonKinds = static_cast<std::size_t>(BusyKind::rmw);
static_assert(kBusyKinds - kCommonKinds == kFlashCauseCount - 1);

/// The kind of busy time, by flash_work().
inline constexpr auto kBusyKindOf = [] {
    constexpr std::array<BusyKind, kFlashClassCount> kOfClass = {
        BusyKind::host_read, BusyKind::mapping, BusyKind::host_write, BusyKind::mapping,
        BusyKind::gc,        BusyKind::gc,      BusyKind::erase};
    std::array<BusyKind, kFlashWorkCount> of{};
    for (std::size_t cause = 0; cause < kFlashCauseCount; ++cause)
        for (std::size_t cls = 0; cls < kFlashClassCount; ++cls)
            of[cause * kFlashClassCount + cls] = cause == 0 || kOfClass[cls] == BusyKind::erase
                                                     ? kOfClass[cls]
                                                     : static_cast<BusyKind>(kCommonKinds + cause - 1);
    return of;
}();
constexpr BusyKind busy_kind(FlashClass cls, FlashCause cause) {
    return kBusyKindOf[flash_work(cause, cls)];
}
inline BusyKind busy_kind(const FlashTransaction& txn) {
    return busy_kind(txn.cls, txn.cause);
}
static_assert(busy_kind(FlashClass::mapping_write, FlashCause::of_class) == BusyKind::mapping &&
              busy_kind(FlashClass::erase, FlashCause::merge) == BusyKind::erase &&
              busy_kind(FlashClass::host_read, FlashCause::rmw) == BusyKind::rmw &&
              busy_kind(FlashClass::mapping_write, FlashCause::checkpoint) == BusyKind::checkpoint);
constexpr Stage wait_stage(std::size_t kind) {
    return static_cast<Stage>(static_cast<std::size_t>(Stage::die_wait_host_read) + kind);
}
static_assert(wait_stage(static_cast<std::size_t>(BusyKind::erase)) == Stage::die_wait_erase &&
              wait_stage(static_cast<std::size_t>(BusyKind::checkpoint)) == Stage::die_wait_checkpoint);

/// Cumulative busy time per kind. While several operations run at once (independent plane reads) the time goes to
/// the first running kind in BusyKind's order, so the kinds sum to the time in which anything ran.
class BusyMeter {
public:
    using Totals = std::array<std::int64_t, kBusyKinds>;  // ps

    BusyMeter() = default;
    explicit BusyMeter(const Totals& so_far) : totals_(so_far) {
        for (std::size_t k = kCommonKinds; k < kBusyKinds; ++k) rare_ += totals_[k];
    }

    void start(BusyKind kind, SimTime now) {
        settle(now);
        ++running_[static_cast<std::size_t>(kind)];
        kinds_ = static_cast<std::uint16_t>(kinds_ | 1u << static_cast<unsigned>(kind));
    }
    void stop(BusyKind kind, SimTime now) {
        settle(now);
        if (--running_[static_cast<std::size_t>(kind)] == 0)
            kinds_ = static_cast<std::uint16_t>(kinds_ & ~(1u << static_cast<unsigned>(kind)));
    }
    Totals totals(SimTime now) const {
        Totals t = totals_;
        if (busy()) t[first()] += (now - since_).count();
        return t;
    }
    /// As totals(), without a copy. It is valid until the next call of any function.
    const Totals& settled(SimTime now) {
        settle(now);
        return totals_;
    }
    /// Sum of the kinds behind the common ones, as of the last settled().
    std::int64_t rare() const { return rare_; }
    bool busy() const { return kinds_ != 0; }

private:
    std::size_t first() const { return static_cast<std::size_t>(__builtin_ctz(std::uint32_t{kinds_})); }
    void settle(SimTime now) {
        if (busy()) {
            const std::int64_t ps = (now - since_).count();
            totals_[first()] += ps;
            if (__builtin_expect(first() >= kCommonKinds, 0)) rare_ += ps;
        }
        since_ = now;
    }

    Totals totals_{};
    SimTime since_{};
    std::int64_t rare_ = 0;
    std::uint16_t kinds_ = 0;  // bit per kind: something of it runs
    std::array<std::uint8_t, kBusyKinds> running_{};
};

}  // namespace ssdtlm
