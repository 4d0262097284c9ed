// SPDX-License-Identifier: Apache-2.0
// Checks the pins of a channel against the rules of a datasheet. It reports every edge that breaks a timing parameter
// of the configuration, and every command sequence that is not in use. It knows no transactions: PinDecoder decodes
// what WE# latches, and PinBursts measures data bursts. With SDR it checks only commands, because data pulses are not
// measured. Kernel-free.
//
// Rules (PinViolation::rule)
//   tCS tCH tWC tWP tWH tCALS tCALH tCAS tCAH     one command or address cycle. tCS: CE# low to WE# low
//   tADL tCCS tWHR tRR tRHW tWB                   between cycles, bursts and R/B#
//   tWPRE tWPST tWPSTH tDS tDH                    data in: strobe's pre- and postamble, DQ around a strobe
//   tRPRE tRPST tRPSTH tDQSRE                     data out
//   data rate, DQS count, byte count              strobes not faster than configured; one of DQS for each of RE#; as
//                                                 many as the sequence has bytes
//   CE#, R/B#                                     cycles with no or several chip enables; a command to a busy die
//   ARDY                                          another command than 80h or a suspend while the array is at work
//                                                 behind 15h
//   resume                                        13h, D2h: the LUN addressed last has a suspended program or erase
//   sequence, address cycles                      00h-5A-30h/32h, 05h-2A-E0h, 06h-5A-E0h, 80h-5A-data-10h/11h (with
//                                                 cache program also 15h), 60h-3A-D0h/D1h, 70h, 78h-3A, 84h-3A, 13h,
//                                                 61h-3A, D2h; data out only of what was selected; SlcMode::prefix
//                                                 (A2h) only right before 00h, 80h and 60h
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nand/onfi/nand_config.h"
#include "nand/pins/pin_bursts.h"
#include "nand/pins/pin_decoder.h"
#include "nand/pins/pin_limits.h"
#include "nand/pins/pin_violations.h"

namespace ssdtlm {

class PinChecker {
public:
    explicit PinChecker(const NandConfig& nand);
    PinChecker(const PinChecker&) = delete;
    PinChecker& operator=(const PinChecker&) = delete;

    /// Checks the sequences of one channel in the order in which a PinListener is told them.
    void check(const PinSequence& sequence);
    /// Checks the edges that are still held back, because a later sequence might have had earlier edges.
    void finish();
    /// Carries out a loss of power: later edges do not come, and sequences under way break no rule. Then the checker
    /// starts again.
    void power_lost(SimTime now);
    /// Checks recorded pins instead of sequences: all edges of one instant. The number of bytes of a burst is not known
    /// then, and the rule "byte count" is not checked. Sequences are not counted.
    void check_edges(const std::vector<PinEdge>& edges);
    /// Call it before the first check_edges(), for a recording that begins while the device works. `levels`: the levels
    /// at its begin. Earlier commands count as correct. Checks begin when no chip enable is low.
    void begin_inside(const std::vector<PinEdge>& levels);

    /// The first hundred violations.
    const std::vector<PinViolation>& violations() const { return violations_.kept(); }
    std::uint64_t violation_count() const { return violations_.count(); }
    /// See PinViolations::report().
    std::string report(std::size_t most = PinViolations::kKept) const { return violations_.report(most); }

    // --- What was seen ---
    std::uint64_t sequences() const { return sequences_; }
    std::uint64_t strobes() const { return bursts_.strobes(); }
    std::uint64_t commands(std::uint8_t opcode) const { return told_.commands(opcode); }

private:
    struct Change {
        Pin pin{};
        PinValue before = 0;
        PinValue now = 0;
    };

    bool no_chip_enabled() const;
    void drain(SimTime before);
    void apply(SimTime t, std::size_t first, std::size_t last);
    void dispatch(SimTime t, const Change& change);
    void on_dq(SimTime t);
    void on_we(SimTime t, PinValue level);
    void on_latch_enable(SimTime t, PinValue level);
    void on_chip(SimTime t, std::uint32_t way, PinValue level);

    const OnfiTiming t_;
    const PinLimits limits_;
    const bool sdr_;

    std::vector<PinEdge> pending_;  // not yet applied, in time order
    PinLevels pins_;
    std::array<PinValue, kPinCount> next_{};
    std::vector<Change> changes_;  // of one instant, scratch
    SimTime we_fell_ = kLongAgo, we_rose_ = kLongAgo;
    PinViolations violations_;
    PinDecoder told_;
    PinBursts bursts_;
    std::uint64_t sequences_ = 0;
    bool inside_a_sequence_ = false;  // a sequence is under way whose begin is not known
};

}  // namespace ssdtlm
