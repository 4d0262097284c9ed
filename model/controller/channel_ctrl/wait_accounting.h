// SPDX-License-Identifier: Apache-2.0
// Records the reasons for which a transaction waited, from its submission to its first cycle on the bus: its die (and
// the flow whose work kept it busy), then the bus, then the scheduler's answer. A read of a plane that reads
// independently waits for its plane, not for the die. With cache program, a program waits for the cache registers. An
// optional log records what held dies and bus. Kernel-free.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/latency/occupancy.h"
#include "controller/channel_ctrl/busy_meter.h"
#include "controller/channel_ctrl/flow_waits.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class WaitAccounting {
public:
    /// Busy times so far of each die, and of each plane that reads independently. Empty means zero.
    struct History {
        std::vector<BusyMeter::Totals> dies, planes;
    };
    explicit WaitAccounting(const NandConfig& nand, const History& earlier = {})
        : independent_plane_read_(nand.independent_plane_read),
          planes_(nand.geometry.planes_per_die),
          dies_(nand.geometry.dies_per_channel()),
          plane_meters_(nand.independent_plane_read ? dies_.size() * planes_ : 0),
          cache_program_(nand.cache_program),
          registers_(nand.cache_program ? dies_.size() : 0) {
        for (std::size_t die = 0; die < earlier.dies.size(); ++die) dies_[die].meter = BusyMeter(earlier.dies[die]);
        for (std::size_t plane = 0; plane < earlier.planes.size(); ++plane)
            plane_meters_[plane] = BusyMeter(earlier.planes[plane]);
    }
    History history(SimTime now) const {
        History h;
        for (const Die& die : dies_) h.dies.push_back(die.meter.totals(now));
        for (const BusyMeter& plane : plane_meters_) h.planes.push_back(plane.totals(now));
        return h;
    }

    /// From now on a log records what holds the channel's dies and bus.
    void record(Occupancy& log, std::uint32_t channel, std::uint32_t first_die) {
        units_ = &log.die(first_die);
        bus_ = &log.bus(channel);
        programs_ = &log.programs();
        told_ = true;
    }
    /// From now on waits are charged for the flow whose operations are waited for. Call it before the first
    /// transaction.
    void tell_flows_apart(FlowWaitTotals& totals) {
        flows_ = std::make_unique<FlowWaits>(static_cast<std::uint32_t>(first_registers() + registers_.size()), totals);
        told_ = true;
    }

    /// The transaction begins to wait.
    void begin(FlashTransaction& txn, std::uint32_t die, SimTime now) {
        BusyMeter& meter = meter_of(txn, die);
        const BusyMeter::Totals& totals = meter.settled(now);
        for (std::size_t k = 0; k < kCommonKinds; ++k) txn.busy_snapshot[k] = totals[k];
        txn.rare_snapshot = meter.rare();
        if (__builtin_expect(txn.rare_snapshot != 0, 0)) txn.busy_snapshot = totals;
        if (__builtin_expect(flows_ != nullptr, 0)) begin_for_flows(txn, die, totals, now);
    }
    /// The transaction has the bus in the instant in which it came.
    void at_once(FlashTransaction& txn, std::uint32_t die) {
        if (__builtin_expect(flows_ != nullptr, 0)) flows_->started(number_of(txn, die), txn, txn.queued_at);
    }
    /// The transaction has the bus. The scheduler was asked for it at `asked`.
    void end(FlashTransaction& txn, std::uint32_t die, SimTime asked, SimTime now) {
        BusyMeter& meter = meter_of(txn, die);
        const BusyMeter::Totals& totals = meter.settled(now);
        SimTime until = txn.queued_at;
        if (__builtin_expect(flows_ != nullptr, 0)) return end_for_flows(txn, die, totals, asked, now);
        for (std::size_t k = 0; k < kCommonKinds; ++k) {
            if (totals[k] == txn.busy_snapshot[k]) continue;
            until += Ps{totals[k] - txn.busy_snapshot[k]};
            txn.path->charge(wait_stage(k), until);
        }
        if (__builtin_expect(meter.rare() != txn.rare_snapshot, 0)) charge_rare(txn, totals, until);
        if (asked > txn.path->last()) txn.path->charge(Stage::channel_wait, asked);
        txn.path->charge(Stage::scheduler, now);
    }

    /// busy(): the die is busy with the transaction from now on. idle(): it no longer is.
    void busy(const FlashTransaction& txn, std::uint32_t die, SimTime now) {
        dies_[die].meter.start(busy_kind(txn), now);
        if (__builtin_expect(flows_ != nullptr, 0)) busy_for_flows(txn, die, now);
        if (independent_plane_read_) of_planes(txn, die, [&](BusyMeter& m) { m.start(busy_kind(txn), now); });
        if (__builtin_expect(cache_program_, 0) && txn.op != FlashOp::program)
            registers_[die].meter.start(busy_kind(txn), now);
    }
    void idle(const FlashTransaction& txn, std::uint32_t die, SimTime now) {
        dies_[die].meter.stop(busy_kind(txn), now);
        if (__builtin_expect(flows_ != nullptr, 0)) idle_for_flows(txn, die, now);
        if (independent_plane_read_) of_planes(txn, die, [&](BusyMeter& m) { m.stop(busy_kind(txn), now); });
        if (__builtin_expect(cache_program_, 0) && txn.op != FlashOp::program)
            registers_[die].meter.stop(busy_kind(txn), now);
    }
    /// With cache program: hold_registers(): a program holds the cache registers, for which other programs wait.
    /// free_registers(): it no longer does, if it did.
    void hold_registers(const FlashTransaction& program, std::uint32_t die, SimTime now) {
        Registers& r = registers_[die];
        r.held = true;
        r.kind = busy_kind(program);
        r.flow = FlowWaits::flow_of(program);
        r.meter.start(r.kind, now);
        if (flows_ != nullptr) flows_->start(first_registers() + die, r.kind, r.flow, now);
    }
    void free_registers(std::uint32_t die, SimTime now) {
        Registers& r = registers_[die];
        if (r.held) r.meter.stop(r.kind, now);
        if (r.held && flows_ != nullptr) flows_->stop(first_registers() + die, r.kind, r.flow, now);
        r.held = false;
    }
    /// `count` joined transactions hold the die from now on, and the bus until `bus_until`.
    void hold(FlashTransaction* const* txns, std::uint32_t count, std::uint32_t die, SimTime now, SimTime bus_until) {
        if (!told_) return;
        hold_bus(txns, count, now, bus_until);
        hold_die(txns, count, die, now);
    }
    void hold_bus(FlashTransaction* const* txns, std::uint32_t count, SimTime now, SimTime bus_until) {
        if (!told_) return;
        const FlashTransaction& first = *txns[0];
        const std::uint8_t flow = FlowWaits::flow_of(first);
        if (bus_ != nullptr) bus_->add({now, bus_until, first.number, first.owner, kind_of(first), count, false, flow});
        if (flows_ != nullptr) flows_->hold_bus(flow, now, bus_until);
    }
    void hold_die(FlashTransaction* const* txns, std::uint32_t count, std::uint32_t die, SimTime now) {
        if (units_ == nullptr) return;
        const FlashTransaction& first = *txns[0];
        const std::uint8_t kind = kind_of(first);
        if (__builtin_expect(!independent_plane_read_, 1))
            units_[die].add({now, kNever, first.number, first.owner, kind, count, false, FlowWaits::flow_of(first)});
        else
            hold_planes(txns, count, die, now);
    }
    /// A read has its data in the register, and the data wait for the bus.
    void data_ready(SimTime now) {
        if (__builtin_expect(flows_ != nullptr, 0)) flows_->begin_data_wait(now);
    }
    /// The data have the bus.
    void end_data_wait(FlashTransaction& txn, SimTime now) {
        if (__builtin_expect(flows_ != nullptr, 0)) return flows_->end_data_wait(txn, now);
        txn.path->charge(Stage::channel_wait, now);
    }
    void hold_bus(const FlashTransaction& txn, SimTime now, SimTime bus_until) {
        if (!told_) return;
        const std::uint8_t flow = FlowWaits::flow_of(txn);
        if (bus_ != nullptr) bus_->add({now, bus_until, txn.number, txn.owner, kind_of(txn), 1, true, flow});
        if (flows_ != nullptr) flows_->hold_bus(flow, now, bus_until);
    }
    /// With cache program: a page is in the registers until the array is free, which `flow` has.
    void wait_for_array(FlashTransaction& txn, Stage stage, std::uint8_t flow, SimTime until) const {
        if (flows_ != nullptr) return txn.path->charge_wait(stage, until, flow);
        txn.path->charge(stage, until);
    }
    /// One of the transactions that hold the die has ended.
    void let_go(const FlashTransaction& txn, std::uint32_t die, SimTime now) {
        if (units_ == nullptr) return;
        if (txn.cls == FlashClass::host_write && txn.cause == FlashCause::of_class)
            programs_->add(
                {txn.queued_at, now, txn.number, txn.owner, kind_of(txn), 1, false, FlowWaits::flow_of(txn)});
        if (__builtin_expect(!independent_plane_read_, 1))
            units_[die].end(now);
        else
            of_plane_logs(txn, die, [now](OccupancyLog& log) { log.end(now); });
    }

    /// The operation of these transactions stops to hold the die, for reads that go before it.
    void set_aside(FlashTransaction* const* txns, std::uint32_t count, std::uint32_t die, SimTime now) {
        for (std::uint32_t i = 0; i < count; ++i) idle(*txns[i], die, now);
        if (cache_program_) free_registers(die, now);
        if (units_ == nullptr) return;
        if (independent_plane_read_)
            of_plane_logs(*txns[0], die, [now](OccupancyLog& log) { log.end(now); });
        else
            units_[die].end(now);
    }
    /// The operation holds the die again from now on, and the bus until `bus_until`.
    void take_back(FlashTransaction* const* txns, std::uint32_t count, std::uint32_t die, SimTime now,
                   SimTime bus_until) {
        for (std::uint32_t i = 0; i < count; ++i) busy(*txns[i], die, now);
        if (cache_program_ && txns[0]->op == FlashOp::program) hold_registers(*txns[0], die, now);
        hold(txns, count, die, now, bus_until);
    }

    /// Time a plane was busy up to now, with independent plane reads.
    Ps plane_busy(std::uint32_t die, std::uint32_t plane, SimTime now) const {
        Ps sum{};
        for (const std::int64_t ps : plane_meters_[die * planes_ + plane].totals(now)) sum += Ps{ps};
        return sum;
    }
    /// Time the die was busy up to now, by whose work.
    BusyMeter::Totals totals(std::uint32_t die, SimTime now) const { return dies_[die].meter.totals(now); }

