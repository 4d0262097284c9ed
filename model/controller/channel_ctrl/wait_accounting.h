// SPDX-License-Identifier: Apache-2.0
// What a transaction waited for, from its submission to its first cycle on the bus: its die (by whose work kept it busy),
// then the bus, then the scheduler's answer. A transaction waits for its die or, a read of a plane that reads
// independently, for its plane. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/channel_ctrl/busy_meter.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class WaitAccounting {
public:
    explicit WaitAccounting(const NandConfig& nand)
        : independent_plane_read_(nand.independent_plane_read),
          planes_(nand.geometry.planes_per_die),
          dies_(nand.geometry.dies_per_channel()),
          plane_meters_(nand.independent_plane_read ? dies_.size() * planes_ : 0) {}

    /// The transaction begins to wait.
    void begin(FlashTransaction& txn, std::uint32_t die, SimTime now) { txn.busy_snapshot = meter_of(txn, die).settled(now); }
    /// It has the bus; the scheduler was asked for it at `asked`.
    void end(FlashTransaction& txn, std::uint32_t die, SimTime asked, SimTime now) {
        const BusyMeter::Totals& totals = meter_of(txn, die).settled(now);
        SimTime until = txn.queued_at;
        for (std::size_t k = 0; k < kBusyKinds; ++k) {
            if (totals[k] == txn.busy_snapshot[k]) continue;
            until += Ps{totals[k] - txn.busy_snapshot[k]};
            txn.path->charge(wait_stage(k), until);
        }
        if (asked > txn.path->last()) txn.path->charge(Stage::channel_wait, asked);
        txn.path->charge(Stage::scheduler, now);
    }

    /// The die is busy with the transaction from now on, and no longer.
    void busy(const FlashTransaction& txn, std::uint32_t die, SimTime now) {
        dies_[die].meter.start(busy_kind(txn.cls), now);
        if (independent_plane_read_) of_planes(txn, die, [&](BusyMeter& m) { m.start(busy_kind(txn.cls), now); });
    }
    void idle(const FlashTransaction& txn, std::uint32_t die, SimTime now) {
        dies_[die].meter.stop(busy_kind(txn.cls), now);
        if (independent_plane_read_) of_planes(txn, die, [&](BusyMeter& m) { m.stop(busy_kind(txn.cls), now); });
    }
    /// Time the die was busy up to now, by whose work.
    BusyMeter::Totals totals(std::uint32_t die, SimTime now) const { return dies_[die].meter.totals(now); }

private:
    struct alignas(64) Die {
        BusyMeter meter;
    };
    BusyMeter& meter_of(const FlashTransaction& txn, std::uint32_t die) {
        return independent_plane_read_ && txn.op == FlashOp::read ? plane_meters_[die * planes_ + txn.plane] : dies_[die].meter;
    }
    /// A read keeps its own plane, anything else all.
    template <class F>
    __attribute__((noinline)) void of_planes(const FlashTransaction& txn, std::uint32_t die, F f) {
        for (std::uint32_t p = 0; p < planes_; ++p)
            if (txn.op != FlashOp::read || p == txn.plane) f(plane_meters_[die * planes_ + p]);
    }

    const bool independent_plane_read_;
    const std::uint32_t planes_;
    std::vector<Die> dies_;
    std::vector<BusyMeter> plane_meters_;  // independent plane reads only
};

}  // namespace ssdtlm
