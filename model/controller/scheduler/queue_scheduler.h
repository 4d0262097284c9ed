// SPDX-License-Identifier: Apache-2.0
// The common part of all schedulers with queues: lists of waiting requests in order of arrival, the joining of
// multi-plane partners, reads that start on an idle plane, and planes that stay idle because a grant looks at a limited
// number of requests.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "controller/ports/scheduler_port.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm {

struct SchedulerShape {
    std::uint32_t channels = 1;
    std::uint32_t dies_per_channel = 1;
    bool independent_plane_read = false;
    std::uint32_t planes_per_die = kMaxPlanes;
    /// Usual time of an operation in the array, by class, and of a byte on the bus. They give the time that a request
    /// takes on a die.
    std::array<Ps, kFlashClassCount> array_time{};
    Ps byte_time{};
};

class QueueScheduler : public SchedulerPort {
public:
    /// Number of steps of the last answer of grant(). A hardware block that looks at one thing at a time needs a cycle
    /// for each.
    struct Effort {
        std::uint32_t dies = 0;      ///< whose work was tried
        std::uint32_t requests = 0;  ///< looked at
    };
    const Effort& effort() const { return effort_; }

protected:
    QueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape);

    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    struct Node {
        std::uint32_t tag = 0;
        std::uint32_t page = 0;
        std::uint32_t next = kNone;
        std::uint8_t plane = 0;
        std::uint64_t arrival = 0;  ///< smaller is older
    };
    /// A request in a list, and the one before it.
    struct Place {
        std::uint32_t node = kNone;
        std::uint32_t before = kNone;
    };

    static std::uint32_t lowest(std::uint64_t mask) { return static_cast<std::uint32_t>(__builtin_ctzll(mask)); }
    /// Returns the first set bit at or after `from`, else the first set bit.
    static std::uint32_t next_in_turn(std::uint64_t mask, std::uint32_t from) {
        const std::uint64_t after = mask & (~std::uint64_t{0} << (from & 63u));
        return lowest(after != 0 ? after : mask);
    }

    /// Takes a node for a request. It is in no list yet.
    std::uint32_t take_node(const SchedulerRequest& request) {
        if (__builtin_expect(free_ == kNone, 0)) grow();
        const std::uint32_t n = free_;
        Node& node = nodes_[n];
        free_ = node.next;
        node.tag = request.tag;
        node.page = request.page;
        node.next = kNone;
        node.plane = request.plane;
        node.arrival = arrivals_++;
        return n;
    }
    void unlink(std::uint32_t& head, std::uint32_t& tail, std::uint32_t before, std::uint32_t node) {
        const std::uint32_t next = nodes_[node].next;
        (before == kNone ? head : nodes_[before].next) = next;
        if (tail == node) tail = before;
        nodes_[node].next = free_;
        free_ = node;
    }
    /// Joins partners to `first`, which is already unlinked from this list and was followed by `next`. Only the first
    /// request of each plane may join, so that the order within a plane is kept. joined() returns the nodes. Returns
    /// the planes for which a request further back could have joined.
    std::uint32_t join_partners(std::uint32_t& head, std::uint32_t& tail, const Place& first, std::uint32_t next,
                                Grant& out);
    const std::array<std::uint32_t, kMaxPlanes>& joined() const { return joined_; }
    /// Finds the first request of the list, among the first `reach`, that can start on an idle plane of die d. If there
    /// is none and `count` is true, `beyond` gets the idle planes that requests further behind wait for.
    Place find_idle_plane(const GrantQuery& query, std::uint32_t d, std::uint32_t head, std::uint32_t reach, bool count,
                          std::uint32_t& beyond);
    /// Notes that these planes of a die (a bit each) are left idle from now on. `held`: those that were until now.
    static void hold(PlanesHeld& all, std::uint8_t& held, std::uint32_t planes);

    const std::uint32_t dies_per_channel_;
    const std::uint32_t limit_;
    const std::uint32_t look_ahead_;
    const bool multi_plane_;
    const bool independent_plane_read_;
    const std::uint32_t all_planes_;
    Effort effort_;
    std::vector<Node> nodes_;

private:
    void grow();
    std::uint32_t partners_from(std::uint32_t node, std::uint32_t page, std::uint32_t seen) const;
    std::uint32_t idle_planes_from(const GrantQuery& query, std::uint32_t d, std::uint32_t node,
                                   std::uint32_t seen) const;

    std::uint32_t free_ = kNone;
    std::uint64_t arrivals_ = 0;
    std::array<std::uint32_t, kMaxPlanes> joined_{};
};

}  // namespace ssdtlm