private:
    /// The kind of the transaction's Occupation.
    static std::uint8_t kind_of(const FlashTransaction& txn) {
        return static_cast<std::uint8_t>(flash_work(txn.cause, txn.cls));
    }
    /// Charges the kinds behind the common ones, from `until` on.
    __attribute__((noinline)) static void charge_rare(FlashTransaction& txn, const BusyMeter::Totals& totals,
                                                      SimTime until) {
        for (std::size_t k = kCommonKinds; k < kBusyKinds; ++k) {
            const std::int64_t before = txn.rare_snapshot == 0 ? 0 : txn.busy_snapshot[k];
            if (totals[k] == before) continue;
            until += Ps{totals[k] - before};
            txn.path->charge(wait_stage(k), until);
        }
    }
    struct alignas(64) Die {
        BusyMeter meter;
    };
    struct Registers {
        BusyMeter meter;
        BusyKind kind = BusyKind::host_write;
        std::uint8_t flow = 0;
        bool held = false;  // by a program
    };
    // The meters of the flows are those of the dies, then of the planes that read on their own, then of the registers.
    std::uint32_t first_registers() const { return static_cast<std::uint32_t>(dies_.size() + plane_meters_.size()); }
    /// Number of the flow meter that is the counterpart of meter_of().
    std::uint32_t number_of(const FlashTransaction& txn, std::uint32_t die) const {
        if (txn.op == FlashOp::read)
            return independent_plane_read_ ? static_cast<std::uint32_t>(dies_.size()) + die * planes_ + txn.plane : die;
        return cache_program_ && txn.op == FlashOp::program ? first_registers() + die : die;
    }
    __attribute__((noinline)) void begin_for_flows(FlashTransaction& txn, std::uint32_t die,
                                                   const BusyMeter::Totals& totals, SimTime now) {
        txn.busy_snapshot = totals;
        flows_->begin(number_of(txn, die), txn, now);
    }
    __attribute__((noinline)) void end_for_flows(FlashTransaction& txn, std::uint32_t die,
                                                 const BusyMeter::Totals& totals, SimTime asked, SimTime now) {
        flows_->end(number_of(txn, die), txn, txn.busy_snapshot, totals, asked, now);
        txn.path->charge(Stage::scheduler, now);
    }
    /// Calls f(meter) for every meter that the transaction keeps busy, except the registers that a program holds.
    template <class F>
    void of_flow_meters(const FlashTransaction& txn, std::uint32_t die, F f) {
        f(die);
        if (independent_plane_read_)
            for (std::uint32_t p = 0; p < planes_; ++p)
                if (txn.op != FlashOp::read || p == txn.plane)
                    f(static_cast<std::uint32_t>(dies_.size()) + die * planes_ + p);
        if (cache_program_ && txn.op != FlashOp::program) f(first_registers() + die);
    }
    __attribute__((noinline)) void busy_for_flows(const FlashTransaction& txn, std::uint32_t die, SimTime now) {
        of_flow_meters(
            txn, die, [&](std::uint32_t meter) { flows_->start(meter, busy_kind(txn), FlowWaits::flow_of(txn), now); });
    }
    __attribute__((noinline)) void idle_for_flows(const FlashTransaction& txn, std::uint32_t die, SimTime now) {
        of_flow_meters(txn, die,
                       [&](std::uint32_t meter) { flows_->stop(meter, busy_kind(txn), FlowWaits::flow_of(txn), now); });
    }
    BusyMeter& meter_of(const FlashTransaction& txn, std::uint32_t die) {
        if (txn.op == FlashOp::read)
            return independent_plane_read_ ? plane_meters_[die * planes_ + txn.plane] : dies_[die].meter;
        return cache_program_ && txn.op == FlashOp::program ? registers_[die].meter : dies_[die].meter;
    }
    /// Calls f for the planes that the transaction keeps busy: a read keeps its own plane, anything else all.
    template <class F>
    __attribute__((noinline)) void of_planes(const FlashTransaction& txn, std::uint32_t die, F f) {
        for (std::uint32_t p = 0; p < planes_; ++p)
            if (txn.op != FlashOp::read || p == txn.plane) f(plane_meters_[die * planes_ + p]);
    }
    template <class F>
    __attribute__((noinline)) void of_plane_logs(const FlashTransaction& txn, std::uint32_t die, F f) {
        for (std::uint32_t p = 0; p < planes_; ++p)
            if (txn.op != FlashOp::read || p == txn.plane) f(units_[die * planes_ + p]);
    }
    void hold_planes(FlashTransaction* const* txns, std::uint32_t count, std::uint32_t die, SimTime now) {
        const std::uint32_t each = txns[0]->op == FlashOp::read ? count : 1;  // anything else holds all planes at once
        for (std::uint32_t i = 0; i < each; ++i) {
            const FlashTransaction& txn = *txns[i];
            const Occupation o{now,          kNever,
                               txn.number,   txn.owner,
                               kind_of(txn), each == 1 ? count : 1,
                               false,        FlowWaits::flow_of(txn)};
            of_plane_logs(txn, die, [&o](OccupancyLog& log) { log.add(o); });
        }
    }

    const bool independent_plane_read_;
    const std::uint32_t planes_;
    std::vector<Die> dies_;
    std::vector<BusyMeter> plane_meters_;  // independent plane reads only
    const bool cache_program_;
    std::vector<Registers> registers_;  // cache program only, by die
    OccupancyLog* units_ = nullptr;     // of the channel's first die; null: nobody wants to know
    OccupancyLog* bus_ = nullptr;
    OccupancyLog* programs_ = nullptr;
    bool told_ = false;                 // somebody wants to know: the log, or the flows
    std::unique_ptr<FlowWaits> flows_;  // null: there is one
};

}  // namespace ssdtlm
