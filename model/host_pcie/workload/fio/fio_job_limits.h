// SPDX-License-Identifier: Apache-2.0
// Checks the limits that a fio job must keep: rate_min, rate_iops_min and max_latency. A job that breaks one ends with
// an error. The rules are those of fio 3.33 (backend.c, __check_min_rate: a settling time of 2 s in each pass, then the
// mean of each rate_cycle).
#pragma once

#include <optional>
#include <string>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/fio/fio_job.h"

namespace ssdtlm {

class FioJobLimits {
public:
    /// `job` must outlive this object.
    explicit FioJobLimits(const FioJob& job) : job_(job) {}
    static bool any(const FioJob& job);

    void begin_pass(SimTime now);
    /// Returns a sentence about a limit that was not kept; nullopt: all were kept.
    std::optional<std::string> completed(const HostRequest& request, Ps latency, SimTime now);

private:
    struct Rate {
        std::uint64_t bytes = 0;
        std::uint64_t ios = 0;
        std::uint64_t checked_bytes = 0;
        std::uint64_t checked_ios = 0;
        SimTime checked_at{};
    };
    const FioJob& job_;
    PerDirection<Rate> rates_{};
    SimTime pass_start_{};
};

}  // namespace ssdtlm
