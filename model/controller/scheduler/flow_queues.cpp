// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/flow_queues.h"

#include <algorithm>

namespace ssdtlm {

FlowQueueScheduler::FlowQueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape,
                                       std::vector<std::unique_ptr<FlowPolicy>> policies)
    : QueueScheduler(config, shape), channels_(policies.size()), dies_(policies.size() * shape.dies_per_channel) {
    for (std::size_t c = 0; c < policies.size(); ++c) channels_[c].policy = std::move(policies[c]);
}

std::uint32_t FlowQueueScheduler::queue_of(const SchedulerRequest& request) {
    const std::uint64_t flow = is_read(request.cls) ? channels_[request.channel].policy->flow_of(request.whose) : 0;
    const std::uint64_t d = std::uint64_t{request.channel} * dies_per_channel_ + request.die;
    const auto [at, fresh] =
        queue_by_key_.try_emplace(flow << 32 | (d * kFlashClassCount + static_cast<std::uint64_t>(request.cls)),
                                  static_cast<std::uint32_t>(queues_.size()));
    if (fresh) {
        queues_.emplace_back();
        queues_.back().cls = request.cls;
    }
    return at->second;
}

void FlowQueueScheduler::push(const SchedulerRequest& request) {
    const std::uint32_t n = take_node(request);
    if (n >= requests_.size()) requests_.resize(n + std::size_t{1});
    requests_[n] = request;
    Channel& channel = channels_[request.channel];
    ++channel.queued;
    ++channel.changes;
    channel.working |= std::uint64_t{1} << request.die;
    const std::uint32_t number = queue_of(request);
    Queue& q = queues_[number];
    if (q.waiting++ == 0) {
        Die& d = die(request.channel, request.die);
        q.head = n;
        q.overtaken = 0;
        q.place = static_cast<std::uint32_t>(d.waiting.size());
        d.waiting.push_back(number);
        d.whole_die += !is_read(q.cls);
    } else {
        nodes_[q.tail].next = n;
    }
    q.tail = n;
    channel.policy->pushed(request);
}

bool FlowQueueScheduler::grant_at_once(const SchedulerRequest& request) {
    if (!die(request.channel, request.die).waiting.empty()) return false;
    Channel& channel = channels_[request.channel];
    channel.next_die[0] = request.die + 1u;
    ++channel.changes;
    channel.policy->pushed(request);
    channel.policy->granted(request, 1, request.pushed_at);
    return true;
}

bool FlowQueueScheduler::goes_before(const Channel& channel, std::uint32_t a, std::uint32_t b, SimTime now) const {
    const FlowQueue x = view(queues_[a]), y = view(queues_[b]);
    if (channel.policy->goes_before(x, y, now)) return true;
    return x.arrival < y.arrival && !channel.policy->goes_before(y, x, now);
}

/// Returns the queue that goes next on a die where something waits.
std::uint32_t FlowQueueScheduler::chosen(Channel& channel, Die& die, SimTime now) {
    if (die.asked_at == channel.changes) return die.chosen;
    die.asked_at = channel.changes;
    std::uint32_t best = kNone;
    for (const std::uint32_t q : die.waiting) {
        if (die.starved == 0) {
            if (best == kNone || goes_before(channel, q, best, now)) best = q;
        } else if (queues_[q].starved &&
                   (best == kNone || nodes_[queues_[q].head].arrival < nodes_[queues_[best].head].arrival)) {
            best = q;
        }
    }
    return die.chosen = best;
}

