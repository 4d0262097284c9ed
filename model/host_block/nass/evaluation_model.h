// SPDX-License-Identifier: Apache-2.0
// The evaluation model of NASS. It describes each context by features that are counted in a window and smoothed over
// windows. The paper's formulas are not public; the model's own follow its abstract. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "host_block/nass/context_use.h"
#include "host_block/nass/nass_config.h"

namespace ssdtlm {

/// The features of one context. The letters are those of limits.h.
struct NassFeatures {
    bool active = false;       ///< it had a request in the last window
    double intensity = 0;      ///< q: mean requests waiting or in the drive
    double request_bytes = 0;  ///< s: mean size of a request
    double sequential = 0;     ///< seq: share of requests that continue the one before
    double reads = 0;          ///< r: share of reads among the requests
    double tags = 0;           ///< n: mean commands in the drive
    double starved = 0;        ///< h: share of the time in which a request waits and the context has no tag
    double latency_us = 0;     ///< L: mean time of a command from dispatch to completion
    double command_bytes = 0;  ///< mean size of a command; above s where requests are merged
    double bytes_per_s = 0;    ///< of the last window, not smoothed
};

class EvaluationModel {
public:
    static constexpr double kNew = 0.25;  ///< weight of the newest window in the mean over windows

    EvaluationModel(std::uint32_t contexts, std::uint32_t depth)
        : features_(contexts), last_(contexts), depth_(depth) {}

    /// Call it when a window of this length has ended. `uses`: the sums of each context since the start.
    void window_ends(const std::vector<ContextUse>& uses, Ps length);

    const std::vector<NassFeatures>& features() const { return features_; }
    /// U: the share of the tags that is in use, smoothed over windows.
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
