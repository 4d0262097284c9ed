// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/class_queues.h"

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr std::uint8_t bit(FlashClass c) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(c)); }
constexpr std::uint8_t kReads = bit(FlashClass::host_read) | bit(FlashClass::mapping_read) | bit(FlashClass::gc_read);
constexpr std::uint8_t kPrograms =
    bit(FlashClass::host_write) | bit(FlashClass::mapping_write) | bit(FlashClass::gc_write);

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
      multi_plane_(config.multi_plane),
      independent_plane_read_(shape.independent_plane_read),
      all_planes_((1u << shape.planes_per_die) - 1),
      dies_(shape.channels * shape.dies_per_channel),
      channels_(shape.channels) {
    SSDTLM_CHECK(shape.dies_per_channel <= kMaxDiesPerChannel, "more dies per channel than a grant query can name");
    SSDTLM_CHECK(shape.planes_per_die <= kMaxPlanes, "more planes than a grant can name");
}

std::uint8_t ClassQueueScheduler::oldest(const DieWork& work, std::uint32_t classes) {
    std::uint32_t best = lowest(classes);
    for (classes &= classes - 1; classes != 0; classes &= classes - 1) {
        const std::uint32_t c = lowest(classes);
        if (work.arrival[c] < work.arrival[best]) best = c;
    }
    return static_cast<std::uint8_t>(best);
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

    Channel& channel = channels_[request.channel];
    ++channel.queued;
    Die& d = die(request.channel, request.die);
    const auto cls = static_cast<std::uint8_t>(request.cls);
    Fifo& fifo = d.fifo[cls];
    if (fifo.head != kNone) {
        nodes_[fifo.tail].next = n;
        fifo.tail = n;
        return;
    }
    fifo = Fifo{n, n, 0};
    const bool had_choice = d.work.waiting != 0;
    d.work.waiting = static_cast<std::uint8_t>(d.work.waiting | 1u << cls);
    d.work.arrival[cls] = node.arrival;
    if (!had_choice) {
        choose_class(channel, request.die, d, cls);
        return;
    }
    forget_choice(channel, request.die, d);
    choose_class(channel, request.die, d, next_class(d));
}

bool ClassQueueScheduler::grant_at_once(const SchedulerRequest& request) {
    if (die(request.channel, request.die).work.waiting != 0) return false;
    channels_[request.channel].next_die[0] = request.die + 1u;
    effort_ = Effort{1, 1};
    return true;
}

__attribute__((noinline, cold)) void ClassQueueScheduler::grow() {
    free_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
}

/// Something waits.
inline std::uint8_t ClassQueueScheduler::next_class(const Die& die) const {
    const std::uint32_t waiting = die.work.waiting;
    if ((waiting & (waiting - 1)) == 0) return static_cast<std::uint8_t>(lowest(waiting));  // no policy has a choice
    if (die.starved != 0) return oldest(die.work, die.starved);
    const std::uint8_t cls = choose(die.work);
    if (__builtin_expect(cls >= kFlashClassCount || (waiting >> cls & 1u) == 0, 0)) refuse_choice(die, cls);
    return cls;
}

__attribute__((noinline, cold)) void ClassQueueScheduler::refuse_choice(const Die& die, std::uint8_t cls) const {
    throw SchedulerFault("choose() returned class " + std::to_string(cls) + " for die " +
                         std::to_string((&die - dies_.data()) % dies_per_channel_) + "; waiting there: " + class_names(die.work.waiting));
}

inline void ClassQueueScheduler::choose_class(Channel& channel, std::uint32_t d, Die& die, std::uint8_t cls) {
    die.chosen = cls;
    channel.dies_choosing[cls] |= std::uint64_t{1} << d;
    channel.chosen |= 1u << cls;
}

inline void ClassQueueScheduler::forget_choice(Channel& channel, std::uint32_t d, const Die& die) {
    std::uint64_t& dies = channel.dies_choosing[die.chosen];
    dies &= ~(std::uint64_t{1} << d);
    if (dies == 0) channel.chosen &= ~(1u << die.chosen);
}

