// SPDX-License-Identifier: Apache-2.0
// The boundary between a channel controller and a block that plays ONFI sequences cycle by cycle, in place of the
// formulas of OnfiBusTiming. A sequence has no input while it runs, so it is played to its end at once, when it is
// granted. Its edges have their own times. Kernel-free.
#pragma once

#include <string>

#include "common/units/units.h"
#include "nand/pins/pin_generator.h"
#include "nand/pins/pin_sequence.h"

namespace ssdtlm {

class BusSequencer {
public:
    struct Held {
        SimTime end;   ///< CE# rises after the last cycle of the sequence
        SimTime free;  ///< the next sequence may begin (data out: tRHW after the end)
    };
    virtual ~BusSequencer() = default;

    /// Plays one sequence. Sequences come in the order of their begins, none before the last sequence's `free`.
    /// `keep_pins`: pins() will be called.
    virtual Held play(const PinCommand& command, bool keep_pins) = 0;
    /// Replaces the contents of `out` by the edges of the sequence that was played last, with the present data of its
    /// targets.
    virtual void pins(const PinCommand& command, PinSequence& out) = 0;
    /// Writes the block's own signals to a file (FST), in simulated time, from the next sequence on.
    virtual void open_trace(const std::string& path) = 0;
    /// Completes the file.
    virtual void close_trace() = 0;
};

}  // namespace ssdtlm
