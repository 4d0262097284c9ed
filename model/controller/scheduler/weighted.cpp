// SPDX-License-Identifier: Apache-2.0
// weighted: tenants share each channel in proportion to their weights, whatever their request sizes and queue depths
// are. It is deficit sharing: the level of a tenant is the service it got, divided by its weight. On each die the
// tenant with the lowest level goes first. A tenant that wants less than its share falls behind by at most catch_up,
// and goes first until it is level again. A level holds for the whole channel: a tenant without work on one die catches
// up on another. Within a tenant the order is that of read_first.
//
// With shares by bytes, the share is what a tenant measures: bytes per second. With shares by die time, it is the cost:
// a small read costs as much as a large one of the same page, and a program as much as many reads. A tenant also pays
// for the work that its writes have caused (collection, erases).
#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "controller/scheduler/flow_queues.h"

namespace ssdtlm {
namespace {

class Weighted final : public FlowPolicy {
public:
    struct Settings {
        std::vector<std::int64_t> weights;  // of tenants 1, 2, ...
        std::int64_t others;                // of each that is not named, and of nobody
        bool die_time;                      // else bytes
        std::uint64_t catch_up;             // requests
        std::array<Ps, kFlashClassCount> array_time;
        Ps byte_time;
    };
    explicit Weighted(Settings settings) : settings_(std::move(settings)) {}

    std::uint32_t flow_of(const WorkTag& whose) const override { return whose.tenant; }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime) const override { return rank(a) < rank(b); }
    void pushed(const SchedulerRequest& request) override {
        Tenant& t = tenant(request.whose.tenant);
        if (t.waiting++ == 0) t.level = std::max(t.level, lowest_level(t));
    }
    void granted(const SchedulerRequest& request, std::uint32_t joined, SimTime) override {
        Tenant& t = tenant(request.whose.tenant);
        --t.waiting;
        const std::uint64_t cost = cost_of(request, joined);
        largest_ = std::max(largest_, cost);
        t.level = std::max(t.level, lowest_level(t));
        front_ = std::max(front_, t.level);
        t.level += cost * kScale / t.weight;
    }
    Overtaking overtaking() const override { return Overtaking::by_other_classes; }
    bool proven() const override { return true; }

private:
    static constexpr std::uint64_t kScale = 1u << 12;  // keeps what a division by the weight cuts off below 0.1 %
    struct Tenant {
        std::uint64_t level = 0;  // bytes or nanoseconds, times kScale, by weight
        std::uint64_t weight = 0;
        std::uint32_t waiting = 0;
    };
    Tenant& tenant(std::uint16_t number) {
        while (tenants_.size() <= number) {
            const std::size_t n = tenants_.size();
            tenants_.push_back(
                {0,
                 static_cast<std::uint64_t>(n != 0 && n <= settings_.weights.size() ? settings_.weights[n - 1]
                                                                                    : settings_.others),
                 0});
        }
        return tenants_[number];
    }
    /// The lowest level a tenant may have, given how far it may be behind the one that is furthest.
    std::uint64_t lowest_level(const Tenant& t) const {
        const std::uint64_t behind = settings_.catch_up * largest_ * kScale / t.weight;
        return front_ > behind ? front_ - behind : 0;
    }
    std::uint64_t cost_of(const SchedulerRequest& r, std::uint32_t joined) const {
        if (!settings_.die_time) return r.bytes;
        const Ps time = settings_.array_time[static_cast<std::size_t>(r.cls)] / joined + settings_.byte_time * r.bytes;
        return static_cast<std::uint64_t>(time.count()) / 1000;
    }
    std::tuple<std::uint64_t, std::uint32_t, std::uint64_t> rank(const FlowQueue& q) const {
        return {tenants_[q.first.whose.tenant].level, group_of(q.first.cls), q.arrival};
    }

    const Settings settings_;
    std::vector<Tenant> tenants_;
    std::uint64_t front_ = 0;    // the highest level that was granted at
    std::uint64_t largest_ = 0;  // cost of a request until now
};

const SchedulerPolicies::Registered kWeighted{
    {"weighted",
     "tenants share in proportion to their weights (host.tenants), also for what their writes cause; within a tenant "
     "as read_first",
     {policy_integers("weights", {})
          .range("1", "1000")
          .says("Weights of tenants 1, 2, ... (host.tenants = by_job). Empty: all are equal")
          .from("assumed"),
      policy_integer("others", 1)
          .range("1", "1000")
          .says("Weight of each tenant that weights does not name, and of work that is nobody's")
          .from("assumed"),
      policy_choice("share_of", {"bytes", "die_time"}, "bytes")
          .says("What is shared. bytes: data on the channel, which is what a tenant measures; die_time: usual time in "
                "the array and on the bus, which is what it costs")
          .from("assumed: bytes as Linux BFQ, die_time as FlashFQ (Shen and Park, ATC '13)"),
      policy_integer("catch_up", 64)
          .range("0", "1000000")
          .says("Requests of the largest size by which a tenant that wanted less than its share may be behind. It goes "
                "first until it has caught up")
          .from("assumed: some rounds over the dies of a channel")},
     [](const SchedulerSetup& s, const PolicySettings& own) {
         const Weighted::Settings settings{own.numbers("weights"),
                                           own.number("others"),
                                           own.text("share_of") == "die_time",
                                           static_cast<std::uint64_t>(own.number("catch_up")),
                                           s.shape.array_time,
                                           s.shape.byte_time};
         return flow_scheduler(s, [&] { return std::make_unique<Weighted>(settings); });
     }}};

}  // namespace
}  // namespace ssdtlm
