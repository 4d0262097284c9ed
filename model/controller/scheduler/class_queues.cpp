// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/class_queues.h"

namespace ssdtlm {

ClassQueueScheduler::ClassQueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape)
    : QueueScheduler(config, shape), dies_(shape.channels * shape.dies_per_channel), channels_(shape.channels) {}

std::uint8_t ClassQueueScheduler::oldest(const DieWork& work, ClassSet classes) {
    std::uint32_t best = lowest(classes);
    for (classes &= classes - 1; classes != 0; classes &= classes - 1) {
        const std::uint32_t c = lowest(classes);
        if (work.arrival[c] < work.arrival[best]) best = c;
    }
    return static_cast<std::uint8_t>(best);
}

void ClassQueueScheduler::push(const SchedulerRequest& request) {
    const std::uint32_t n = take_node(request);
    Channel& channel = channels_[request.channel];
    ++channel.queued;
    Die& d = die(request.channel, request.die);
    const auto cls = static_cast<std::uint8_t>(request.cls);
    Fifo& fifo = d.fifo[cls];
    const ClassSet waiting = d.work.waiting, me = bit(cls);
    if ((waiting & me) != 0) {
        nodes_[fifo.tail].next = n;
        fifo.tail = n;
        return;
    }
    fifo = Fifo{n, 0};
    d.work.waiting = waiting | me;
    d.work.head[cls] = n;
    d.work.arrival[cls] = nodes_[n].arrival;
    if (waiting == 0) {
        choose_class(channel, request.die, d, cls);
        return;
    }
    forget_choice(channel, request.die, d);
    choose_class(channel, request.die, d, next_class(d));
}

bool ClassQueueScheduler::grant_at_once(const SchedulerRequest& request) {
    if (die(request.channel, request.die).work.waiting != 0) return false;
    channels_[request.channel].next_die[0] = request.die + 1u;
    return true;
}

/// Precondition: something waits.
inline std::uint8_t ClassQueueScheduler::next_class(const Die& die) const {
    const ClassSet waiting = die.work.waiting;
    if (die.starved != 0) return oldest(die.work, die.starved);
    const std::uint8_t cls = choose(die.work);
    if (__builtin_expect(cls >= kFlashClassCount || (waiting >> cls & 1u) == 0, 0)) refuse_choice(die, cls);
    return cls;
}

__attribute__((noinline, cold)) void ClassQueueScheduler::refuse_choice(const Die& die, std::uint8_t cls) const {
    throw SchedulerFault("choose() returned class " + std::to_string(cls) + " for die " +
                         std::to_string((&die - dies_.data()) % dies_per_channel_) +
                         "; waiting there: " + class_names(die.work.waiting));
}

inline void ClassQueueScheduler::choose_class(Channel& channel, std::uint32_t d, Die& die, std::uint8_t cls) {
    die.chosen = cls;
    channel.dies_choosing[cls] |= std::uint64_t{1} << d;
    channel.chosen |= bit(cls);
}

inline void ClassQueueScheduler::forget_choice(Channel& channel, std::uint32_t d, const Die& die) {
    std::uint64_t& dies = channel.dies_choosing[die.chosen];
    dies &= ~(std::uint64_t{1} << d);
    if (dies == 0) channel.chosen &= ~bit(die.chosen);
}

GrantAnswer ClassQueueScheduler::grant(const GrantQuery& query, Grant& out) {
    Channel& channel = channels_[query.channel];
    std::uint64_t wanting = 0;
    std::uint64_t wanting_read = 0;
    for (ClassSet classes = query.classes & channel.chosen; classes != 0; classes &= classes - 1) {
        const std::uint32_t c = lowest(classes);
        wanting |= channel.dies_choosing[c];
        if ((kReadClasses >> c & 1u) != 0) wanting_read |= channel.dies_choosing[c];
    }
    std::uint64_t candidates = wanting & query.idle_dies;
    if (independent_plane_read_) {
        std::uint64_t some_plane = 0;
        for (const std::uint64_t dies : query.idle_read_planes) some_plane |= dies;
        candidates |= wanting_read & some_plane;
    }
    effort_ = Effort{};
    std::uint32_t& turn = channel.next_die[(query.classes & kProgramClasses) != 0 ? 1 : 0];
    while (candidates != 0) {
        const std::uint32_t d = next_in_turn(candidates, turn);
        ++effort_.dies;
        Die& work = die(query.channel, d);
        bool granted = true;
        if (independent_plane_read_ && (kReadClasses >> work.chosen & 1u) != 0) {
            granted = grant_idle_plane(channel, query, d, work, out);
        } else {
            ++effort_.requests;
            take(channel, d, work, work.chosen, Place{work.work.head[work.chosen], kNone}, multi_plane_, out);
        }
        if (granted) {
            turn = d + 1;
            channel.queued -= out.count;
            return GrantAnswer::granted;
        }
        candidates &= ~(std::uint64_t{1} << d);
    }
    return GrantAnswer::nothing;
}

