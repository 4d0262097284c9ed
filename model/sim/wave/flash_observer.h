// SPDX-License-Identifier: Apache-2.0
// Observes flash work on both sides of the channel controllers: transactions from the firmware, and sequences on the
// ONFI buses. It assigns each sequence to its transaction, and knows how long the die is busy with it. If a read cannot
// be corrected and is repeated, its new wait begins at the end of its data, so it includes the decoding. Kernel-free.
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

/// What the observer remembers about a transaction.
struct FlashWork {
    std::uint64_t number = 0;  ///< FlashTransaction::number
    std::uint64_t owner = 0;   ///< FlashTransaction::owner
    FlashClass cls = FlashClass::host_read;
    FlashCause cause = FlashCause::of_class;
    FlashOp op = FlashOp::read;
    std::uint8_t plane = 0;  ///< in die
    std::uint32_t block = 0;
    std::uint32_t page = 0;
    std::uint8_t retry = 0;  ///< number of the read retry
    SimTime submitted{};
};

/// One sequence on a channel's bus.
struct BusSequence {
    std::uint32_t channel = 0;
    std::uint32_t die = 0;  ///< in channel
    FlashOp op = FlashOp::read;
    FlashClass cls = FlashClass::host_read;
    FlashCause cause = FlashCause::of_class;  ///< of the first transaction
    std::uint32_t planes = 0;                 ///< one bit for each addressed plane
    std::uint32_t count = 0;                  ///< number of these planes
    const FlashWork* work = nullptr;          ///< its `count` transactions
    std::uint32_t data_bytes = 0;             ///< of one plane
    bool spare_only = false;                  ///< data_bytes are those of the spare area
    SimTime begin{};
    SimTime end{};
    SimTime busy_from{};  ///< R/B# falls; not for read_out
    /// With cache program: the die's answer about a program.
    struct Cached {
        SimTime array_from{};      ///< the array begins to program the pages
        SimTime array_to{};        ///< the array has ended, unless it is suspended
        SimTime ready_at{};        ///< R/B# rises
        std::uint32_t before = 0;  ///< planes of the program that was in the array before; 0: none
        SimTime before_to{};       ///< when the array ends that program
    };
    const Cached* cached = nullptr;  ///< null: another operation, or no cache program
    std::uint32_t passed = 0;        ///< reads: waiting programs and erases of the channel that were submitted earlier
    std::uint32_t passed_gc = 0;     ///< part of these: programs of garbage collection for the same die
};

class FlashListener {
public:
    virtual void submitted(std::uint32_t channel, std::uint32_t die, const FlashWork& work, SimTime now) = 0;
    /// A sequence begins now, as the scheduler has granted it.
    virtual void sequence(const BusSequence& s) = 0;
    /// A suspend or a resume of `work` takes the bus; after a resume the die is busy with it from `busy_from` on.
    virtual void control(const BusSequence& s) = 0;
    /// The array has stopped its work in these planes; R/B# rises.
    virtual void suspended(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) = 0;
    /// The array has ended its work in these planes, which no longer hold R/B# low.
    virtual void array_done(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) = 0;
    /// The last byte of a read is transferred, and the plane's register is free.
    virtual void data_done(std::uint32_t channel, std::uint32_t die, std::uint32_t plane, SimTime now) = 0;
    /// The power is lost. All waiting and running work is gone.
    virtual void power_lost(SimTime now) = 0;

protected:
    ~FlashListener() = default;
};

class FlashObserver {
public:
    FlashObserver(const NandConfig& nand, const EccConfig& ecc);
    void add(FlashListener& listener) { listeners_.push_back(&listener); }

    /// Call it before the transaction reaches its channel controller, which will give it this number.
    void submit(const FlashTransaction& txn, std::uint64_t number, SimTime now);
    /// The first cycle of the sequence is on the bus.
    void begin(std::uint32_t channel, FlashOp op, std::uint32_t die, std::uint32_t count, const OnfiTarget* targets,
               SimTime from, SimTime to);
    /// The package has accepted the program for which begin() was called last. It is called only with cache program.
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
        std::uint32_t slow = 0;                       // one bit per plane of the running program or erase
        bool stopping = false;                        // a suspend of it is under way
        std::uint32_t aside = 0;                      // planes of the suspended program or erase
        std::array<FlashWork, kMaxPlanes> set_aside{};
        SimTime array_to{};           // cache program: when the array ends the running program
        std::uint32_t passed_on = 0;  // programs whose end the listeners know, but that are not answered yet
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
