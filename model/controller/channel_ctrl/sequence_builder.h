// SPDX-License-Identifier: Apache-2.0
// Turns transactions into the ONFI sequences of one channel: addresses, planes, data, and the time on the bus. That
// time comes from the timing model, or from a block that plays the sequence cycle by cycle. The class counts bus time
// by purpose. It records the plane that each chip enable addressed last, because another one has to be selected
// (06h-5A-E0h) before its data out. A resume has no address, so another LUN is selected by 78h-3A first.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/tlm/pooled_payload.h"
#include "controller/channel_ctrl/channel_counters.h"
#include "controller/ports/scheduler_port.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_payload.h"
#include "nand/onfi/onfi_timing.h"
#include "nand/pins/bus_sequencer.h"

namespace ssdtlm {

class SequenceBuilder {
public:
    explicit SequenceBuilder(const NandConfig& nand, const ChannelCounters& so_far = {});

    /// Builds one operation of the array for `count` planes of a die. Its command is on the bus from `now`, when the
    /// bus is free.
    OnfiPayload& operation(FlashOp op, std::uint32_t die, FlashTransaction* const* txns, std::uint32_t count,
                           SimTime now);
    /// Builds the data out of a read whose page is in its register.
    OnfiPayload& data_out(std::uint32_t die, FlashTransaction& txn, SimTime now);
    /// Builds a suspend or resume of what is at work for this transaction.
    OnfiPayload& control(FlashOp op, std::uint32_t die, const FlashTransaction& of, SimTime now);
    /// The sequence was answered.
    void release(OnfiPayload& payload) { payloads_.release(payload); }

    /// The time at which the next sequence may begin.
    SimTime bus_free_at() const { return bus_free_at_; }
    /// Time from a sequence's last cycle until the die is busy.
    Ps busy_delay() const { return timing_.busy_delay(); }
    void count_retry() { ++counters_.read_retries; }
    /// Counts a read that shares the array read of another.
    void count_merged() { ++counters_.merged_reads; }
    /// Other data of the page in the register follow: their column has to be selected (06h-5A-E0h).
    void column_changes(std::uint32_t die) { selected(die) = kNothingSelected; }
    void count_look_ahead(std::uint64_t cuts, Ps idle) {
        counters_.look_ahead_cuts += cuts;
        counters_.look_ahead_idle += idle;
    }
    const ChannelCounters& counters() const { return counters_; }

    /// From now on a block plays the sequences, and they take the time that the block takes. Nothing may be on the bus.
    void use_sequencer(std::unique_ptr<BusSequencer> sequencer) { sequencer_ = std::move(sequencer); }
    /// The block must keep the edges of what it plays, because somebody listens to the pins.
    void keep_pins() { keep_pins_ = true; }
    /// Null: the timing model plays the sequences.
    BusSequencer* sequencer() const { return sequencer_.get(); }

private:
    static constexpr std::uint16_t kNothingSelected = 0xFFFF;
    static std::uint16_t selection(std::uint32_t die, std::uint32_t plane) {
        return static_cast<std::uint16_t>(die * kMaxPlanes + plane);
    }
    std::uint16_t& selected(std::uint32_t die) { return selected_[way_of_[die]]; }
    std::uint16_t& addressed(std::uint32_t die) { return addressed_[way_of_[die]]; }
    OnfiPayload& begin(FlashOp op, std::uint32_t die, std::uint32_t count, SimTime now);
    SimTime play(OnfiExtension& onfi, PinSelect select);

