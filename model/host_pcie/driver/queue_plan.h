// SPDX-License-Identifier: Apache-2.0
// Which queue pair each job submits to, and which tenant each pair serves. The jobs of a tenant take turns over that
// tenant's pairs. Each tenant has as many pairs as any other, or one more.
#pragma once

#include <cstdint>
#include <vector>

#include "host_pcie/driver/host_config.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class QueuePlan {
public:
    QueuePlan(const HostConfig& config, const Workload& workload);

    /// The controller has granted this many pairs. Throws UserError when they are fewer than the tenants.
    void deal(std::uint32_t pairs);
    /// The drive has one queue, which all jobs share: it cannot tell whose a command is.
    void deal_one() { pair_of_.assign(tenant_of_job_.size(), 0); }

    /// Pairs are numbered from 0 on. Precondition: dealt.
    std::uint32_t pair_of(std::uint32_t job) const { return pair_of_[job]; }
    /// Tenant that the controller is told; 0: none in particular.
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
