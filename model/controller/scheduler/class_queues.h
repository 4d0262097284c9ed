// SPDX-License-Identifier: Apache-2.0
// The common part of policies that use only classes: one FIFO per die and class, the starvation bound, round robin over
// the dies of a channel, and the joining of multi-plane partners. A policy adds the choice of a die's next class. For a
// policy that distinguishes flows, or keeps a state, see flow_queues.h. Not modelled: the time a decision takes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "controller/scheduler/queue_scheduler.h"

namespace ssdtlm {

/// A push and a grant cost O(1). (A grant looks at most SchedulerConfig::look_ahead requests deep into one queue.)
class ClassQueueScheduler : public QueueScheduler {
public:
    ClassQueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape);

    void push(const SchedulerRequest& request) final;
    bool grant_at_once(const SchedulerRequest& request) final;
    GrantAnswer grant(const GrantQuery& query, Grant& out) final;
    std::uint32_t queued(std::uint16_t channel) const final { return channels_[channel].queued; }
    const PlanesHeld* planes_held(std::uint16_t channel) const final { return &channels_[channel].held; }
    /// For each die with work: the classes that wait, those at the starvation limit, and the class that goes next.
    std::string dump(std::uint16_t channel) const final;

protected:
    /// The work that waits for one die, by class.
    struct DieWork {
        ClassSet waiting = 0;
        std::array<std::uint32_t, kFlashClassCount> head{};
        std::array<std::uint64_t, kFlashClassCount> arrival{};  ///< of each class's oldest request; smaller is older
    };
    /// The class of `classes` whose oldest request came first; `classes` is a non-empty subset of work.waiting.
    static std::uint8_t oldest(const DieWork& work, ClassSet classes);

private:
    /// The policy: returns which of the waiting classes goes next. It depends on `work` alone, and is never called when
    /// nothing waits. It is not asked while a class is at its starvation limit. Returning a class that does not wait is
    /// a SchedulerFault.
    virtual std::uint8_t choose(const DieWork& work) const = 0;

    struct Fifo {  // its head is in DieWork
        std::uint32_t tail = kNone;
        std::uint32_t overtaken = 0;  // grants since the head came that went to younger requests of the die
    };
    struct alignas(64) Die {
        DieWork work;
        ClassSet starved = 0;     // at the limit; none while nothing waits
        std::uint8_t chosen = 0;  // valid while something waits
        std::uint8_t held = 0;    // bit per plane, of PlanesHeld
        std::array<Fifo, kFlashClassCount> fifo;
    };
    struct Channel {
        std::array<std::uint64_t, kFlashClassCount> dies_choosing{};  // bit per die
        ClassSet chosen = 0;                                          // some die chooses it
        std::array<std::uint32_t, 2> next_die{};  // round robin, apart for queries with and without programs
        std::uint32_t queued = 0;
        PlanesHeld held;
    };
    static constexpr ClassSet bit(std::uint32_t cls) { return ClassSet{1} << cls; }
    Die& die(std::uint32_t channel, std::uint32_t d) { return dies_[channel * dies_per_channel_ + d]; }
    std::uint8_t next_class(const Die& die) const;
    [[noreturn]] void refuse_choice(const Die& die, std::uint8_t cls) const;
    void choose_class(Channel& channel, std::uint32_t d, Die& die, std::uint8_t cls);
    void forget_choice(Channel& channel, std::uint32_t d, const Die& die);
    bool grant_idle_plane(Channel& channel, const GrantQuery& query, std::uint32_t d, Die& die, Grant& out);
    /// Grants a request and, with `join`, its multi-plane partners.
    void take(Channel& channel, std::uint32_t d, Die& die, std::uint8_t cls, Place place, bool join, Grant& out);
    void count_overtaken(Die& die, std::uint8_t granted, std::uint64_t granted_arrival);

    std::vector<Die> dies_;
    std::vector<Channel> channels_;
};

}  // namespace ssdtlm
