// SPDX-License-Identifier: Apache-2.0
#include "host_block/nass/evaluation_model.h"

namespace ssdtlm {

void EvaluationModel::window_ends(const std::vector<ContextUse>& uses, Ps length) {
    const auto time = static_cast<double>(length.count());
    if (time <= 0) return;
    double tags = 0;
    for (std::size_t i = 0; i < features_.size(); ++i) {
        const ContextUse d = uses[i] - last_[i];
        last_[i] = uses[i];
        NassFeatures& f = features_[i];
        // The first window of a context sets the mean, as there is no older one to smooth with.
        const bool first = f.request_bytes == 0 && f.intensity == 0;
        const auto smooth = [first](double& mean, double now) { mean += (first ? 1.0 : kNew) * (now - mean); };
        f.active = d.requests_ps != 0;
        smooth(f.intensity, static_cast<double>(d.requests_ps) / time);
        smooth(f.tags, static_cast<double>(d.tags_ps) / time);
        smooth(f.starved, static_cast<double>(d.starved_ps) / time);
        if (d.arrivals != 0) {
            const auto n = static_cast<double>(d.arrivals);
            smooth(f.request_bytes, static_cast<double>(d.arrived_bytes) / n);
            smooth(f.sequential, static_cast<double>(d.sequential) / n);
            smooth(f.reads, static_cast<double>(d.reads) / n);
        }
        if (d.commands != 0) {
            const auto n = static_cast<double>(d.commands);
            const bool none = f.command_bytes == 0;
            const double weight = none ? 1.0 : kNew;
            f.command_bytes += weight * (static_cast<double>(d.command_bytes) / n - f.command_bytes);
            f.latency_us += weight * (static_cast<double>(d.latency_ps) * 1e-6 / n - f.latency_us);
        }
        f.bytes_per_s = static_cast<double>(d.command_bytes) / (time * 1e-12);
        tags += static_cast<double>(d.tags_ps) / time;
    }
    utilisation_ += (windows_ == 0 ? 1.0 : kNew) * (tags / depth_ - utilisation_);
    ++windows_;
}

}  // namespace ssdtlm
