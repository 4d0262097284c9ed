// SPDX-License-Identifier: Apache-2.0
// The rules by which NASS limits contexts, as arithmetic on features. They have no memory, except SeqProbe.
// Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "host_block/nass/evaluation_model.h"

namespace ssdtlm {

/// c: what a command of the context costs, in ps, with reads and writes in their shares.
double nass_cost(const NassConfig& config, const NassFeatures& features);

/// a: the context's share of the sum of tags times cost, divided by its share by weight. 1 is fair; above 1 it takes
/// more than its share. It is 0 for contexts that are not active.
std::vector<double> nass_aggressiveness(const NassConfig& config, const std::vector<NassFeatures>& features,
                                        const std::vector<std::uint32_t>& weights);

/// AggreBDL. `before`: the limits that it gave last; `depth`: the limit of the drive, and of contexts that are not
/// limited.
/// - It limits contexts whose aggressiveness is above 1 + delta, and those that were limited and want more than their
///   limit.
/// - Their limit makes tags times cost equal, by weight: depth * (w/c) / sum of (w/c), from 1 on.
/// - It leaves as many tags as the contexts that are not intensive have requests, so these always find one.
/// Nobody is limited if nobody gains by it.
std::vector<std::uint32_t> nass_aggre_limits(const NassConfig& config, const std::vector<NassFeatures>& features,
                                             const std::vector<std::uint32_t>& weights, std::uint32_t depth,
                                             const std::vector<std::uint32_t>& before);

/// SeqBDL, for one context: the fewest tags under which it keeps its bandwidth. It tries 1, 2, 4, ... for a window
/// each, because requests that wait in the scheduler become fewer and larger commands.
class SeqProbe {
public:
    static constexpr std::uint32_t kKeep = 64;  ///< windows until it tries again; assumed

    /// A window has ended under limit(). `is_stream`: its requests are small and sequential.
    void window_ends(const NassConfig& config, bool is_stream, double bytes_per_s, std::uint32_t depth);
    std::uint32_t limit(std::uint32_t depth) const { return limit_ == 0 ? depth : limit_; }

private:
    std::uint32_t limit_ = 0;  // 0: none
    double unlimited_ = 0;     // bandwidth without a limit; 0: not measured
    bool found_ = false;
    bool settling_ = true;  // the window after a change is not looked at: requests of before are in it
    std::uint32_t windows_ = 0;
};

}  // namespace ssdtlm
