// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_latency_target.h"

#include <algorithm>

namespace ssdtlm {

FioLatencyTarget::FioLatencyTarget(const FioJob& job, SimTime now)
    : job_(job), high_(job.iodepth), window_start_(now) {}

void FioLatencyTarget::new_window(SimTime now) {
    window_start_ = now;
    ios_ = 0;
    late_ = 0;
}

FioLatencyTarget::Step FioLatencyTarget::completed(Ps latency, SimTime now) {
    ++ios_;
    if (latency > job_.latency_target) {
        if (job_.latency_percentile == 100.0) return depth_ == 1 ? Step::impossible : failed(now);
        ++late_;
    }
    if (now - window_start_ < job_.latency_window) return Step::none;
    const double within = 100.0 * static_cast<double>(ios_ - late_) / static_cast<double>(ios_);
    return within >= job_.latency_percentile ? succeeded(now) : failed(now);
}

FioLatencyTarget::Step FioLatencyTarget::failed(SimTime now) {
    if (depth_ == 1) return Step::none;  // as in fio, the window goes on, and may still succeed
    high_ = depth_;
    if (depth_ == low_) --low_;
    depth_ = (depth_ + low_) / 2;
    stable_ = 0;
    new_window(now);
    return Step::lowered;
}

FioLatencyTarget::Step FioLatencyTarget::succeeded(SimTime now) {
    const std::uint32_t before = depth_;
    low_ = depth_;
    // Bisection would stay here for ever. After three good windows in a row it tries a depth of one more.
    if (depth_ + 1 == high_ && ++stable_ >= 3) {
        ++high_;
        stable_ = 0;
    }
    depth_ = high_ != job_.iodepth ? (depth_ + high_) / 2 : depth_ * 2;
    depth_ = std::min(depth_, job_.iodepth);
    new_window(now);
    if (depth_ != before) return Step::changed;
    if (job_.latency_run) return Step::none;
    if (final_) return Step::done;
    final_ = true;
    return Step::final_run;
}

}  // namespace ssdtlm
