// SPDX-License-Identifier: Apache-2.0
// fio's latency_target: the search for the largest queue depth at which latency_percentile of a window's I/Os stay
// within the target (fio 3.33, io_u.c: lat_target_*). It starts at depth 1, doubles until it fails, and then bisects.
#pragma once

#include <cstdint>

#include "host_pcie/workload/fio/fio_job.h"

namespace ssdtlm {

class FioLatencyTarget {
public:
    enum class Step : std::uint8_t {
        none,
        changed,    ///< depth() has changed
        lowered,    ///< depth() is lower, so outstanding I/O must end first
        final_run,  ///< the depth is found: outstanding I/O ends, and statistics begin anew
        done,       ///< the final run is over: the job ends
        impossible  ///< not even depth 1 meets the target of all I/Os
    };
    /// `job` must outlive this object.
    FioLatencyTarget(const FioJob& job, SimTime now);

    std::uint32_t depth() const { return depth_; }
    /// One I/O has completed after `latency`.
    Step completed(Ps latency, SimTime now);

private:
    Step failed(SimTime now);
    Step succeeded(SimTime now);
    void new_window(SimTime now);

    const FioJob& job_;
    std::uint32_t depth_ = 1;
    std::uint32_t low_ = 1;
    std::uint32_t high_;
    std::uint32_t stable_ = 0;
    bool final_ = false;
    SimTime window_start_;
    std::uint64_t ios_ = 0;
    std::uint64_t late_ = 0;
};

}  // namespace ssdtlm
