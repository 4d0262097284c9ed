// SPDX-License-Identifier: Apache-2.0
// Decides which dies of a channel are suspended, when, and when they continue. It looks at dies that program or erase
// while reads of commands wait, and asks a policy. It exists only if there is a policy. Kernel-free.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "controller/ports/scheduler_port.h"
#include "controller/ports/suspend_policy.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class SuspendControl {
public:
    /// The classes of reads for which operations are suspended.
    static constexpr ClassSet kUrgent = class_bit(FlashClass::host_read) | class_bit(FlashClass::mapping_read);

    /// `policy` must outlive it.
    SuspendControl(const SuspendPolicy& policy, const NandConfig& nand);

    // --- Events ---
    void queued(FlashClass cls, std::uint32_t die) {
        if ((class_bit(cls) & kUrgent) != 0) ++dies_[die].reads_wait;
    }
    void granted(FlashClass cls, std::uint32_t die, std::uint32_t count) {
        if ((class_bit(cls) & kUrgent) != 0) dies_[die].reads_wait -= count;
    }
    /// A program or erase of these transactions is at work in the array from `begin` on.
    void started(std::uint32_t die, FlashTransaction* const* txns, std::uint32_t count, SimTime begin);
    void ended(std::uint32_t die) { dies_[die].state = State::idle; }
    /// Cache program: the next program is on its way to the cache registers, so what runs goes on to its end.
    void page_behind(std::uint32_t die) { dies_[die].given_up = true; }
    /// The suspend of the die's operation is on the bus.
    void stopping(std::uint32_t die, SimTime at);
    /// The suspend was answered. False: the operation ended before.
    bool stopped(std::uint32_t die, SimTime now);
    /// The resume is on the bus. The operation is at work from `begin` on.
    void goes_on(std::uint32_t die, SimTime begin);
    /// The scheduler has no request for the die that may run beside the suspended operation. The operation continues,
    /// and is not suspended again.
    void give_up(std::uint32_t die) { dies_[die].given_up = true; }

    // --- Questions ---
    bool suspended(std::uint32_t die) const { return dies_[die].state == State::suspended; }
    /// True: reads wait for which the die's operation is or could be suspended.
    bool concerns(std::uint32_t die) const { return dies_[die].reads_wait != 0 && dies_[die].state != State::idle; }
    /// The transactions of the operation that runs, stops, or is suspended.
    FlashTransaction* const* work(std::uint32_t die) const { return dies_[die].txns.data(); }
    std::uint32_t count(std::uint32_t die) const { return dies_[die].count; }
    /// True: the die is suspended, has reads to be granted, and is not suspended for too long.
    bool wants_reads(std::uint32_t die, SimTime now) const {
        const Die& d = dies_[die];
        return d.state == State::suspended && d.reads_wait != 0 && !d.given_up && now < d.until;
    }
    /// Returns true if the die is suspended and has no read to be granted. It continues as soon as no read runs.
    bool may_go_on(std::uint32_t die, SimTime now) const { return suspended(die) && !wants_reads(die, now); }
    /// When the operation on the die is to be suspended, from now on; kNever: not at all.
    SimTime stop_at(std::uint32_t die, SimTime now) const;
    std::uint32_t dies() const { return static_cast<std::uint32_t>(dies_.size()); }

private:
    enum class State : std::uint8_t { idle, runs, stopping, suspended };
    struct Die {
        State state = State::idle;
        bool given_up = false;
        std::uint32_t reads_wait = 0;  // in the scheduler
        std::uint32_t count = 0;
        Ps left{};        // when it was stopped
        SimTime until{};  // suspended: from then on no more reads are granted
        SuspendWork work;
        std::array<FlashTransaction*, kMaxPlanes> txns{};
    };
    Ps usual_time(const FlashTransaction& txn) const;

    const SuspendPolicy& policy_;
    const std::vector<Ps> t_program_;
    const Ps t_erase_, t_program_resume_, t_erase_resume_;
    const SlcMode slc_;
    std::vector<Die> dies_;
};

}  // namespace ssdtlm
