// SPDX-License-Identifier: Apache-2.0
#include "host_block/nass/nass.h"

#include <algorithm>

namespace ssdtlm {

void Nass::window_ends(const std::vector<ContextUse>& uses, SimTime now) {
    model_.window_ends(uses, now - begin_);
    for (std::size_t i = 0; i < limits_.size(); ++i) limit_ps_[i] = limit_ps(static_cast<std::uint32_t>(i), now);
    begin_ = now;
    ended_ = 0;
    const std::vector<NassFeatures>& features = model_.features();
    if (config_.aggre) aggre_ = nass_aggre_limits(config_, features, weights_, depth_, aggre_);
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const NassFeatures& f = features[i];
        const bool stream = config_.seq && f.active && f.sequential > config_.seq_share_ppm * 1e-6 &&
                            f.request_bytes < config_.seq_bytes;
        probes_[i].window_ends(config_, stream, f.bytes_per_s, depth_);
        limits_[i] = std::min(aggre_[i], probes_[i].limit(depth_));
        least_[i] = std::min(least_[i], limits_[i]);
    }
}

}  // namespace ssdtlm
