// SPDX-License-Identifier: Apache-2.0
// Watches the data bursts on the pins of a channel: strobes, their pre- and postambles, their number, and whether the
// commands allow them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "nand/pins/pin_decoder.h"
#include "nand/pins/pin_limits.h"

namespace ssdtlm {

class PinBursts {
public:
    /// All arguments must outlive it.
    PinBursts(const NandConfig& nand, const PinLimits& limits, const PinLevels& pins, PinDecoder& told,
              PinViolations& violations);

    /// The next burst has this many bytes.
    void expect(std::uint32_t bytes) { expected_bytes_.push_back(bytes); }
    /// The number of bytes of the next burst is not known.
    void expect_any() { any_bytes_ = true; }
    /// Ends the burst under way without a violation.
    void give_up();
    void read_enable(SimTime t, PinValue level);
    void strobe(SimTime t, PinValue before, PinValue now);
    void data_changes(SimTime t);
    /// CE#, CLE or ALE rises, which ends a burst.
    void ends(SimTime t);

    bool under_way() const { return in_ || out_; }
    SimTime last_out() const { return out_ended_; }
    std::uint64_t strobes() const { return strobes_; }

private:
    void begin_out(SimTime t);
    void end_out(SimTime t);
    void begin_in(SimTime t);
    void strobe_in(SimTime t);
    void strobe_out(SimTime t);
    void end_in(SimTime t);
    void count_bytes(SimTime t, std::size_t strobes);

    const OnfiTiming t_;
    const PinLimits& limits_;
    const PinLevels& pins_;
    PinDecoder& told_;
    PinViolations& violations_;
    const bool sdr_;
    const bool independent_;
    const Ps transfer_;  // shortest time between strobes
    const Ps t_rpst_;

    std::deque<std::uint32_t> expected_bytes_;  // bytes of the next bursts
    bool any_bytes_ = false;
    // Data in lasts from DQS driven to DQS released.
    bool in_ = false;
    std::size_t in_strobes_ = 0;
    SimTime in_driven_{}, in_last_{};
    bool in_held_ = false;  // the postamble's hold is awaited
    // Data out lasts from RE# low to CE#, CLE or ALE high.
    bool out_ = false;
    SimTime out_began_{}, out_ended_ = kLongAgo;
    std::vector<SimTime> re_edges_;  // after the preamble's
    std::size_t out_strobes_ = 0;
    bool out_late_ = false;  // a strobe of DQS was late, and so are those after it
    std::uint64_t strobes_ = 0;
};

}  // namespace ssdtlm
