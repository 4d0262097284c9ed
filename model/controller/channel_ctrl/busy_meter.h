// SPDX-License-Identifier: Apache-2.0
// Measures how long something (a die, a plane) has been busy and for whose work, so that a waiting transaction can be
// told exactly what it waited for. Kernel-free.
#pragma once

#include <array>
#include <cstdint>

#include "common/latency/timeline.h"
#include "common/units/units.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

/// Whose work keeps a die busy; the order of the die_wait_* stages.
enum class BusyKind : std::uint8_t { host_read, host_write, gc, mapping, erase, count };
inline constexpr std::size_t kBusyKinds = static_cast<std::size_t>(BusyKind::count);

/// By FlashClass.
inline constexpr std::array<BusyKind, kFlashClassCount> kBusyKindOf = {
    BusyKind::host_read, BusyKind::mapping, BusyKind::host_write, BusyKind::mapping,
    BusyKind::gc,        BusyKind::gc,      BusyKind::erase};
constexpr BusyKind busy_kind(FlashClass c) { return kBusyKindOf[static_cast<std::size_t>(c)]; }
static_assert(busy_kind(FlashClass::mapping_write) == BusyKind::mapping && busy_kind(FlashClass::erase) == BusyKind::erase);
constexpr Stage wait_stage(std::size_t kind) {
    return static_cast<Stage>(static_cast<std::size_t>(Stage::die_wait_host_read) + kind);
}
static_assert(wait_stage(static_cast<std::size_t>(BusyKind::erase)) == Stage::die_wait_erase);

/// Cumulative busy time per kind. While several operations run at once (independent plane reads) the time goes to
/// the first running kind in BusyKind's order, so the kinds sum to the time in which anything ran.
class BusyMeter {
public:
    using Totals = std::array<std::int64_t, kBusyKinds>;  // ps

    BusyMeter() = default;
    explicit BusyMeter(const Totals& so_far) : totals_(so_far) {}

    void start(BusyKind kind, SimTime now) {
        settle(now);
        ++running_[static_cast<std::size_t>(kind)];
        kinds_ = static_cast<std::uint8_t>(kinds_ | 1u << static_cast<unsigned>(kind));
    }
    void stop(BusyKind kind, SimTime now) {
        settle(now);
        if (--running_[static_cast<std::size_t>(kind)] == 0)
            kinds_ = static_cast<std::uint8_t>(kinds_ & ~(1u << static_cast<unsigned>(kind)));
    }
    Totals totals(SimTime now) const {
        Totals t = totals_;
        if (busy()) t[first()] += (now - since_).count();
        return t;
    }
    /// The same without a copy; valid until the next call of any.
    const Totals& settled(SimTime now) {
        settle(now);
        return totals_;
    }
    bool busy() const { return kinds_ != 0; }

private:
    std::size_t first() const { return static_cast<std::size_t>(__builtin_ctz(std::uint32_t{kinds_})); }
    void settle(SimTime now) {
        if (busy()) totals_[first()] += (now - since_).count();
        since_ = now;
    }

    Totals totals_{};
    SimTime since_{};
    std::uint8_t kinds_ = 0;  // bit per kind: something of it runs
    std::array<std::uint8_t, kBusyKinds> running_{};
};

}  // namespace ssdtlm
