// SPDX-License-Identifier: Apache-2.0
// One flash channel. It asks the scheduler what may start, has the sequences built, grants them the bus in the
// arbiter's order, and charges every transaction's time to its stages. If the scheduler decides later, the free bus
// waits for its answer. A read that the decoder cannot correct is read again. Programs and erases are suspended for
// reads, if a policy says so. With cache program (nand.cache_program) a die gets the next program while its array
// works. Not modelled: cache reads, status polling (ARDY is seen at once, as R/B# is), and the time to set a retry's
// read voltages. Decoding is as fast as the bus.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>

#include "common/tlm/agenda.h"
#include "common/tlm/at_interfaces.h"
#include "common/tlm/tlm_guard.h"
#include "controller/channel_ctrl/bus_arbiter.h"
#include "controller/channel_ctrl/channel_pins.h"
#include "controller/channel_ctrl/die_tracker.h"
#include "controller/channel_ctrl/ecc_config.h"
#include "controller/channel_ctrl/sequence_builder.h"
#include "controller/channel_ctrl/shared_reads.h"
#include "controller/channel_ctrl/suspender.h"
#include "controller/channel_ctrl/transaction_table.h"
#include "controller/channel_ctrl/wait_accounting.h"
#include "controller/ports/flash.h"
#include "controller/ports/scheduler_port.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class ChannelController : public AtInitiator<OnfiProtocol>, private GrantListener {
public:
    /// The counts up to now, for the controller that takes this one's place.
    struct History {
        ChannelCounters counters;
        WaitAccounting::History busy;
    };
    /// With `multi_plane` the scheduler joins planes, so work submitted at the same time is granted together. If
    /// `suspend` is null, nothing is suspended; otherwise the scheduler must decide at once. `socket` must be bound to
    /// guard(). A controller that replaces an `earlier` one needs no other binding. With `moves_with_host`, programs of
    /// GC are ordered with those of the host, in one class, because they share blocks.
    ChannelController(OnfiInitiatorSocket& socket, Agenda& agenda, const NandConfig& nand, const EccConfig& ecc,
                      std::uint16_t channel, bool multi_plane, SchedulerPort& scheduler, const BusOrder& order,
                      const SuspendPolicy* suspend, TransactionTable& transactions, bool moves_with_host = false,
                      const History& earlier = {});

    OnfiInitiatorSocket& onfi_initiator;
    InitiatorGuard<OnfiProtocol>& guard() { return door_; }

    /// Called once the socket is bound.
    void bound() { bus_ = straight<OnfiProtocol>(onfi_initiator.operator->(), agenda_); }
    History history() const;

    /// Takes a transaction for one of this channel's dies. Its `plane` must be set.
    void submit(FlashTransaction& txn, std::uint32_t die);

    bool idle() const { return outstanding_ == 0; }
    const ChannelCounters& counters() const { return sequences_.counters(); }
    /// End of the last bus sequence so far.
    SimTime bus_free_at() const { return sequences_.bus_free_at(); }
    /// Number of transactions that wait for the die in the scheduler.
    std::uint32_t waiting(std::uint32_t die) const { return dies_.waiting(die); }
    /// Number of planes of the die on which something runs.
    std::uint32_t running(std::uint32_t die) const { return dies_.running(die); }
    /// Busy time of a plane of the die up to now, with independent plane reads.
    Ps plane_busy(std::uint32_t die, std::uint32_t plane) const { return waits_.plane_busy(die, plane, agenda_.now()); }
    /// Time the die was busy up to now, by whose work.
    BusyMeter::Totals die_busy(std::uint32_t die) const { return waits_.totals(die, agenda_.now()); }
    /// From now on a block plays the channel's sequences, and they take the time that the block takes. Nothing may be
    /// on the bus.
    void use_sequencer(std::unique_ptr<BusSequencer> sequencer) { sequences_.use_sequencer(std::move(sequencer)); }
    /// The block that plays the sequences. Null: the timing model plays them.
    BusSequencer* sequencer() { return sequences_.sequencer(); }
    /// From now on the channel's pins are played to this listener too. Nothing may be on the bus. The listener is not
    /// owned.
    void play_pins(const NandConfig& nand, PinListener& listener) {
        if (pins_ == nullptr) pins_ = std::make_unique<ChannelPins>(nand, channel_);
        pins_->add(listener);
        sequences_.keep_pins();
    }
    ChannelPins* pins() { return pins_.get(); }
    /// From now on reads of one page share one array read. Nothing may wait or run.
    void merge_reads(const NandGeometry& geometry) { shared_ = std::make_unique<SharedReads>(geometry); }
    /// From now on waits are charged for the flow whose operations are waited for. Call it before the first
    /// transaction.
    void tell_flows_apart(FlowWaitTotals& totals) { waits_.tell_flows_apart(totals); }
    /// From now on a log records what holds the channel's dies and bus.
    void record(Occupancy& log) { waits_.record(log, channel_, first_die_); }
    /// State of the bus and of each die with work, for a watchdog's report.
    std::string dump() const;
    /// Throws CheckFailed unless what could use the bus has asked for it, and what waits for a die finds it busy. Call
    /// it between two entries of the agenda.
    void check_waiters() const;

