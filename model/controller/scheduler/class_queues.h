// SPDX-License-Identifier: Apache-2.0
// What all scheduler policies share: one FIFO per die and class, the starvation bound, round robin over the dies of a
// channel, and the joining of multi-plane partners. A policy adds which queue of a die goes next, and may have several for
// the reads of a class. Not modelled: the time a decision takes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "controller/ports/scheduler_port.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm {

struct SchedulerShape {
    std::uint32_t channels = 1;
    std::uint32_t dies_per_channel = 1;
    bool independent_plane_read = false;
    std::uint32_t planes_per_die = kMaxPlanes;
};

/// Costs O(1) per push and per grant (a grant looks at most SchedulerConfig::look_ahead requests deep into one queue).
class ClassQueueScheduler : public SchedulerPort {
public:
    ClassQueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape);

    void push(const SchedulerRequest& request) final;
    bool grant_at_once(const SchedulerRequest& request) final;
    GrantAnswer grant(const GrantQuery& query, Grant& out) final;
    std::uint32_t queued(std::uint16_t channel) const final { return channels_[channel].queued; }
    const PlanesHeld* planes_held(std::uint16_t channel) const final { return &channels_[channel].held; }

    /// What the last answer of grant() took: a hardware block that looks at one thing at a time needs a cycle for each.
    struct Effort {
        std::uint32_t dies = 0;      ///< whose work was tried
        std::uint32_t requests = 0;  ///< looked at
    };
    const Effort& effort() const { return effort_; }
    /// Classes waiting, classes at the starvation limit, the class that goes next, for each die with work.
    std::string dump(std::uint16_t channel) const final;

protected:
    /// Queues of a die that a policy may have, those of the classes among them.
    static constexpr std::uint32_t kQueues = 12;
    /// A bit per queue.
    using Queues = std::uint32_t;
    static constexpr Queues bit(std::uint32_t queue) { return Queues{1} << queue; }

    /// What one die has waiting.
    struct DieWork {
        Queues waiting = 0;                          ///< queues that are not empty
        std::array<std::uint32_t, kQueues> head{};     ///< of each queue; see whose()
        std::array<std::uint64_t, kQueues> arrival{};  ///< of each queue's oldest request; smaller is older
    };
    /// The queue of `queues` whose oldest request came first; `queues` is a non-empty subset of work.waiting.
    static std::uint8_t oldest(const DieWork& work, Queues queues);
    /// Of the oldest request of a queue that waits.
    const WorkTag& whose(const DieWork& work, std::uint32_t queue) const { return nodes_[work.head[queue]].whose; }

    /// For a policy with more queues than one a class: called in its constructor for each, in order; returns the queue's number.
    /// Queue c is class c's, for c below kFlashClassCount.
    std::uint32_t add_queue(FlashClass cls);

private:
    /// The policy: which queue that waits goes next. Pure function of `work`; never called with nothing waiting. Not
    /// asked while a queue is at its starvation limit. A queue that does not wait is a SchedulerFault.
    virtual std::uint8_t choose(const DieWork& work) const = 0;
    /// The queue of a request, one of its class; requests of one flow (WorkTag::same_flow) and programs and erases of one class
    /// share one. Asked only after add_queue().
    virtual std::uint32_t queue_of(const SchedulerRequest& request) const { return static_cast<std::uint32_t>(request.cls); }

    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    struct Node {
        std::uint32_t tag = 0;
        std::uint32_t page = 0;
        std::uint32_t next = kNone;
        std::uint8_t plane = 0;
        std::uint64_t arrival = 0;
        WorkTag whose;
    };
    struct Fifo {                     // its head is in DieWork
        std::uint32_t tail = kNone;
        std::uint32_t overtaken = 0;  // grants since the head came that went to younger requests of the die
    };
    struct alignas(64) Die {  // four cache lines
        DieWork work;
        Queues starved = 0;         // at the limit; none while nothing waits
        std::uint8_t chosen = 0;      // valid while something waits
        std::uint8_t held = 0;        // bit per plane, of PlanesHeld
        std::array<Fifo, kQueues> fifo;
    };
    struct Channel {
        std::array<std::uint64_t, kQueues> dies_choosing{};  // bit per die
        Queues chosen = 0;                      // some die chooses it
        std::array<std::uint32_t, 2> next_die{};  // round robin, apart for queries with and without programs
        std::uint32_t queued = 0;
        PlanesHeld held;
    };
    Die& die(std::uint32_t channel, std::uint32_t d) { return dies_[channel * dies_per_channel_ + d]; }
    /// A request of a die: its queue, the one before it there, and itself.
    struct Pick {
        std::uint8_t queue;
        std::uint32_t before;
        std::uint32_t node;
    };
    Queues queues_of(ClassSet classes) const { return more_queues_ ? queues_of_more(classes) : classes; }
    Queues queues_of_more(ClassSet classes) const;
    /// The classes of some queues.
    ClassSet classes_of(Queues queues) const;
    std::uint8_t next_queue(const Die& die) const;
    [[noreturn]] void refuse_choice(const Die& die, std::uint8_t queue) const;
    void choose_queue(Channel& channel, std::uint32_t d, Die& die, std::uint8_t queue);
    void forget_choice(Channel& channel, std::uint32_t d, const Die& die);
    bool grant_idle_plane(Channel& channel, const GrantQuery& query, std::uint32_t d, Die& die, Grant& out);
    bool find_idle_plane(const GrantQuery& query, std::uint32_t d, const Die& die, Pick& pick, std::uint32_t& beyond);
    std::uint32_t idle_planes_from(const GrantQuery& query, std::uint32_t d, std::uint32_t node, std::uint32_t seen) const;
    static void hold(Channel& channel, Die& die, std::uint32_t planes);
    /// Grants a request and (join) its multi-plane partners.
    void take(Channel& channel, std::uint32_t d, Die& die, Pick pick, bool join, Grant& out);
    void join_partners(Channel& channel, Die& die, const Pick& first, std::uint32_t next, Grant& out);
    std::uint32_t partners_from(std::uint32_t node, std::uint32_t page, std::uint32_t seen) const;
    void unlink(Die& die, std::uint8_t queue, std::uint32_t before, std::uint32_t node);
    void grow();
    void count_overtaken(Die& die, std::uint8_t granted, std::uint64_t granted_arrival);

    const std::uint32_t dies_per_channel_;
    const std::uint32_t limit_;
    const std::uint32_t look_ahead_;
    const bool multi_plane_;
    const bool independent_plane_read_;
    const std::uint32_t all_planes_;
    bool more_queues_ = false;                   // than one a class
    std::uint32_t queues_ = kFlashClassCount;
    Queues reads_ = kReadClasses;
    std::array<FlashClass, kQueues> class_of_{};
    Effort effort_;
    std::vector<Die> dies_;
    std::vector<Channel> channels_;
    std::vector<Node> nodes_;
    std::uint32_t free_ = kNone;
    std::uint64_t arrivals_ = 0;
};

}  // namespace ssdtlm
