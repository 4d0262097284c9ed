// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/queue_plan.h"

#include <algorithm>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

QueuePlan::QueuePlan(const HostConfig& config, const Workload& workload)
    : config_(config), tenant_of_job_(workload.jobs()) {
    if (config.tenants == Tenants::one) return;
    for (std::uint32_t job = 0; job < tenant_of_job_.size(); ++job) {
        tenant_of_job_[job] = workload.tenant(job);
        tenants_ = std::max(tenants_, tenant_of_job_[job] + 1);
    }
}

void QueuePlan::deal(std::uint32_t pairs) {
    if (tenants_ > pairs)
        throw UserError(Problem{
            "host.tenants", std::to_string(tenants_) + " tenants share " + std::to_string(pairs) + " queue pairs",
            "a queue pair for each", "raise host.queue_pairs and nvme.max_queue_pairs, or set host.tenants = \"one\""});
    std::vector<std::uint32_t> jobs_of(tenants_);
    pair_of_.clear();
    for (const std::uint32_t tenant : tenant_of_job_) {
        const std::uint32_t own = (pairs - tenant + tenants_ - 1) / tenants_;
        pair_of_.push_back(tenant + tenants_ * (jobs_of[tenant]++ % own));
    }
}

}  // namespace ssdtlm
