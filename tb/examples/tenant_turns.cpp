// SPDX-License-Identifier: Apache-2.0
// A scheduler policy that remembers: tenants go in turn, by what each was granted, in proportion to a list of weights.
// All that docs/extending.md says of such a policy is here; `weighted` of the model counts bytes or time, and bounds
// what a tenant may catch up.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "controller/scheduler/flow_queues.h"

namespace ssdtlm {
namespace {

class TenantTurns final : public FlowPolicy {
public:
    explicit TenantTurns(std::vector<std::int64_t> weights) : weights_(std::move(weights)) {}

    std::uint32_t flow_of(const WorkTag& whose) const override { return whose.tenant; }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime) const override {
        return turns_of(a.first.whose.tenant) < turns_of(b.first.whose.tenant);
    }
    void granted(const SchedulerRequest& request, std::uint32_t, SimTime) override {
        const std::uint16_t tenant = request.whose.tenant;
        if (turns_.size() <= tenant) turns_.resize(tenant + std::size_t{1});
        turns_[tenant] +=
            1.0 / static_cast<double>(tenant != 0 && tenant <= weights_.size() ? weights_[tenant - 1] : 1);
    }

private:
    double turns_of(std::uint16_t tenant) const { return tenant < turns_.size() ? turns_[tenant] : 0; }
    const std::vector<std::int64_t> weights_;
    std::vector<double> turns_;  // by tenant
};

const SchedulerPolicies::Registered kTenantTurns{
    {"tenant_turns",
     "tenants in turn, by their weights",
     {policy_integers("weights", {})
          .range("1", "1000")
          .says("Weights of tenants 1, 2, ...; 1 for all others")
          .from("assumed")},
     [](const SchedulerSetup& setup, const PolicySettings& own) {
         return flow_scheduler(setup, [&] { return std::make_unique<TenantTurns>(own.numbers("weights")); });
     }}};

}  // namespace
}  // namespace ssdtlm
