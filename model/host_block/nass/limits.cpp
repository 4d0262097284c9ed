// SPDX-License-Identifier: Apache-2.0
#include "host_block/nass/limits.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ssdtlm {

double nass_cost(const NassConfig& config, const NassFeatures& f) {
    const double kib = f.command_bytes / 1024;
    const auto linear = [kib](Ps command, Ps each) {
        return static_cast<double>(command.count()) + kib * static_cast<double>(each.count());
    };
    return f.reads * linear(config.read_command, config.read_kib) +
           (1 - f.reads) * linear(config.write_command, config.write_kib);
}

std::vector<double> nass_aggressiveness(const NassConfig& config, const std::vector<NassFeatures>& features,
                                        const std::vector<std::uint32_t>& weights) {
    std::vector<double> a(features.size(), 0);
    double taken = 0, weight = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!features[i].active) continue;
        a[i] = features[i].tags * nass_cost(config, features[i]);
        taken += a[i];
        weight += weights[i];
    }
    if (taken > 0)
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] / taken * weight / weights[i];
    return a;
}

std::vector<std::uint32_t> nass_aggre_limits(const NassConfig& config, const std::vector<NassFeatures>& features,
                                             const std::vector<std::uint32_t>& weights, std::uint32_t depth,
                                             const std::vector<std::uint32_t>& before) {
    std::vector<std::uint32_t> limits(features.size(), depth);
    const std::vector<double> a = nass_aggressiveness(config, features, weights);
    const double beyond = 1 + config.delta_ppm * 1e-6;
    double shares = 0;
    std::uint32_t active = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!features[i].active) continue;
        ++active;
        const double cost = nass_cost(config, features[i]);
        if (cost > 0) shares += weights[i] / cost;
    }
    if (active < 2 || shares <= 0) return limits;

    std::vector<bool> limited(a.size(), false);
    for (std::size_t i = 0; i < a.size(); ++i)
        limited[i] = features[i].active && (a[i] > beyond || (before[i] < depth && features[i].intensity > before[i]));
    // The tags that are wanted by contexts that want less than an equal part.
    double wanted = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (features[i].active && !limited[i] && features[i].intensity * active < depth)
            wanted += std::ceil(features[i].intensity);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!limited[i]) continue;
        const double fair = std::floor(depth * (weights[i] / nass_cost(config, features[i])) / shares);
        limits[i] = static_cast<std::uint32_t>(std::max(1.0, std::min(fair, depth - wanted)));
    }
    return limits;
}

void SeqProbe::window_ends(const NassConfig& config, bool is_stream, double bytes_per_s, std::uint32_t depth) {
    if (!is_stream || windows_ == kKeep) {
        *this = SeqProbe();
        if (!is_stream) return;
    }
    if (std::exchange(settling_, false)) return;
    if (unlimited_ == 0) {
        unlimited_ = bytes_per_s;
        limit_ = 1;
        settling_ = true;
    } else if (found_) {
        ++windows_;
    } else if (bytes_per_s >= unlimited_ * config.seq_keep_ppm * 1e-6) {
        found_ = true;
    } else {
        limit_ *= 2;
        settling_ = true;
        if (limit_ >= depth) {
            limit_ = 0;
            found_ = true;
        }
    }
}

}  // namespace ssdtlm
