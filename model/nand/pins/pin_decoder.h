// SPDX-License-Identifier: Apache-2.0
// Decodes the command and address cycles of each chip enable of a channel into sequences. It knows which data come next
// and which die must become busy. It reports a sequence that is not in use, and a command to a busy die.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nand/onfi/nand_config.h"
#include "nand/pins/pin_violations.h"

namespace ssdtlm {

class PinDecoder {
public:
    static constexpr int kUnknown = -1;

    /// The state of the commands on one chip enable.
    struct Target {
        std::uint8_t opcode = 0;     ///< command whose addresses or confirmation are awaited; see open
        FlashOp op = FlashOp::read;  ///< operation that it begins
        bool open = false;
        bool prefixed = false;  ///< a prefix has come, so an operation of SLC mode must begin
        std::uint8_t addresses = 0;
        bool data = false;  ///< a data-in burst has come
        std::uint32_t row = 0;
        int die = kUnknown;          ///< die of the open command
        int addressed = kUnknown;    ///< die of the last row address: a resume goes to it
        bool queued = false;         ///< 32h came, so data out must select a plane
        int source = kUnknown;       ///< die whose register data out comes from
        bool readable = false;       ///< something is selected for data out
        bool status = false;         ///< ... and it is the status
        const char* wait_rule = "";  ///< before data out, since wait_from
        Ps wait{};
        SimTime wait_from = kLongAgo;
        SimTime chip_fell = kLongAgo;

        /// True: data in may come.
        bool takes_data() const;
        /// Ends the wait if the time that data must keep from earlier cycles is over.
        void end_wait(SimTime t, PinViolations& violations);
    };

    /// Both `pins` and `violations` must outlive it.
    PinDecoder(const NandConfig& nand, const PinLevels& pins, PinViolations& violations);

    void chip(SimTime t, std::uint32_t way, PinValue level);
    /// Returns the only chip enable that is low. Otherwise it returns null and reports a violation.
    Target* target(SimTime t, const char* what);
    /// Returns the chip enable that fell last; null: it is not the only one that is low.
    Target* only_low() { return low_chips_ == 1 ? &targets_[way_] : nullptr; }
    const Target& last_told() const { return targets_[way_]; }
    /// The power was lost: nothing is selected, busy or suspended any more.
    void power_lost();
    /// Decoding starts at `now`; earlier commands are not known. So a page may be selected already, and a LUN may be
    /// suspended.
    void begin_inside(SimTime now);
    void command(SimTime t, Target& to, std::uint8_t opcode);
    void address(SimTime t, Target& to, std::uint8_t byte);
    void ready_busy(SimTime t, std::uint32_t die, PinValue level);
    /// Reports dies that should have become busy before.
    void overdue(SimTime t);

    std::uint64_t commands(std::uint8_t opcode) const { return commands_[opcode]; }

private:
    struct Busy {  // R/B# must fall
        std::uint32_t way = 0;
        int die = kUnknown;
        SimTime since{};
    };
    void confirm(SimTime t, Target& to, std::uint8_t opcode);
    void end_prefix(SimTime t, Target& to, const std::string& before);
    void resumed(SimTime t, Target& to);
    void suspends(SimTime t, const Target& to);
    /// With cache program: the array is still at work while R/B# is high.
    struct Array {
        bool caching = false;      // 15h came, and R/B# has not risen since
        SimTime until = kLongAgo;  // the array works at least until then
    };
    void addresses_done(SimTime t, Target& to);
    void status_selected(SimTime t, Target& to);
    void await_data(SimTime t, Target& to) const;
    bool is_busy(int die) const;
    int die_of_row(std::uint32_t way, std::uint32_t row) const;

    const OnfiTiming t_;
    const PinLevels& pins_;
    PinViolations& violations_;
    const bool independent_;
    const std::uint8_t slc_prefix_;
    const std::uint32_t dies_per_chip_;
    const unsigned lun_shift_;
    const bool luns_known_;  // row addresses name the LUN
    const bool cache_program_;
    const Ps array_at_least_;    // from the rise of R/B# after 15h
    std::vector<Array> arrays_;  // by die; empty without cache program

    std::vector<Target> targets_;
    static constexpr FlashOp kNothing = FlashOp::count, kNotKnown = FlashOp::read;
    std::vector<FlashOp> suspended_;  // by die: operation that its last suspend has stopped
    SimTime told_from_ = kLongAgo;    // R/B# may fall within tWB after it because of earlier commands
    std::vector<Busy> busy_;
    std::uint32_t low_chips_ = 0;
    std::uint32_t way_ = 0;  // the chip enable that fell last
    std::array<std::uint64_t, 256> commands_{};
};

}  // namespace ssdtlm
