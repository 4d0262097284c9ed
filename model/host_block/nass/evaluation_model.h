// SPDX-License-Identifier: Apache-2.0
// The evaluation model of NASS. It describes each context's requests by what was counted in a window, smoothed over
// windows. The paper's own formulas are not public; these are designed after its abstract. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "host_block/nass/context_use.h"
#include "host_block/nass/nass_config.h"

namespace ssdtlm {

/// Features of one context.
struct NassFeatures {
    bool active = false;       ///< had a request in the last window
    double intensity = 0;      ///< q: mean requests waiting or in the drive
    double request_bytes = 0;  ///< s: mean
    double sequential = 0;     ///< seq: share of requests that continue the one before
    double reads = 0;          ///< r: share
    double tags = 0;           ///< n: mean commands in the drive
    double starved = 0;        ///< h: share of the time in which a request waits and no tag is its own
    double latency_us = 0;     ///< L: mean of a command, from dispatch to completion
    double command_bytes = 0;  ///< mean; above s where requests are merged
    double bytes_per_s = 0;    ///< of the last window, not smoothed
};

class EvaluationModel {
public:
    static constexpr double kNew = 0.25;  ///< weight of a window in the mean over windows

    EvaluationModel(std::uint32_t contexts, std::uint32_t depth)
        : features_(contexts), last_(contexts), depth_(depth) {}

    /// A window of this length has ended; `uses`: sums since the start.
    void window_ends(const std::vector<ContextUse>& uses, Ps length);

    const std::vector<NassFeatures>& features() const { return features_; }
    /// U: mean share of the tags in use, smoothed.
    double utilisation() const { return utilisation_; }
    std::uint64_t windows() const { return windows_; }

private:
    std::vector<NassFeatures> features_;
    std::vector<ContextUse> last_;
    double utilisation_ = 0;
    std::uint64_t windows_ = 0;
    const std::uint32_t depth_;
};

}  // namespace ssdtlm
