// SPDX-License-Identifier: Apache-2.0
// The rules by which NASS limits contexts, as formulas over features. Only SeqProbe keeps state. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "host_block/nass/evaluation_model.h"

namespace ssdtlm {

/// c: the mean cost of a command of the context in ps, with reads and writes weighted by their shares.
double nass_cost(const NassConfig& config, const NassFeatures& features);

/// a: each context's share of the sum of tags times cost, divided by its share of the weights. A value of 1 is fair;
/// above 1 the context takes more than its share. It is 0 for contexts that are not active.
std::vector<double> nass_aggressiveness(const NassConfig& config, const std::vector<NassFeatures>& features,
                                        const std::vector<std::uint32_t>& weights);

/// AggreBDL. Returns the limit of each context. `before`: the limits that the last call returned. `depth`: the limit of
/// the drive, which is also that of each context that is not limited.
/// - It limits contexts whose aggressiveness is above 1 + delta. A limited context stays limited while it wants more
///   than its limit.
/// - The limits make tags times cost proportional to the weights: depth * (w/c) / sum of (w/c), and at least 1.
/// - It leaves one tag for each request of the contexts that want less than an equal part of the tags. So these
///   contexts always find a free tag.
/// It limits no context while fewer than two are active, because none would gain by it.
std::vector<std::uint32_t> nass_aggre_limits(const NassConfig& config, const std::vector<NassFeatures>& features,
                                             const std::vector<std::uint32_t>& weights, std::uint32_t depth,
                                             const std::vector<std::uint32_t>& before);

/// SeqBDL for one context: seeks the fewest tags under which the context keeps its bandwidth. It measures one window
/// each with a limit of 1, 2, 4 and so on. A low limit can suffice, because sequential requests that wait in the
/// scheduler merge into fewer and larger commands.
class SeqProbe {
public:
    static constexpr std::uint32_t kKeep = 64;  ///< windows until it measures again; assumed

    /// Call it when a window under limit() has ended. `is_stream`: the context's requests are small and sequential.
    void window_ends(const NassConfig& config, bool is_stream, double bytes_per_s, std::uint32_t depth);
    std::uint32_t limit(std::uint32_t depth) const { return limit_ == 0 ? depth : limit_; }

private:
    std::uint32_t limit_ = 0;  // 0: none
    double unlimited_ = 0;     // bandwidth without a limit; 0: not measured
    bool found_ = false;
    bool settling_ = true;  // the window after a change does not count, as it holds requests from before
    std::uint32_t windows_ = 0;
};

}  // namespace ssdtlm
