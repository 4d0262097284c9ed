// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/sequence_builder.h"

namespace ssdtlm {

SequenceBuilder::SequenceBuilder(const NandConfig& nand, const ChannelCounters& so_far)
    : selected_(nand.geometry.ways, kNothingSelected),
      addressed_(nand.geometry.ways, kNothingSelected),
      counters_(so_far),
      timing_(nand) {
    for (std::uint32_t d = 0; d < nand.geometry.dies_per_channel(); ++d)
        way_of_.push_back(static_cast<std::uint8_t>(d / nand.geometry.dies_per_chip));
}

OnfiPayload& SequenceBuilder::control(FlashOp op, std::uint32_t die, const FlashTransaction& of, SimTime now) {
    OnfiPayload& payload = begin(op, die, 1, now);
    OnfiExtension& onfi = payload.onfi;
    onfi.target[0] = OnfiTarget{};
    onfi.target[0].plane = of.plane;
    onfi.target[0].block = of.address.block;
    onfi.target[0].page = of.op == FlashOp::erase ? 0 : of.address.page;
    const bool resumes = onfi_operation(op).effect == ArrayEffect::resumes;
    onfi.bus_end = now + timing_.issue(op, 1);
    if (resumes && addressed(die) != die) onfi.bus_end += timing_.select_lun();
    bus_free_at_ = onfi.bus_end;
    addressed(die) = static_cast<std::uint16_t>(die);
    selected(die) = kNothingSelected;  // data of another LUN have to be selected again
    counters_.command += onfi.bus_end - now;
    counters_.suspends += onfi_operation(op).effect == ArrayEffect::suspends;
    return payload;
}

/// The sequence's end comes from the sequencer; returns when the next one may begin.
SimTime SequenceBuilder::play(OnfiExtension& onfi, PinSelect select) {
    PinCommand command;
    command.op = onfi.op;
    command.select = select;
    command.die = onfi.die;
    command.count = onfi.count;
    command.target = onfi.target.data();
    command.begin = onfi.bus_begin;
    const BusSequencer::Held held = sequencer_->play(command, keep_pins_);
    onfi.bus_end = held.end;
    return held.free;
}

}  // namespace ssdtlm