GrantAnswer FlowQueueScheduler::grant(const GrantQuery& query, Grant& out) {
    Channel& channel = channels_[query.channel];
    std::uint64_t ready = query.idle_dies;
    if (independent_plane_read_)
        for (const std::uint64_t dies : query.idle_read_planes) ready |= dies;
    std::uint64_t candidates = 0;
    for (ready &= channel.working; ready != 0; ready &= ready - 1) {
        const std::uint32_t d = lowest(ready);
        const FlashClass cls = queues_[chosen(channel, die(query.channel, d), query.now)].cls;
        const bool starts = (query.idle_dies >> d & 1u) != 0 || is_read(cls);  // else a plane of it is idle
        if ((query.classes & class_bit(cls)) != 0 && starts) candidates |= std::uint64_t{1} << d;
    }
    effort_ = Effort{};
    std::uint32_t& turn = channel.next_die[(query.classes & kProgramClasses) != 0 ? 1 : 0];
    for (; candidates != 0;) {
        const std::uint32_t d = next_in_turn(candidates, turn);
        ++effort_.dies;
        Die& work = die(query.channel, d);
        bool granted = true;
        if (independent_plane_read_ && is_read(queues_[work.chosen].cls)) {
            granted = grant_idle_plane(channel, query, d, work, out);
        } else {
            ++effort_.requests;
            take(channel, query, d, work, work.chosen, Place{queues_[work.chosen].head, kNone}, multi_plane_, out);
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

bool FlowQueueScheduler::grant_idle_plane(Channel& channel, const GrantQuery& query, std::uint32_t d, Die& die,
                                          Grant& out) {
    // Other reads may use a plane that the chosen queue does not want, but not while a program or erase waits for the
    // whole die.
    order_.assign(1, die.chosen);
    if (die.whole_die == 0) {
        for (const std::uint32_t q : die.waiting)
            if (q != die.chosen && (query.classes & class_bit(queues_[q].cls)) != 0) order_.push_back(q);
        std::sort(order_.begin() + 1, order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return goes_before(channel, a, b, query.now); });
    }
    // A starved program or erase may not be passed by requests that skip their queue's busy head.
    const bool only_heads =
        die.starved != 0 && std::any_of(die.waiting.begin(), die.waiting.end(), [this](std::uint32_t q) {
            return queues_[q].starved && !is_read(queues_[q].cls);
        });
    std::uint32_t beyond = 0;
    for (const std::uint32_t q : order_) {
        const Place place =
            find_idle_plane(query, d, queues_[q].head, only_heads ? 1 : look_ahead_, !only_heads, beyond);
        if (place.node == kNone) continue;
        take(channel, query, d, die, q, place, false, out);
        return true;
    }
    hold(channel.held, die.held, beyond);
    return false;
}

void FlowQueueScheduler::take(Channel& channel, const GrantQuery& query, std::uint32_t d, Die& die,
                              std::uint32_t number, Place place, bool join, Grant& out) {
    hold(channel.held, die.held, 0);
    Queue& q = queues_[number];
    const std::uint32_t next = nodes_[place.node].next;
    out.die = static_cast<std::uint16_t>(d);
    out.cls = q.cls;
    out.count = 1;
    out.tags[0] = nodes_[place.node].tag;
    unlink(q.head, q.tail, place.before, place.node);
    if (join && next != kNone) hold(channel.held, die.held, join_partners(q.head, q.tail, place, next, out));
    if (place.before == kNone) {
        q.overtaken = 0;
        die.starved -= q.starved;
        q.starved = false;
    }
    q.waiting -= out.count;
    if (q.waiting == 0) {
        die.waiting[q.place] = die.waiting.back();
        queues_[die.waiting[q.place]].place = q.place;
        die.waiting.pop_back();
        die.whole_die -= !is_read(q.cls);
        if (die.waiting.empty()) channel.working &= ~(std::uint64_t{1} << d);
    }
    count_overtaken(channel, die, number, nodes_[place.node].arrival);
    ++channel.changes;
    for (std::uint32_t i = 0; i < out.count; ++i)
        channel.policy->granted(requests_[i == 0 ? place.node : joined()[i]], out.count, query.now);
}

void FlowQueueScheduler::count_overtaken(const Channel& channel, Die& die, std::uint32_t granted,
                                         std::uint64_t granted_arrival) {
    if (limit_ == 0) return;
    const bool by_all = channel.policy->overtaking() == FlowPolicy::Overtaking::by_all_others;
    for (const std::uint32_t number : die.waiting) {
        Queue& q = queues_[number];
        if (number == granted || nodes_[q.head].arrival >= granted_arrival ||
            (!by_all && q.cls == queues_[granted].cls))
            continue;
        if (++q.overtaken < limit_ || q.starved) continue;
        q.starved = true;
        ++die.starved;
    }
}

std::string FlowQueueScheduler::dump(std::uint16_t channel) const {
    std::string text;
    for (std::uint32_t d = 0; d < dies_per_channel_; ++d) {
        const Die& die = dies_[channel * dies_per_channel_ + d];
        if (die.waiting.empty()) continue;
        ClassSet waiting = 0, starved = 0;
        for (const std::uint32_t q : die.waiting) {
            waiting |= class_bit(queues_[q].cls);
            if (queues_[q].starved) starved |= class_bit(queues_[q].cls);
        }
        const bool known = die.asked_at == channels_[channel].changes;
        text += "  die " + std::to_string(d) + ": waiting " + class_names(waiting) + " in " +
                std::to_string(die.waiting.size()) + " queues; starved " + class_names(starved) + "; next " +
                (known ? class_names(class_bit(queues_[die.chosen].cls)) : "not asked") + "\n";
    }
    return text;
}

}  // namespace ssdtlm
