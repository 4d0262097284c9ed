// SPDX-License-Identifier: Apache-2.0
// Connects the controller to the flash. It takes transactions from the firmware and gives each to its channel. It holds
// the transaction scheduler (a policy behind SchedulerPort) and one channel controller per channel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/channel_ctrl/channel_controller.h"
#include "controller/channel_ctrl/checked_scheduler.h"
#include "controller/channel_ctrl/ecc_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/scheduler_port.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class FlashBackend : public sc_core::sc_module, public FlashPort {
public:
    /// `multi_plane` is that of the scheduler's configuration. Grants of a scheduler that is not proven() are checked,
    /// and the first wrong one throws CheckFailed out of the agenda. If `suspend` is null, nothing is suspended. For
    /// `moves_with_host`, see ChannelController. `overtake_bound` is that of SchedulerConfig, for a scheduler that is
    /// checked. The caller binds channel(i).onfi_initiator of each channel.
    FlashBackend(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& nand, const EccConfig& ecc,
                 bool multi_plane, std::unique_ptr<SchedulerPort> scheduler, std::unique_ptr<BusOrder> order,
                 std::unique_ptr<SuspendPolicy> suspend = nullptr, bool moves_with_host = false,
                 std::uint64_t overtake_bound = 0);
    /// Carries out a loss of power. All transactions are lost, and no client is told. The back end starts again with
    /// another scheduler. Counters continue; sequencers and logs have to be set again. Precondition: the agenda holds
    /// no entry of the back end any more.
    void restart(std::unique_ptr<SchedulerPort> scheduler);

    void submit(FlashTransaction& txn) override {
        const Route& route = routes_[idx(txn.die)];
        const std::uint32_t plane = idx(txn.address.plane) - route.first_plane;
        SSDTLM_CHECK(plane < geometry_.planes_per_die, "flash transaction names a plane of another die");
        txn.plane = static_cast<std::uint8_t>(plane);
        txn.number = ++submitted_;
        route.channel->submit(txn, route.die);
    }

    /// From now on reads of one page share one array read. Nothing may wait or run.
    void merge_reads() {
        merge_reads_ = true;
        for (const auto& channel : channels_) channel->controller->merge_reads(geometry_);
    }
    /// The figures of all schedulers that the back end had. Empty: their answers were not checked.
    std::optional<SchedulerFairness> fairness() const;
    SchedulerPort& scheduler() { return *scheduler_; }
    const SchedulerPort& scheduler() const { return *scheduler_; }
    ChannelController& channel(std::uint32_t i) { return *channels_[i]->controller; }
    const ChannelController& channel(std::uint32_t i) const { return *channels_[i]->controller; }
    /// Time the die was busy up to now, by whose work.
    BusyMeter::Totals die_busy(DieId die) const {
        const Route& route = routes_[idx(die)];
        return route.channel->die_busy(route.die);
    }
    /// Planes of the die on which something runs.
    std::uint32_t running(DieId die) const {
        const Route& route = routes_[idx(die)];
        return route.channel->running(route.die);
    }
    Ps plane_busy(DieId die, std::uint32_t plane) const {
        const Route& route = routes_[idx(die)];
        return route.channel->plane_busy(route.die, plane);
    }
    /// Number of transactions that wait for the die in the scheduler.
    std::uint32_t waiting(DieId die) const {
        const Route& route = routes_[idx(die)];
        return route.channel->waiting(route.die);
    }
    /// Calls ChannelController::check_waiters() of all channels.
    void check_waiters() const {
        for (const auto& channel : channels_) channel->controller->check_waiters();
    }
    /// The number that the next transaction submitted will get.
    std::uint64_t next_number() const { return submitted_ + 1; }
    /// From now on a log records what holds dies and buses.
    void record(Occupancy& log) {
        for (const auto& channel : channels_) channel->controller->record(log);
    }
    /// From now on waits are told apart for this many flows. Call it before the first transaction.
    void tell_flows_apart(std::uint32_t flows) {
        flow_waits_ = {std::vector<std::int64_t>(flows + std::size_t{1}),
                       std::vector<std::uint64_t>(flows + std::size_t{1})};
        for (const auto& channel : channels_) channel->controller->tell_flows_apart(flow_waits_);
    }
    /// Waits by flow. Empty: flows are not told apart.
    const FlowWaitTotals& flow_waits() const { return flow_waits_; }
    /// True: nothing waits or runs.
    bool idle() const;
    /// State of each channel and die with work, for a watchdog's report.
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }

private:
    struct Route {
        ChannelController* channel = nullptr;
        std::uint32_t die = 0;          // in channel
        std::uint32_t first_plane = 0;  // global
    };
    /// A channel's place in the netlist; its controller is built again in it.
    struct Channel : sc_core::sc_module {
        explicit Channel(const sc_core::sc_module_name& name) : sc_module(name), onfi_initiator("onfi_initiator") {}
        void end_of_elaboration() override { controller->bound(); }
        OnfiInitiatorSocket onfi_initiator;
        std::optional<ChannelController> controller;
    };
    void build(std::uint32_t channel, const ChannelController::History& earlier);
    void take(std::unique_ptr<SchedulerPort> scheduler);

    Agenda& agenda_;
    const NandConfig nand_;
    const EccConfig ecc_;
    const bool multi_plane_, moves_with_host_;
    bool merge_reads_ = false;
    const std::uint64_t overtake_bound_;
    const NandGeometry geometry_;
    std::unique_ptr<SchedulerPort> scheduler_;
    std::unique_ptr<BusOrder> order_;
    std::unique_ptr<SuspendPolicy> suspend_;             // null: nothing is suspended
    std::unique_ptr<CheckedScheduler> checked_;          // null: the scheduler is proven
    std::optional<SchedulerFairness> earlier_fairness_;  // of those before a restart
    TransactionTable transactions_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<Route> routes_;  // by global die
    std::uint64_t submitted_ = 0;
    FlowWaitTotals flow_waits_;
};

}  // namespace ssdtlm
