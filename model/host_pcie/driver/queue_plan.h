// SPDX-License-Identifier: Apache-2.0
// Assigns queue pairs to jobs and tenants. The jobs of a tenant use that tenant's pairs in turn. Each tenant has as
// many pairs as any other, or one more.
#pragma once

#include <cstdint>
#include <vector>

#include "host_pcie/driver/host_config.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class QueuePlan {
public:
    QueuePlan(const HostConfig& config, const Workload& workload);

    /// Deals out the pairs that the controller has granted. Throws UserError when there are fewer pairs than tenants.
    void deal(std::uint32_t pairs);
    /// All jobs share the drive's only queue, so the drive cannot tell tenants apart.
    void deal_one() { pair_of_.assign(tenant_of_job_.size(), 0); }

    /// Pairs are numbered from 0 on. Precondition: dealt.
    std::uint32_t pair_of(std::uint32_t job) const { return pair_of_[job]; }
    /// The tenant that the controller is told; 0: there are no tenants.
    std::uint16_t tenant_of(std::uint32_t pair) const {
        return static_cast<std::uint16_t>(config_.tenants == Tenants::one ? 0 : pair % tenants_ + 1);
    }
    std::uint8_t priority_of(std::uint32_t pair) const {
        const std::uint32_t tenant = pair % tenants_;
        return tenant < config_.queue_priorities.size() ? config_.queue_priorities[tenant] : std::uint8_t{0};
    }
    std::uint32_t tenants() const { return tenants_; }

private:
    const HostConfig& config_;
    std::vector<std::uint32_t> tenant_of_job_;
    std::uint32_t tenants_ = 1;
    std::vector<std::uint32_t> pair_of_;  // by job
};

}  // namespace ssdtlm