private:
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void kick();
    void decoding_over(FlashTransaction& txn);
    void decoded(FlashTransaction& txn);
    void grant_decided(GrantAnswer answer, const Grant& grant) override;
    /// Something may have become startable.
    void service() {
        if (deciding_ || agenda_.now() >= bus_free_at())
            service_free_bus();
        else
            come_again();
    }
    void service_free_bus();
    /// Comes back when the bus is free, if there is something for it.
    void come_again() {
        if (arbiter_.data_waits() || dies_.could_start() || suspends_ != nullptr) request_kick(bus_free_at());
    }
    bool serve_suspends();
    void look_at_suspends(SimTime at);
    void suspends_due();
    bool read_beside_suspended();
    void suspend_answered(const OnfiExtension& onfi);
    bool use_bus(std::uint32_t tried);
    bool use_bus_again(std::uint32_t tried);
    GrantAnswer ask(BusTurn turn, std::uint32_t tried);
    GrantAnswer ask_scheduler(const GrantQuery& query);
    void count_held();
    void request_kick(SimTime at) {
        if (kick_at_ > at) post_kick(at);  // an earlier one asks again
    }
    void post_kick(SimTime at);
    bool start_at_once(FlashTransaction& txn, const SchedulerRequest& request);
    void start_granted();
    void start_joined(FlashTransaction& first);
    void start(FlashOp op, std::uint32_t die, FlashTransaction* const* txns, std::uint32_t count);
    // In channel_shared_reads.cpp.
    bool share_running(FlashTransaction& txn, std::uint32_t die);
    bool share_waiting(FlashTransaction& txn, std::uint32_t die);
    void has_shared(FlashTransaction& txn, std::uint32_t die);
    void start_shared(FlashTransaction& first, std::uint32_t die, SimTime busy_from);
    void shared_ready(FlashTransaction& first, std::uint32_t die);
    FlashTransaction& shared_data_ended(const OnfiExtension& onfi);
    void start_cached(std::uint32_t die, FlashTransaction* const* txns, std::uint32_t count);
    void registers_free(std::uint64_t die);
    void cached_ended(const OnfiExtension& onfi);
    void goes_on(std::uint32_t die);
    GrantAnswer ask_for_programs(GrantQuery query);
    void start_data_out(FlashTransaction* picked);
    void send(OnfiPayload& payload);
    void reads_ended(const OnfiExtension& onfi);
    void data_ended(const OnfiExtension& onfi);
    void operation_ended(const OnfiExtension& onfi);
    FlashTransaction& release(std::uint32_t die, std::uint32_t plane) {
        FlashTransaction& txn = dies_.release(die, plane);
        waits_.idle(txn, die, agenda_.now());
        waits_.let_go(txn, die, agenda_.now());
        return txn;
    }
    void queue(FlashTransaction& txn, SchedulerRequest& request);
    SchedulerRequest request_of(const FlashTransaction& txn, std::uint32_t die) const;
    bool read_again(FlashTransaction& txn);
    void finish(FlashTransaction& txn);
    [[noreturn]] void refuse_answer() const;
    [[noreturn]] void refuse_response(const OnfiPayload& payload) const;
    /// Stage for the time of a read. A retry's own time on the bus and in the array is the price of correcting.
    static Stage stage(const FlashTransaction& txn, Stage first_read) {
        return __builtin_expect(txn.status.retries != 0, 0) ? Stage::ecc : first_read;
    }
    /// Work for several planes of a die is submitted one by one at one instant. Started at once, the first would go
    /// alone; a whole page, a program or an erase therefore waits for the end of the instant. Small reads save that
    /// event.
    bool waits_for_partners(const FlashTransaction& txn) const {
        return may_join_ && (txn.op != FlashOp::read || (!independent_plane_read_ && txn.data_bytes >= page_bytes_));
    }

    /// Name of the module whose socket it has.
    const char* name() const { return onfi_initiator.get_parent_object()->name(); }

    // Members that every step uses are adjacent in memory.
    Agenda& agenda_;
    SimTime kick_at_ = kNever;  // pending kick; kNever: none
    SimTime suspends_due_at_ =
        kNever;  // when something is to be suspended that runs now, or a suspended one is to go on; kNever: not known
    SimTime asked_at_{};  // the first question to the scheduler since the bus was free to use
    std::uint32_t outstanding_ = 0;
    std::uint32_t tried_ = 0;     // turns asked for in vain, or by the pending question
    bool deciding_ = false;       // a question is pending
    bool answers_later_ = false;  // the scheduler is one that takes time
    bool changed_ = false;        // something may have become startable since it was asked
    const bool independent_plane_read_;
    const bool may_join_;         // several planes that the scheduler may join
    const bool moves_with_host_;  // in the scheduler's order
    const bool cache_program_;
    const std::uint16_t channel_;
    const std::uint32_t page_bytes_;
    const std::uint32_t first_die_;  // global
    const EccConfig ecc_;
    tlm::tlm_fw_nonblocking_transport_if<>* bus_ = nullptr;  // behind the socket
    SchedulerPort& scheduler_;
    TransactionTable& transactions_;
    BusArbiter arbiter_;
    DieTracker dies_;
    WaitAccounting waits_;
    SequenceBuilder sequences_;
    Grant granted_;                     // scratch
    const PlanesHeld* held_ = nullptr;  // null: the scheduler does not count it
    PlanesHeld held_before_;
    /// With cache program, by die: the state of the running program, and of the one that waits behind it.
    struct Generation {
        bool more = false;  // sent with 15h
        SimTime array_begins{};
        SimTime ready_at = kNever;  // R/B# rises; kNever: it has, or nobody waits for that
    };
    std::vector<Generation> running_, behind_;
    SimTime held_since_{};
    std::unique_ptr<SharedReads> shared_;  // null: each read is one of the array
    std::unique_ptr<ChannelPins> pins_;    // null: nobody looks
    std::unique_ptr<Suspender> suspends_;  // null: nothing is suspended
    InitiatorGuard<OnfiProtocol> door_;
};

}  // namespace ssdtlm
