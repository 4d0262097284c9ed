// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/class_queues.h"

#include "common/report/error.h"

namespace ssdtlm {
namespace {

std::uint32_t lowest(std::uint64_t mask) { return static_cast<std::uint32_t>(__builtin_ctzll(mask)); }

/// First set bit at or after `from`, else the first set bit.
std::uint32_t next_in_turn(std::uint64_t mask, std::uint32_t from) {
    const std::uint64_t after = mask & (~std::uint64_t{0} << (from & 63u));
    return lowest(after != 0 ? after : mask);
}

}  // namespace

ClassQueueScheduler::ClassQueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape)
    : dies_per_channel_(shape.dies_per_channel),
      limit_(config.starvation_limit),
      look_ahead_(config.look_ahead),
      multi_plane_(config.multi_plane),
      independent_plane_read_(shape.independent_plane_read),
      all_planes_((1u << shape.planes_per_die) - 1),
      dies_(shape.channels * shape.dies_per_channel),
      channels_(shape.channels) {
    SSDTLM_CHECK(shape.dies_per_channel <= kMaxDiesPerChannel, "more dies per channel than a grant query can name");
    SSDTLM_CHECK(shape.planes_per_die <= kMaxPlanes, "more planes than a grant can name");
    for (std::uint32_t c = 0; c < kFlashClassCount; ++c) class_of_[c] = static_cast<FlashClass>(c);
}

std::uint32_t ClassQueueScheduler::add_queue(FlashClass cls) {
    SSDTLM_CHECK(queues_ < kQueues, "a scheduler policy with more queues than a die may have");
    SSDTLM_CHECK((kReadClasses & class_bit(cls)) != 0, "programs and erases of a class have one queue");
    more_queues_ = true;
    reads_ |= bit(queues_);
    class_of_[queues_] = cls;
    return queues_++;
}

std::uint8_t ClassQueueScheduler::oldest(const DieWork& work, Queues queues) {
    std::uint32_t best = lowest(queues);
    for (queues &= queues - 1; queues != 0; queues &= queues - 1) {
        const std::uint32_t q = lowest(queues);
        if (work.arrival[q] < work.arrival[best]) best = q;
    }
    return static_cast<std::uint8_t>(best);
}

__attribute__((noinline)) ClassQueueScheduler::Queues ClassQueueScheduler::queues_of_more(ClassSet classes) const {
    Queues queues = classes;
    for (std::uint32_t q = kFlashClassCount; q < queues_; ++q)
        if ((classes & class_bit(class_of_[q])) != 0) queues |= bit(q);
    return queues;
}

ClassSet ClassQueueScheduler::classes_of(Queues queues) const {
    ClassSet classes = 0;
    for (; queues != 0; queues &= queues - 1) classes |= class_bit(class_of_[lowest(queues)]);
    return classes;
}

void ClassQueueScheduler::push(const SchedulerRequest& request) {
    if (__builtin_expect(free_ == kNone, 0)) grow();
    const std::uint32_t n = free_;
    Node& node = nodes_[n];
    free_ = node.next;
    node.tag = request.tag;
    node.page = request.page;
    node.next = kNone;
    node.plane = request.plane;
    node.arrival = arrivals_++;
    node.whose = request.whose;

    Channel& channel = channels_[request.channel];
    ++channel.queued;
    Die& d = die(request.channel, request.die);
    const auto queue = static_cast<std::uint8_t>(more_queues_ ? queue_of(request) : static_cast<std::uint32_t>(request.cls));
    Fifo& fifo = d.fifo[queue];
    const Queues waiting = d.work.waiting, me = bit(queue);
    if ((waiting & me) != 0) {
        nodes_[fifo.tail].next = n;
        fifo.tail = n;
        return;
    }
    fifo = Fifo{n, 0};
    d.work.waiting = waiting | me;
    d.work.head[queue] = n;
    d.work.arrival[queue] = node.arrival;
    if (waiting == 0) {
        choose_queue(channel, request.die, d, queue);
        return;
    }
    forget_choice(channel, request.die, d);
    choose_queue(channel, request.die, d, next_queue(d));
}

bool ClassQueueScheduler::grant_at_once(const SchedulerRequest& request) {
    if (die(request.channel, request.die).work.waiting != 0) return false;
    channels_[request.channel].next_die[0] = request.die + 1u;
    return true;
}

__attribute__((noinline, cold)) void ClassQueueScheduler::grow() {
    free_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
}

