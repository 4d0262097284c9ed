// SPDX-License-Identifier: Apache-2.0
// One flash channel: the bus as a serial resource, what each of its dies is doing, and the ECC decoder behind it. Turns
// granted transactions into ONFI sequences and charges every transaction's time to its stages.
//
// When the bus is free: short commands (reads, erases) of idle dies first, so that their array time overlaps what
// follows; then data out of finished reads, oldest first; then programs, with their long data in. A program that was
// passed kProgramTurns times goes first. A scheduler that decides later makes the free bus wait for its answer. A die
// counts as busy from its grant until its data is out (its page registers are occupied: no cache reads) or its program
// or erase ends. Not modelled: suspend, cache operations, status polling, read retries; decoding keeps up with the bus.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <systemc>
#include <tlm>

#include "common/tlm/agenda.h"
#include "common/tlm/at_interfaces.h"
#include "common/tlm/pooled_payload.h"
#include "controller/channel_ctrl/busy_meter.h"
#include "controller/channel_ctrl/channel_counters.h"
#include "controller/channel_ctrl/channel_pins.h"
#include "controller/channel_ctrl/ecc_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/scheduler_port.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_payload.h"
#include "nand/onfi/onfi_timing.h"
#include "nand/pins/bus_sequencer.h"

namespace ssdtlm {

/// Names submitted transactions for the scheduler: tag -> transaction.
class TransactionTable {
public:
    void add(FlashTransaction& txn) {
        if (__builtin_expect(free_ == kNone, 0)) grow();
        Entry& entry = entries_[free_];
        txn.tag = free_;
        free_ = entry.next_free;
        entry.txn = &txn;
    }
    FlashTransaction& remove(std::uint32_t tag) {
        entries_[tag].next_free = free_;
        free_ = tag;
        return *entries_[tag].txn;
    }

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    struct Entry {
        FlashTransaction* txn = nullptr;
        std::uint32_t next_free = kNone;
    };
    __attribute__((noinline, cold)) void grow() {
        free_ = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
    }

    std::vector<Entry> entries_;
    std::uint32_t free_ = kNone;  // used last first
};

class ChannelController : public sc_core::sc_module, private AtInitiator, private GrantListener {
public:
    /// Bus turns (reads' commands and data-outs) that may pass a waiting program. Assumed: keeps a die's wait for its
    /// data below some tens of page transfers.
    static constexpr std::uint32_t kProgramTurns = 32;

    /// `multi_plane`: the scheduler joins planes, so work submitted at one instant is granted together.
    ChannelController(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& nand, const EccConfig& ecc,
                      std::uint16_t channel, bool multi_plane, SchedulerPort& scheduler,
                      TransactionTable& transactions);

    tlm::tlm_initiator_socket<> onfi_initiator;

    /// A transaction for one of this channel's dies; its `plane` is set.
    void submit(FlashTransaction& txn, std::uint32_t die);

    bool idle() const { return outstanding_ == 0; }
    const ChannelCounters& counters() const { return counters_; }
    /// End of the last bus sequence so far.
    SimTime bus_free_at() const { return bus_free_at_; }
    /// Time the die was busy up to now, by whose work.
    BusyMeter::Totals die_busy(std::uint32_t die) const { return dies_[die].meter.totals(agenda_.now()); }
    /// From now on (nothing may be on the bus) its sequences are played by a block, and take the time that it takes.
    void use_sequencer(std::unique_ptr<BusSequencer> sequencer) { sequencer_ = std::move(sequencer); }
    /// Null: the timing model.
    BusSequencer* sequencer() { return sequencer_.get(); }
    /// From now on (nothing may be on the bus) the channel's pins are played to a listener. Not owned.
    void play_pins(const NandConfig& nand, PinListener& listener) {
        pins_ = std::make_unique<ChannelPins>(nand, channel_, listener);
    }
    ChannelPins* pins() { return pins_.get(); }
    /// State of the bus and of each die with work, for a watchdog's report.
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Between two entries of the agenda: what could use the bus has asked for it, what waits for a die finds it busy.
    /// Throws CheckFailed.
    void check_waiters() const;

private:
    struct alignas(64) Die {
        std::uint32_t waiting = 0;        // transactions in the scheduler
        std::uint8_t way = 0;
        std::uint8_t running = 0;         // planes with an operation or with data not yet out
        BusyMeter meter;
        std::array<FlashTransaction*, kMaxPlanes> active{};  // by plane
    };

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void kick(std::uint64_t);
    void decoded(std::uint64_t txn);

    /// Who may use a free bus, in order of precedence.
    enum class Turn : std::uint8_t { due_programs, shorts, data_out, programs };