__attribute__((noinline)) bool ClassQueueScheduler::grant_idle_plane(Channel& channel, const GrantQuery& query,
                                                                     std::uint32_t d, Die& die, Grant& out) {
    // Other reads may use a plane that the chosen class does not want, but not while a program or erase waits for the
    // whole die.
    ClassSet classes = bit(die.chosen);
    if ((die.work.waiting & ~kReadClasses) == 0) classes |= die.work.waiting & query.classes;
    // A starved program or erase may not be passed by requests that skip their queue's busy head.
    const bool only_heads = (die.starved & ~kReadClasses) != 0;
    std::uint32_t beyond = 0;
    constexpr ClassSet kEnd = ClassSet{1} << kFlashClassCount;
    for (std::uint32_t c = die.chosen; classes != 0; c = lowest(classes | kEnd)) {
        classes &= ~bit(c);
        const Place place =
            find_idle_plane(query, d, die.work.head[c], only_heads ? 1 : look_ahead_, !only_heads, beyond);
        if (place.node == kNone) continue;
        take(channel, d, die, static_cast<std::uint8_t>(c), place, false, out);
        return true;
    }
    hold(channel.held, die.held, beyond);
    return false;
}

inline void ClassQueueScheduler::take(Channel& channel, std::uint32_t d, Die& die, std::uint8_t cls, Place place,
                                      bool join, Grant& out) {
    if (__builtin_expect(die.held != 0, 0)) hold(channel.held, die.held, 0);
    const Node& node = nodes_[place.node];
    const std::uint32_t next = node.next;
    out.die = static_cast<std::uint16_t>(d);
    out.cls = static_cast<FlashClass>(cls);
    out.count = 1;
    out.tags[0] = node.tag;
    std::uint32_t& head = die.work.head[cls];
    unlink(head, die.fifo[cls].tail, place.before, place.node);
    if (join && next != kNone)
        if (const std::uint32_t planes = join_partners(head, die.fifo[cls].tail, place, next, out);
            __builtin_expect(planes != 0, 0))
            hold(channel.held, die.held, planes);
    const ClassSet me = bit(cls);
    if (head == kNone)
        die.work.waiting &= ~me;
    else
        die.work.arrival[cls] = nodes_[head].arrival;
    if (place.before == kNone) {
        die.fifo[cls].overtaken = 0;
        die.starved &= ~me;
    }
    if ((die.work.waiting & ~me) != 0) count_overtaken(die, cls, node.arrival);
    forget_choice(channel, d, die);
    if (die.work.waiting != 0) choose_class(channel, d, die, next_class(die));
}

__attribute__((noinline)) void ClassQueueScheduler::count_overtaken(Die& die, std::uint8_t granted,
                                                                    std::uint64_t granted_arrival) {
    if (limit_ == 0) return;
    for (ClassSet waiting = die.work.waiting & ~bit(granted); waiting != 0; waiting &= waiting - 1) {
        const std::uint32_t c = lowest(waiting);
        if (die.work.arrival[c] < granted_arrival && ++die.fifo[c].overtaken >= limit_) die.starved |= bit(c);
    }
}

std::string ClassQueueScheduler::dump(std::uint16_t channel) const {
    std::string text;
    for (std::uint32_t d = 0; d < dies_per_channel_; ++d) {
        const Die& die = dies_[channel * dies_per_channel_ + d];
        if (die.work.waiting == 0) continue;
        text += "  die " + std::to_string(d) + ": waiting " + class_names(die.work.waiting) + "; starved " +
                class_names(die.starved) + "; next " + class_names(bit(die.chosen)) + "\n";
    }
    return text;
}

}  // namespace ssdtlm
