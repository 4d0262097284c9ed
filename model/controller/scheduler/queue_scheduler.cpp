// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/queue_scheduler.h"

#include "common/report/error.h"

namespace ssdtlm {

QueueScheduler::QueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape)
    : dies_per_channel_(shape.dies_per_channel),
      limit_(config.starvation_limit),
      look_ahead_(config.look_ahead),
      multi_plane_(config.multi_plane),
      independent_plane_read_(shape.independent_plane_read),
      all_planes_((1u << shape.planes_per_die) - 1) {
    SSDTLM_CHECK(shape.dies_per_channel <= kMaxDiesPerChannel, "more dies per channel than a grant query can name");
    SSDTLM_CHECK(shape.planes_per_die <= kMaxPlanes, "more planes than a grant can name");
}

__attribute__((noinline, cold)) void QueueScheduler::grow() {
    free_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
}

QueueScheduler::Place QueueScheduler::find_idle_plane(const GrantQuery& query, std::uint32_t d, std::uint32_t head,
                                                      std::uint32_t reach, bool count, std::uint32_t& beyond) {
    std::uint32_t seen = 0;
    Place place{head, kNone};
    std::uint32_t depth = 0;
    for (; place.node != kNone && depth < reach; ++depth) {
        const std::uint32_t plane = 1u << nodes_[place.node].plane;
        ++effort_.requests;
        if ((seen & plane) == 0 && (query.idle_read_planes[nodes_[place.node].plane] >> d & 1u) != 0) return place;
        seen |= plane;
        if (seen == all_planes_) break;
        place = Place{nodes_[place.node].next, place.node};
    }
    if (depth == reach && place.node != kNone && count) beyond |= idle_planes_from(query, d, place.node, seen);
    return {};
}

/// Idle planes that a list has something for from this request on, and not before.
__attribute__((noinline, cold)) std::uint32_t QueueScheduler::idle_planes_from(const GrantQuery& query, std::uint32_t d,
                                                                               std::uint32_t node,
                                                                               std::uint32_t seen) const {
    std::uint32_t idle = 0;
    for (; node != kNone && seen != all_planes_; node = nodes_[node].next) {
        const std::uint32_t plane = 1u << nodes_[node].plane;
        if ((seen & plane) == 0 && (query.idle_read_planes[nodes_[node].plane] >> d & 1u) != 0) idle |= plane;
        seen |= plane;
    }
    return idle;
}

void QueueScheduler::hold(PlanesHeld& all, std::uint8_t& held, std::uint32_t planes) {
    if (held == planes) return;
    all.cuts += held == 0;
    all.planes +=
        static_cast<std::uint32_t>(__builtin_popcount(planes)) - static_cast<std::uint32_t>(__builtin_popcount(held));
    held = static_cast<std::uint8_t>(planes);
}

__attribute__((noinline)) std::uint32_t QueueScheduler::join_partners(std::uint32_t& head, std::uint32_t& tail,
                                                                      const Place& first, std::uint32_t next,
                                                                      Grant& out) {
    std::uint32_t seen = 1u << nodes_[first.node].plane;
    std::uint32_t previous = first.before;
    std::uint32_t n = next;
    for (std::uint32_t depth = 1; n != kNone && depth < look_ahead_ && seen != all_planes_; ++depth) {
        ++effort_.requests;
        const Node& other = nodes_[n];
        const std::uint32_t behind = other.next;
        const std::uint32_t plane = 1u << other.plane;
        if ((seen & plane) == 0 && other.page == nodes_[first.node].page) {
            joined_[out.count] = n;
            out.tags[out.count++] = other.tag;
            unlink(head, tail, previous, n);
        } else {
            previous = n;
        }
        seen |= plane;
        n = behind;
    }
    return __builtin_expect(n != kNone && seen != all_planes_, 0) ? partners_from(n, nodes_[first.node].page, seen) : 0;
}

/// Returns the planes whose first request, from `node` on, is for this page.
__attribute__((noinline, cold)) std::uint32_t QueueScheduler::partners_from(std::uint32_t node, std::uint32_t page,
                                                                            std::uint32_t seen) const {
    std::uint32_t planes = 0;
    for (; node != kNone && seen != all_planes_; node = nodes_[node].next) {
        const std::uint32_t plane = 1u << nodes_[node].plane;
        if ((seen & plane) == 0 && nodes_[node].page == page) planes |= plane;
        seen |= plane;
    }
    return planes;
}

}  // namespace ssdtlm