GrantAnswer ClassQueueScheduler::grant(const GrantQuery& query, Grant& out) {
    Channel& channel = channels_[query.channel];
    std::uint64_t wanting = 0;
    std::uint64_t wanting_read = 0;
    for (std::uint32_t classes = query.classes & channel.chosen; classes != 0; classes &= classes - 1) {
        const std::uint32_t c = lowest(classes);
        wanting |= channel.dies_choosing[c];
        if ((kReads >> c & 1u) != 0) wanting_read |= channel.dies_choosing[c];
    }
    std::uint64_t candidates = wanting & query.idle_dies;
    if (independent_plane_read_) {
        std::uint64_t some_plane = 0;
        for (const std::uint64_t dies : query.idle_read_planes) some_plane |= dies;
        candidates |= wanting_read & some_plane;
    }
    effort_ = Effort{};
    std::uint32_t& turn = channel.next_die[(query.classes & kPrograms) != 0 ? 1 : 0];
    while (candidates != 0) {
        const std::uint32_t d = next_in_turn(candidates, turn);
        ++effort_.dies;
        Die& work = die(query.channel, d);
        bool granted = true;
        if (independent_plane_read_ && (kReads >> work.chosen & 1u) != 0) {
            granted = grant_idle_plane(channel, query, d, work, out);
        } else {
            ++effort_.requests;
            take(channel, d, work, Pick{work.chosen, kNone, work.fifo[work.chosen].head}, multi_plane_, out);
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
    if (!find_idle_plane(query, d, die, pick)) return false;
    take(channel, d, die, pick, false, out);
    return true;
}

bool ClassQueueScheduler::find_idle_plane(const GrantQuery& query, std::uint32_t d, const Die& die, Pick& pick) {
    // Other read classes may use a plane that the chosen one does not want, but not while a program or erase waits
    // for the whole die.
    std::uint32_t classes = 1u << die.chosen;
    if ((die.work.waiting & ~kReads) == 0) classes |= die.work.waiting & query.classes;
    // A starved program or erase may not be passed by requests that skip their queue's busy head.
    const std::uint32_t reach = (die.starved & ~kReads) != 0 ? 1 : kLookAhead;
    for (std::uint32_t c = die.chosen; classes != 0; c = lowest(classes | 0x100u)) {
        classes &= ~(1u << c);
        std::uint32_t seen = 0;
        std::uint32_t before = kNone;
        std::uint32_t n = die.fifo[c].head;
        for (std::uint32_t depth = 0; n != kNone && depth < reach; ++depth) {
            const std::uint32_t plane = 1u << nodes_[n].plane;
            ++effort_.requests;
            if ((seen & plane) == 0 && (query.idle_read_planes[nodes_[n].plane] >> d & 1u) != 0) {
                pick = Pick{static_cast<std::uint8_t>(c), before, n};
                return true;
            }
            seen |= plane;
            if (seen == all_planes_) break;
            before = n;
            n = nodes_[n].next;
        }
    }
    return false;
}

inline void ClassQueueScheduler::unlink(Fifo& fifo, std::uint32_t before, std::uint32_t node) {
    const std::uint32_t next = nodes_[node].next;
    (before == kNone ? fifo.head : nodes_[before].next) = next;
    if (fifo.tail == node) fifo.tail = before;
    nodes_[node].next = free_;
    free_ = node;
}

inline void ClassQueueScheduler::take(Channel& channel, std::uint32_t d, Die& die, Pick pick, bool join, Grant& out) {
    Fifo& fifo = die.fifo[pick.cls];
    const bool head_taken = pick.before == kNone;
    const Node& node = nodes_[pick.node];
    const std::uint32_t next = node.next;
    out.die = static_cast<std::uint16_t>(d);
    out.cls = static_cast<FlashClass>(pick.cls);
    out.count = 1;
    out.tags[0] = node.tag;
    unlink(fifo, pick.before, pick.node);
    if (join && next != kNone) join_partners(fifo, pick, next, out);
    const auto me = static_cast<std::uint8_t>(1u << pick.cls);
    if (fifo.head == kNone)
        die.work.waiting = static_cast<std::uint8_t>(die.work.waiting & ~me);
    else
        die.work.arrival[pick.cls] = nodes_[fifo.head].arrival;
    if (head_taken) {
        fifo.overtaken = 0;
        die.starved = static_cast<std::uint8_t>(die.starved & ~me);
    }
    if ((die.work.waiting & ~me) != 0) count_overtaken(die, pick.cls, node.arrival);
    forget_choice(channel, d, die);
    if (die.work.waiting != 0) choose_class(channel, d, die, next_class(die));
}

/// `first`, already unlinked, is granted and was followed by `next`. Only the first request of each plane may come along:
/// order within a plane is kept.
__attribute__((noinline)) void ClassQueueScheduler::join_partners(Fifo& fifo, const Pick& first, std::uint32_t next,
                                                                  Grant& out) {
    std::uint32_t seen = 1u << nodes_[first.node].plane;
    std::uint32_t previous = first.before;
    std::uint32_t n = next;
    for (std::uint32_t depth = 1; n != kNone && depth < kLookAhead && seen != all_planes_; ++depth) {
        ++effort_.requests;
        const Node other = nodes_[n];
        const std::uint32_t plane = 1u << other.plane;
        if ((seen & plane) == 0 && other.page == nodes_[first.node].page) {
            out.tags[out.count++] = other.tag;
            unlink(fifo, previous, n);
        } else {
            previous = n;
        }
        seen |= plane;
        n = other.next;
    }
}

__attribute__((noinline)) void ClassQueueScheduler::count_overtaken(Die& die, std::uint8_t granted, std::uint64_t granted_arrival) {
    if (limit_ == 0) return;
    for (std::uint32_t waiting = die.work.waiting & ~(1u << granted); waiting != 0; waiting &= waiting - 1) {
        const std::uint32_t c = lowest(waiting);
        if (die.work.arrival[c] < granted_arrival && ++die.fifo[c].overtaken >= limit_)
            die.starved = static_cast<std::uint8_t>(die.starved | 1u << c);
    }
}

std::string ClassQueueScheduler::dump(std::uint16_t channel) const {
    std::string text;
    for (std::uint32_t d = 0; d < dies_per_channel_; ++d) {
        const Die& die = dies_[channel * dies_per_channel_ + d];
        if (die.work.waiting == 0) continue;
        text += "  die " + std::to_string(d) + ": waiting " + class_names(die.work.waiting) + "; starved " +
                class_names(die.starved) + "; next " + class_names(1u << die.chosen) + "\n";
    }
    return text;
}

}  // namespace ssdtlm
