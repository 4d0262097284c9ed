// SPDX-License-Identifier: Apache-2.0
// The contexts that the I/O scheduler tells apart. Without tenants each job is a context, like a process. With tenants
// each tenant is a context, as the host sees a virtual machine as one process. Kernel-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host_block/block_config.h"
#include "host_block/ports/block_request.h"

namespace ssdtlm {

class BlockContexts {
public:
    BlockContexts(const Workload& workload, const BlockConfig& config, bool by_tenant) {
        for (std::uint32_t job = 0; job < workload.jobs(); ++job) {
            const IoPriority said = workload.priority(job);
            IoContext c;
            c.number = by_tenant ? workload.tenant(job) : job;
            c.io_class = said.io_class;
            c.level = said.level;
            buffered_.push_back(said.buffered);
            count_ = std::max(count_, c.number + 1);
            if (c.number < config.weights.size())
                c.weight = config.weights[c.number];
            else if (said.weight != 0)
                c.weight = said.weight;
            of_job_.push_back(c);
        }
        // A context has the weight and priority of its first job. All of its jobs use them.
        std::vector<const IoContext*> first(count_, nullptr);
        for (IoContext& c : of_job_) {
            if (first[c.number] == nullptr) first[c.number] = &c;
            c = *first[c.number];
        }
        weights_.assign(count_, 100);
        for (const IoContext& c : of_job_) weights_[c.number] = c.weight;
    }

    std::uint32_t count() const { return count_; }
    const IoContext& of_job(std::uint32_t job) const { return of_job_[job]; }
    /// True: nobody waits for the job's writes.
    bool is_buffered(std::uint32_t job) const { return buffered_[job]; }
    /// The weight of each context.
    const std::vector<std::uint32_t>& weights() const { return weights_; }

private:
    std::vector<IoContext> of_job_;
    std::vector<bool> buffered_;  // by job
    std::vector<std::uint32_t> weights_;
    std::uint32_t count_ = 0;
};

}  // namespace ssdtlm
