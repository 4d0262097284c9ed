// SPDX-License-Identifier: Apache-2.0
// Watches the pins of a channel as a datasheet would: reports every edge that breaks a timing parameter of the
// configuration, and every command sequence that is none of those in use. Knows nothing of transactions; decodes what
// WE# latches. SDR: commands only, its data pulses are not measured. Kernel-free.
//
// Rules (PinViolation::rule)
//   tCS tCH tWC tWP tWH tCALS tCALH tCAS tCAH     one command or address cycle. tCS: CE# low to WE# low
//   tADL tCCS tWHR tRR tRHW tWB                   between cycles, bursts and R/B#
//   tWPRE tWPST tWPSTH tDS tDH                    data in: strobe's pre- and postamble, DQ around a strobe
//   tRPRE tRPST tRPSTH tDQSRE                     data out
//   data rate, DQS count, byte count              strobes not faster than configured; one of DQS for each of RE#; as
//                                                 many as the sequence has bytes
//   CE#, R/B#                                     cycles with no or several chip enables; a command to a busy die
//   sequence, address cycles                      00h-5A-30h/32h, 05h-2A-E0h, 06h-5A-E0h, 80h-5A-data-10h/11h,
//                                                 60h-3A-D0h/D1h, 70h, 78h-3A, 84h-3A, 13h, 61h-3A, D2h; data out only
//                                                 of what was selected
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "nand/onfi/nand_config.h"
#include "nand/pins/pin_generator.h"
#include "nand/pins/pin_sequence.h"

namespace ssdtlm {

struct PinViolation {
    const char* rule = "";
    SimTime time{};
    std::string text;  ///< what was found and what is allowed
};

/// Set-up and hold times that do not follow from OnfiTiming; for a tWC of 25 ns, in proportion below (Micron L06B
/// model parameters).
struct PinLimits {
    Ps t_wp{11'000}, t_wh{11'000}, t_cals{15'000}, t_calh{5'000}, t_cas{5'000}, t_cah{5'000}, t_ch{5'000};
    Ps t_ds{};  ///< = tDH, by the data rate
    explicit PinLimits(const OnfiTiming& timing);
};

class PinChecker {
public:
    explicit PinChecker(const NandConfig& nand);

    /// Sequences of one channel in the order in which a PinListener is told them.
    void check(const PinSequence& sequence);
    /// Checks what is still held back because a later sequence could have had edges before it.
    void finish();

    /// The first kKept of them.
    const std::vector<PinViolation>& violations() const { return kept_; }
    std::uint64_t violation_count() const { return violation_count_; }
    /// One line per kept violation.
    std::string report() const;

    // What was seen.
    std::uint64_t sequences() const { return sequences_; }
    std::uint64_t strobes() const { return strobes_; }
    std::uint64_t commands(std::uint8_t opcode) const { return commands_[opcode]; }

private:
    static constexpr std::size_t kKept = 100;
    static constexpr int kUnknown = -1;
    static constexpr SimTime kLongAgo{Ps{-1'000'000'000'000}};

    /// What one chip enable has been told.
    struct Target {
        std::uint8_t opcode = 0;  // command whose addresses or confirmation are awaited; see open
        FlashOp op = FlashOp::read;  // that it begins
        bool open = false;
        std::uint8_t addresses = 0;
        bool data = false;  // a data-in burst has come
        std::uint32_t row = 0;
        int die = kUnknown;          // that the open command names
        bool queued = false;         // 32h: data out has to say which plane
        int source = kUnknown;       // die whose register data out comes from
        bool readable = false;       // something is selected for data out
        bool status = false;         // ... and it is the status
        const char* wait_rule = "";  // before data out, since wait_from
        Ps wait{};
        SimTime wait_from = kLongAgo;
        SimTime chip_fell = kLongAgo;
    };
    struct Busy {  // R/B# has to fall
        std::uint32_t way = 0;
        int die = kUnknown;
        SimTime since{};
    };
    struct Change {
        Pin pin{};
        PinValue before = 0;
        PinValue now = 0;
    };

    void drain(SimTime before);
    void apply(SimTime t, std::size_t first, std::size_t last);
    void dispatch(SimTime t, const Change& change);
    void on_re(SimTime t, PinValue level);
    void on_dqs(SimTime t, const Change& change);
    void on_dq(SimTime t);
    void on_we(SimTime t, PinValue level);
    void on_latch_enable(SimTime t, PinValue level);
    void on_chip(SimTime t, std::uint32_t way, PinValue level);
    void on_ready_busy(SimTime t, std::uint32_t die, PinValue level);

    void command(SimTime t, Target& target, std::uint8_t opcode);
    void confirm(SimTime t, Target& target, std::uint8_t opcode);
    void address(SimTime t, Target& target, std::uint8_t byte);
    void addresses_done(SimTime t, Target& target);
    void status_selected(SimTime t, Target& target);
    void await_data(SimTime t, Target& target);
    void begin_data_out(SimTime t);
    void end_data_out(SimTime t);
    void end_data_in(SimTime t);
    void count_bytes(SimTime t, std::size_t strobes);
    void after_data_in(SimTime t);
    void overdue(SimTime t);

    /// The only chip enable that is low; null and a violation otherwise.
    Target* target(SimTime t, const char* what);
    int die_of_row(std::uint32_t way, std::uint32_t row) const;
    void at_least(const char* rule, SimTime t, SimTime since, Ps limit);
    void violation(const char* rule, SimTime t, std::string text);
    SimTime changed(Pin p) const { return changed_[idx(p)]; }
    PinValue value(Pin p) const { return value_[idx(p)]; }

    const OnfiTiming t_;
    const PinLimits limits_;
    const bool sdr_;
    const bool independent_;
    const std::uint32_t dies_per_chip_;
    const unsigned lun_shift_;
    const bool luns_known_;  // row addresses name the LUN
    const Ps transfer_;      // shortest time between strobes
    const Ps t_rpst_;

    std::vector<PinEdge> pending_;              // not yet applied, in time order
    std::deque<std::uint32_t> expected_bytes_;  // of the bursts to come
    std::array<PinValue, kPinCount> value_{};
    std::array<PinValue, kPinCount> next_{};
    std::array<SimTime, kPinCount> changed_{};
    std::vector<Change> changes_;  // of one instant, scratch
    std::vector<Target> targets_;
    std::vector<Busy> busy_;
    std::uint32_t low_chips_ = 0;
    std::uint32_t way_ = 0;  // the chip enable that fell last

    SimTime we_fell_ = kLongAgo, we_rose_ = kLongAgo;
    // Data in: from DQS driven to DQS released.
    bool in_ = false;
    std::size_t in_strobes_ = 0;
    SimTime in_driven_{}, in_last_{};
    bool in_held_ = false;  // the postamble's hold is awaited
    // Data out: from RE# low to CE#, CLE or ALE high.
    bool out_ = false;
    SimTime out_began_{}, out_ended_ = kLongAgo;
    std::vector<SimTime> re_edges_;  // after the preamble's
    std::size_t out_strobes_ = 0;
    bool out_late_ = false;  // a strobe of DQS was, and those after it are as well

    std::vector<PinViolation> kept_;
    std::uint64_t violation_count_ = 0;
    std::uint64_t sequences_ = 0;
    std::uint64_t strobes_ = 0;
    std::array<std::uint64_t, 256> commands_{};
};

}  // namespace ssdtlm