    SimTime bus_free_at_{};
    PooledPayloads<OnfiPayload> payloads_;
    std::unique_ptr<BusSequencer> sequencer_;
    bool keep_pins_ = false;
    std::vector<std::uint8_t> way_of_;      // by die
    std::vector<std::uint16_t> selected_;   // per way: die and plane that data out would come from
    std::vector<std::uint16_t> addressed_;  // per way: die of the last row address
    ChannelCounters counters_;
    const OnfiBusTiming timing_;
};

// --- in line: what each transaction runs through ---------------------------------------------------------------------

inline OnfiPayload& SequenceBuilder::begin(FlashOp op, std::uint32_t die, std::uint32_t count, SimTime now) {
    OnfiPayload& payload = payloads_.acquire();
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    OnfiExtension& onfi = payload.onfi;
    onfi.op = op;
    onfi.die = static_cast<std::uint16_t>(die);
    onfi.count = static_cast<std::uint8_t>(count);
    onfi.bus_begin = now;
    return payload;
}

__attribute__((always_inline)) inline OnfiPayload& SequenceBuilder::operation(FlashOp op, std::uint32_t die,
                                                                              FlashTransaction* const* txns,
                                                                              std::uint32_t count, SimTime now) {
    OnfiPayload& payload = begin(op, die, count, now);
    OnfiExtension& onfi = payload.onfi;
    const OnfiOperation& kind = onfi_operation(op);
    Ps data_in{};
    std::uint32_t slc = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        FlashTransaction& txn = *txns[i];
        slc += txn.slc;
        ++counters_.pages[flash_work(txn.cause, txn.cls)];
        const bool in = kind.data == DataCycles::in;
        onfi.target[i] = OnfiTarget{txn.plane,
                                    txn.address.block,
                                    kind.columns == 0 ? 0 : txn.address.page,
                                    txn.data_bytes,
                                    in ? txn.spare.data() : nullptr,
                                    in ? txn.bytes : nullptr,
                                    txn.status.retries,
                                    in ? &txn.record : nullptr,
                                    txn.slc,
                                    FlashStatus{},
                                    txn.spare_only,
                                    in ? 0 : txn.first_byte};
        if (!in) continue;
        const OnfiBusTiming::Burst burst = timing_.burst(txn.data_bytes);
        data_in += burst.in;
        counters_.bytes_in += burst.bytes;
    }
    onfi.bus_end = now + timing_.issue(op, count) + data_in;
    if (__builtin_expect(slc != 0, 0)) onfi.bus_end += slc * timing_.slc_prefix();
    bus_free_at_ = onfi.bus_end;
    if (__builtin_expect(sequencer_ != nullptr, 0)) bus_free_at_ = play(onfi, PinSelect::none);
    selected(die) = count == 1 ? selection(die, onfi.target[0].plane) : kNothingSelected;
    addressed(die) = static_cast<std::uint16_t>(die);
    counters_.command += onfi.bus_end - now - data_in;
    counters_.data_in += data_in;
    ++counters_.operations;
    if (count > 1) {
        ++counters_.multi_plane;
        if (op == FlashOp::program) counters_.joined_programs += count;
    }
    return payload;
}

inline OnfiPayload& SequenceBuilder::data_out(std::uint32_t die, FlashTransaction& txn, SimTime now) {
    OnfiPayload& payload = begin(FlashOp::read_out, die, 1, now);
    OnfiExtension& onfi = payload.onfi;
    onfi.target[0] = OnfiTarget{txn.plane,        txn.address.block, txn.address.page,   txn.data_bytes,
                                txn.spare.data(), txn.bytes,         txn.status.retries, nullptr,
                                txn.slc,          FlashStatus{},     txn.spare_only,     txn.first_byte};
    std::uint16_t& last_selected = selected(die);
    const bool reselect = last_selected != selection(die, txn.plane);
    last_selected = selection(die, txn.plane);
    if (reselect) addressed(die) = static_cast<std::uint16_t>(die);
    const Ps select = reselect ? timing_.select() : Ps{0};
    const OnfiBusTiming::Burst burst = timing_.burst(txn.data_bytes, txn.spare_only);
    onfi.bus_end = now + select + burst.out;
    bus_free_at_ = onfi.bus_end + timing_.turnaround();
    if (__builtin_expect(sequencer_ != nullptr, 0))
        bus_free_at_ = play(onfi, reselect ? PinSelect::enhanced : PinSelect::none);
    counters_.command += select;
    counters_.data_out += onfi.bus_end - now - select;
    counters_.turnaround += bus_free_at_ - onfi.bus_end;
    counters_.bytes_out += burst.bytes;
    return payload;
}

}  // namespace ssdtlm
