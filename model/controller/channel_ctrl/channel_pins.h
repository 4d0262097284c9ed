// SPDX-License-Identifier: Apache-2.0
// Plays the pins of a channel: the edges of each sequence when it is granted, and the rise of R/B# when the array is
// done. It exists only while there is a listener, and changes no time.
#pragma once

#include <cstdint>
#include <vector>

#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_payload.h"
#include "nand/pins/bus_sequencer.h"
#include "nand/pins/pin_generator.h"
#include "nand/pins/pin_sequence.h"

namespace ssdtlm {

class ChannelPins {
public:
    ChannelPins(const NandConfig& nand, std::uint16_t channel)
        : generator_(nand),
          cache_program_(nand.cache_program),
          channel_(channel),
          busy_(nand.geometry.dies_per_channel()) {}

    /// Adds a listener. Listeners are told in the order in which they were added, and are not owned.
    void add(PinListener& listener) { listeners_.push_back(&listener); }

    /// Only this many bytes at each end of a data burst get edges.
    void limit_burst_edges(std::uint32_t bytes) { generator_.limit_burst_edges(bytes); }

    /// A sequence is on the bus; for read_out, the die has filled in what it sends. `sequencer`: the block that played
    /// it; null: the timing model.
    void issued(const OnfiExtension& onfi, BusSequencer* sequencer) {
        // A suspend lets R/B# rise when the array has stopped, as the end of the operation would have. Behind a cached
        // program it is high already, and falls for the suspend.
        const ArrayEffect effect = onfi_operation(onfi.op).effect;
        PinCommand command =
            generator_.command(onfi.op, onfi.die, onfi.count, onfi.target.data(), onfi.bus_begin, onfi.bus_end);
        command.more = cache_program_ && onfi.op == FlashOp::program && onfi.more;
        command.ready = effect == ArrayEffect::suspends && busy_[onfi.die] == 0;
        if (onfi.op != FlashOp::read_out && (effect != ArrayEffect::suspends || command.ready)) ++busy_[onfi.die];
        if (sequencer == nullptr)
            generator_.play(command, sequence_);
        else
            sequencer->pins(command, sequence_);
        tell();
    }
    /// The array is done, or has taken a cached page over. R/B# rises when none of the die's operations (independent
    /// plane reads) is left.
    void ready(std::uint32_t die, SimTime now) {
        if (--busy_[die] != 0) return;
        PinGenerator::play_ready(static_cast<std::uint16_t>(die), now, sequence_);
        tell();
    }
    void ready_if_low(std::uint32_t die, SimTime now) {
        if (busy_[die] != 0) ready(die, now);
    }

private:
    void tell() {
        for (PinListener* const listener : listeners_) listener->pins(channel_, sequence_);
    }

    PinGenerator generator_;
    const bool cache_program_;
    std::vector<PinListener*> listeners_;
    const std::uint16_t channel_;
    std::vector<std::uint8_t> busy_;  // operations per die
    PinSequence sequence_;            // scratch
};

}  // namespace ssdtlm