/// Something waits.
inline std::uint8_t ClassQueueScheduler::next_queue(const Die& die) const {
    const Queues waiting = die.work.waiting;
    if (die.starved != 0) return oldest(die.work, die.starved);
    const std::uint8_t queue = choose(die.work);
    if (__builtin_expect(queue >= kQueues || (waiting >> queue & 1u) == 0, 0)) refuse_choice(die, queue);
    return queue;
}

__attribute__((noinline, cold)) void ClassQueueScheduler::refuse_choice(const Die& die, std::uint8_t queue) const {
    throw SchedulerFault("choose() returned queue " + std::to_string(queue) + " for die " +
                         std::to_string((&die - dies_.data()) % dies_per_channel_) + "; waiting there: " +
                         class_names(classes_of(die.work.waiting)));
}

inline void ClassQueueScheduler::choose_queue(Channel& channel, std::uint32_t d, Die& die, std::uint8_t queue) {
    die.chosen = queue;
    channel.dies_choosing[queue] |= std::uint64_t{1} << d;
    channel.chosen |= bit(queue);
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
    for (Queues queues = queues_of(query.classes) & channel.chosen; queues != 0; queues &= queues - 1) {
        const std::uint32_t q = lowest(queues);
        wanting |= channel.dies_choosing[q];
        if ((reads_ >> q & 1u) != 0) wanting_read |= channel.dies_choosing[q];
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
        if (independent_plane_read_ && (reads_ >> work.chosen & 1u) != 0) {
            granted = grant_idle_plane(channel, query, d, work, out);
        } else {
            ++effort_.requests;
            take(channel, d, work, Pick{work.chosen, kNone, work.work.head[work.chosen]}, multi_plane_, out);
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
    Pick pick{};
    std::uint32_t beyond = 0;
    if (!find_idle_plane(query, d, die, pick, beyond)) {
        hold(channel, die, beyond);
        return false;
    }
    take(channel, d, die, pick, false, out);
    return true;
}

/// False: `beyond` are the idle planes for which something waits behind what may be looked at.
bool ClassQueueScheduler::find_idle_plane(const GrantQuery& query, std::uint32_t d, const Die& die, Pick& pick, std::uint32_t& beyond) {
    // Other reads may use a plane that the chosen queue does not want, but not while a program or erase waits for the whole
    // die.
    Queues queues = bit(die.chosen);
    if ((die.work.waiting & ~reads_) == 0) queues |= die.work.waiting & queues_of(query.classes);
    // A starved program or erase may not be passed by requests that skip their queue's busy head.
    const bool only_heads = (die.starved & ~reads_) != 0;
    const std::uint32_t reach = only_heads ? 1 : look_ahead_;
    constexpr Queues kEnd = Queues{1} << kQueues;
    for (std::uint32_t q = die.chosen; queues != 0; q = lowest(queues | kEnd)) {
        queues &= ~bit(q);
        std::uint32_t seen = 0;
        std::uint32_t before = kNone;
        std::uint32_t n = die.work.head[q];
        std::uint32_t depth = 0;
        for (; n != kNone && depth < reach; ++depth) {
            const std::uint32_t plane = 1u << nodes_[n].plane;
            ++effort_.requests;
            if ((seen & plane) == 0 && (query.idle_read_planes[nodes_[n].plane] >> d & 1u) != 0) {
                pick = Pick{static_cast<std::uint8_t>(q), before, n};
                return true;
            }
            seen |= plane;
            if (seen == all_planes_) break;
            before = n;
            n = nodes_[n].next;
        }
        if (depth == reach && n != kNone && !only_heads) beyond |= idle_planes_from(query, d, n, seen);
    }
    return false;
}

/// Idle planes that a queue has something for from this request on, and not before.
__attribute__((noinline, cold)) std::uint32_t ClassQueueScheduler::idle_planes_from(const GrantQuery& query, std::uint32_t d,
                                                                                    std::uint32_t node, std::uint32_t seen) const {
    std::uint32_t idle = 0;
    for (; node != kNone && seen != all_planes_; node = nodes_[node].next) {
        const std::uint32_t plane = 1u << nodes_[node].plane;
        if ((seen & plane) == 0 && (query.idle_read_planes[nodes_[node].plane] >> d & 1u) != 0) idle |= plane;
        seen |= plane;
    }
    return idle;
}

void ClassQueueScheduler::hold(Channel& channel, Die& die, std::uint32_t planes) {
    if (die.held == planes) return;
    channel.held.cuts += die.held == 0;
    channel.held.planes += static_cast<std::uint32_t>(__builtin_popcount(planes)) - static_cast<std::uint32_t>(__builtin_popcount(die.held));
    die.held = static_cast<std::uint8_t>(planes);
}

inline void ClassQueueScheduler::unlink(Die& die, std::uint8_t queue, std::uint32_t before, std::uint32_t node) {
    const std::uint32_t next = nodes_[node].next;
    (before == kNone ? die.work.head[queue] : nodes_[before].next) = next;
    if (die.fifo[queue].tail == node) die.fifo[queue].tail = before;
    nodes_[node].next = free_;
    free_ = node;
}

inline void ClassQueueScheduler::take(Channel& channel, std::uint32_t d, Die& die, Pick pick, bool join, Grant& out) {
    if (__builtin_expect(die.held != 0, 0)) hold(channel, die, 0);
    const bool head_taken = pick.before == kNone;
    const Node& node = nodes_[pick.node];
    const std::uint32_t next = node.next;
    out.die = static_cast<std::uint16_t>(d);
    out.cls = class_of_[pick.queue];
    out.count = 1;
    out.tags[0] = node.tag;
    unlink(die, pick.queue, pick.before, pick.node);
    if (join && next != kNone) join_partners(channel, die, pick, next, out);
    const Queues me = bit(pick.queue);
    if (die.work.head[pick.queue] == kNone)
        die.work.waiting &= ~me;
    else
        die.work.arrival[pick.queue] = nodes_[die.work.head[pick.queue]].arrival;
    if (head_taken) {
        die.fifo[pick.queue].overtaken = 0;
        die.starved &= ~me;
    }
    if ((die.work.waiting & ~me) != 0) count_overtaken(die, pick.queue, node.arrival);
    forget_choice(channel, d, die);
    if (die.work.waiting != 0) choose_queue(channel, d, die, next_queue(die));
}

/// `first`, already unlinked, is granted and was followed by `next`. Only the first request of each plane may come along:
/// order within a plane is kept.
__attribute__((noinline)) void ClassQueueScheduler::join_partners(Channel& channel, Die& die, const Pick& first, std::uint32_t next, Grant& out) {
    std::uint32_t seen = 1u << nodes_[first.node].plane;
    std::uint32_t previous = first.before;
    std::uint32_t n = next;
    for (std::uint32_t depth = 1; n != kNone && depth < look_ahead_ && seen != all_planes_; ++depth) {
        ++effort_.requests;
        const Node& other = nodes_[n];
        const std::uint32_t behind = other.next;
        const std::uint32_t plane = 1u << other.plane;
        if ((seen & plane) == 0 && other.page == nodes_[first.node].page) {
            out.tags[out.count++] = other.tag;
            unlink(die, first.queue, previous, n);
        } else {
            previous = n;
        }
        seen |= plane;
        n = behind;
    }
    if (__builtin_expect(n != kNone && seen != all_planes_, 0)) hold(channel, die, partners_from(n, nodes_[first.node].page, seen));
}

/// Planes whose first request, from this one on, is for that page.
__attribute__((noinline, cold)) std::uint32_t ClassQueueScheduler::partners_from(std::uint32_t node, std::uint32_t page, std::uint32_t seen) const {
    std::uint32_t planes = 0;
    for (; node != kNone && seen != all_planes_; node = nodes_[node].next) {
        const std::uint32_t plane = 1u << nodes_[node].plane;
        if ((seen & plane) == 0 && nodes_[node].page == page) planes |= plane;
        seen |= plane;
    }
    return planes;
}

__attribute__((noinline)) void ClassQueueScheduler::count_overtaken(Die& die, std::uint8_t granted, std::uint64_t granted_arrival) {
    if (limit_ == 0) return;
    for (Queues waiting = die.work.waiting & ~bit(granted); waiting != 0; waiting &= waiting - 1) {
        const std::uint32_t q = lowest(waiting);
        if (die.work.arrival[q] < granted_arrival && ++die.fifo[q].overtaken >= limit_)
            die.starved |= bit(q);
    }
}

std::string ClassQueueScheduler::dump(std::uint16_t channel) const {
    std::string text;
    for (std::uint32_t d = 0; d < dies_per_channel_; ++d) {
        const Die& die = dies_[channel * dies_per_channel_ + d];
        if (die.work.waiting == 0) continue;
        text += "  die " + std::to_string(d) + ": waiting " + class_names(classes_of(die.work.waiting)) + "; starved " +
                class_names(classes_of(die.starved)) + "; next " + class_names(class_bit(class_of_[die.chosen])) + "\n";
    }
    return text;
}

}  // namespace ssdtlm
