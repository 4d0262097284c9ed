// SPDX-License-Identifier: Apache-2.0
// Observes flash work from both sides of the channel controllers: transactions as the firmware submits them, and the
// sequences on the ONFI buses. It assigns each sequence to its transaction, and gives the time for which the die is
// busy with it. A read that cannot be corrected, and is read again, waits from the end of its data on, which includes
// its decoding. Kernel-free.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "controller/channel_ctrl/ecc_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/scheduler_port.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_target.h"
#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {

/// A transaction as the observer remembers it.
struct FlashWork {
    std::uint64_t number = 0;  ///< FlashTransaction::number
    std::uint64_t owner = 0;   ///< FlashTransaction::owner
    FlashClass cls = FlashClass::host_read;
    FlashCause cause = FlashCause::of_class;
    FlashOp op = FlashOp::read;
    std::uint8_t plane = 0;  ///< in die
    std::uint32_t block = 0;
    std::uint32_t page = 0;
    std::uint8_t retry = 0;  ///< of a read
    SimTime submitted{};
};

/// One sequence on a channel's bus.
struct BusSequence {
    std::uint32_t channel = 0;
    std::uint32_t die = 0;  ///< in channel
    FlashOp op = FlashOp::read;
    FlashClass cls = FlashClass::host_read;
    FlashCause cause = FlashCause::of_class;  ///< of the first of them
    std::uint32_t planes = 0;                 ///< bit per plane addressed
    std::uint32_t count = 0;                  ///< of them
    const FlashWork* work = nullptr;          ///< `count` of them
    std::uint32_t data_bytes = 0;             ///< of one plane
    bool spare_only = false;                  ///< of its spare area
    SimTime begin{};
    SimTime end{};
    SimTime busy_from{};  ///< R/B# falls (not: read_out)
    /// With cache program: the die's answer about a program.
    struct Cached {
        SimTime array_from{};      ///< the array takes the pages over
        SimTime array_to{};        ///< and is done, if nothing suspends it
        SimTime ready_at{};        ///< R/B# rises
        std::uint32_t before = 0;  ///< planes of the program that the array was at when this one came; 0: none
        SimTime before_to{};       ///< when it is done with that
    };
    const Cached* cached = nullptr;  ///< null: another operation, or no cache program
    std::uint32_t passed = 0;        ///< reads: programs and erases of the channel that wait and were submitted earlier
    std::uint32_t passed_gc = 0;     ///< of those, programs of garbage collection for the same die
};

class FlashListener {
public:
    virtual void submitted(std::uint32_t channel, std::uint32_t die, const FlashWork& work, SimTime now) = 0;
    /// The grant: the sequence begins now.
    virtual void sequence(const BusSequence& s) = 0;
    /// A suspend or a resume of `work` takes the bus; after a resume the die is busy with it from `busy_from` on.
    virtual void control(const BusSequence& s) = 0;
    /// The array has stopped its work in these planes; R/B# rises.
    virtual void suspended(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) = 0;
    /// R/B# rises, as far as these planes hold it low.
    virtual void array_done(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) = 0;
    /// The last byte of a read is out; the plane's register is free.
    virtual void data_done(std::uint32_t channel, std::uint32_t die, std::uint32_t plane, SimTime now) = 0;
    /// The power is lost: nothing waits any more, and nothing is under way.
    virtual void power_lost(SimTime now) = 0;

protected:
    ~FlashListener() = default;
};

class FlashObserver {
public:
    FlashObserver(const NandConfig& nand, const EccConfig& ecc);
    void add(FlashListener& listener) { listeners_.push_back(&listener); }

    /// Called before the transaction reaches its channel controller, which will call it `number`.
    void submit(const FlashTransaction& txn, std::uint64_t number, SimTime now);
    /// The bus takes the sequence's first cycle.
    void begin(std::uint32_t channel, FlashOp op, std::uint32_t die, std::uint32_t count, const OnfiTarget* targets,
               SimTime from, SimTime to);
    /// The package has accepted a program, of which begin() was called just now. It is called with cache program only.
    void accepted(std::uint32_t channel, std::uint32_t die, BusSequence::Cached times);
    /// The package answers the sequence.
    void end(std::uint32_t channel, FlashOp op, std::uint32_t die, std::uint32_t count, const OnfiTarget* targets,
             SimTime now);
    /// The drive loses its power and forgets its work.
    void power_lost(SimTime now);

private:
    struct Die {
        std::vector<FlashWork> waiting;
        std::array<FlashWork, kMaxPlanes> running{};  // by plane
        std::uint32_t slow = 0;                       // bit per plane: of the program or erase that runs
        bool stopping = false;                        // its suspend is under way
        std::uint32_t aside = 0;                      // the same of one that is suspended
        std::array<FlashWork, kMaxPlanes> set_aside{};
        SimTime array_to{};           // cache program: when the array is done with the program that runs
        std::uint32_t passed_on = 0;  // programs of which the listeners know the end, and that are not answered yet
    };
    void control(std::uint32_t channel, FlashOp op, std::uint32_t die, SimTime from, SimTime to);
    FlashWork take(Die& die, FlashOp op, const OnfiTarget& target);
    void count_passed(BusSequence& s) const;

    const NandGeometry geometry_;
    const EccConfig ecc_;
    const bool cache_program_;
    BusSequence begun_;  // a program that has not been accepted yet
    std::array<FlashWork, kMaxPlanes> begun_work_{};
    const Ps busy_delay_;
    std::vector<Die> dies_;  // global
    std::vector<FlashListener*> listeners_;
};

}  // namespace ssdtlm