    void grant_decided(GrantAnswer answer, const Grant& grant) override;
    void end_of_elaboration() override;
    /// Something may have become startable.
    void service() {
        if (deciding_ || agenda_.now() >= bus_free_at_)
            service_free_bus();
        else
            come_again();
    }
    void service_free_bus();
    /// When the bus is free, if there is something for it.
    void come_again() {
        if (data_out_head_ != nullptr || could_start()) request_kick(bus_free_at_);
    }
    bool use_bus(Turn first);
    bool use_bus_from(Turn first);
    GrantAnswer ask(Turn turn, std::uint8_t classes);
    void request_kick(SimTime at) {
        if (kick_at_ > at) post_kick(at);  // an earlier one asks again
    }
    void post_kick(SimTime at);
    bool could_start() const { return (dies_waiting_ & dies_accepting()) != 0; }
    std::uint64_t dies_accepting() const {
        return independent_plane_read_ ? ready_.idle_dies | dies_with_idle_plane() : ready_.idle_dies;
    }
    std::uint64_t dies_with_idle_plane() const;
    bool start_at_once(FlashTransaction& txn, const SchedulerRequest& request);
    void start();
    void start_read(std::uint32_t die, FlashTransaction& txn);
    void start_any(FlashTransaction& first);
    void leaves_scheduler(std::uint32_t die, std::uint32_t transactions);
    void charge_wait(FlashTransaction& txn, std::uint32_t die);
    void start_data_out();
    void reads_ended(const OnfiExtension& onfi);
    void data_ended(const OnfiExtension& onfi);
    void operation_ended(const OnfiExtension& onfi);
    void occupy(std::uint32_t die, FlashTransaction& txn);
    void occupy_planes(std::uint32_t die, const FlashTransaction& txn);
    FlashTransaction& release(std::uint32_t die, std::uint32_t plane);
    void release_planes(std::uint32_t die, const FlashTransaction& txn);
    void finish(FlashTransaction& txn);
    SimTime play(OnfiExtension& onfi, PinSelect select);
    void send(OnfiPayload& payload);
    [[noreturn]] void refuse_answer() const;
    /// Work for several planes of a die is submitted one by one at one instant. Started at once, the first would go alone;
    /// a whole page, a program or an erase therefore waits for the end of the instant. Small reads save that event.
    bool waits_for_partners(const FlashTransaction& txn) const {
        return may_join_ && (txn.op != FlashOp::read ||
                             (!independent_plane_read_ && txn.data_bytes >= geometry_.page_bytes));
    }

    std::uint32_t die_of(const FlashTransaction& txn) const { return idx(txn.die) - first_die_; }
    /// What a transaction waits for: its plane (independent plane reads) or the whole die.
    BusyMeter& meter_of(const FlashTransaction& txn, std::uint32_t die) {
        return independent_plane_read_ && txn.op == FlashOp::read ? plane_meter(die, txn.plane) : dies_[die].meter;
    }
    /// Independent plane reads only.
    BusyMeter& plane_meter(std::uint32_t die, std::uint32_t plane) {
        return plane_meters_[die * geometry_.planes_per_die + plane];
    }
    /// As kept in selected_.
    std::uint16_t selection(std::uint32_t die, std::uint32_t plane) const {
        return static_cast<std::uint16_t>(die * kMaxPlanes + plane);
    }
    std::uint16_t& selected(std::uint32_t die) { return selected_[dies_[die].way]; }

    // What every step looks at lies together.
    Agenda& agenda_;
    SimTime bus_free_at_{};
    SimTime kick_at_ = kNever;        // pending kick; kNever: none
    std::uint64_t dies_waiting_ = 0;  // dies with transactions in the scheduler
    FlashTransaction* data_out_head_ = nullptr;  // finished reads, oldest first
    FlashTransaction* data_out_tail_ = nullptr;
    SimTime asked_at_{};              // the first question to the scheduler since the bus was free to use
    std::uint32_t shorts_waiting_ = 0;    // reads and erases in the scheduler
    std::uint32_t programs_waiting_ = 0;
    std::uint32_t program_passed_ = 0;
    std::uint32_t outstanding_ = 0;
    Turn turn_ = Turn::due_programs;  // of the pending question
    bool deciding_ = false;           // a question is pending
    bool answers_later_ = false;      // the scheduler is one that takes time
    bool changed_ = false;            // something may have become startable since it was asked
    const bool independent_plane_read_;
    const bool may_join_;             // several planes that the scheduler may join
    const std::uint16_t channel_;
    const std::uint32_t first_die_;   // global
    const Ps read_cycles_;            // of a read of one plane
    const Ps decode_time_;
    GrantQuery ready_;                // idle dies and planes, kept up to date
    Grant granted_;                   // scratch
    std::vector<Die> dies_;
    std::vector<BusyMeter> plane_meters_;
    std::vector<std::uint16_t> selected_;  // per way: die and plane that data out would come from
    SchedulerPort& scheduler_;
    TransactionTable& transactions_;
    tlm::tlm_fw_nonblocking_transport_if<>* bus_ = nullptr;  // what the socket is bound to
    PooledPayloads<OnfiPayload> payloads_;
    std::unique_ptr<BusSequencer> sequencer_;  // null: timing_ says how long a sequence takes
    std::unique_ptr<ChannelPins> pins_;  // null: nobody looks
    ChannelCounters counters_;
    const OnfiBusTiming timing_;
    const NandGeometry geometry_;
};

}  // namespace ssdtlm
