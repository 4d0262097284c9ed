// SPDX-License-Identifier: Apache-2.0
// NASS, "NCQ-Aware I/O Scheduling for Conventional Solid State Drives" (Fan et al., IPDPS 2019). It decides how many
// commands of each context may be in the drive, under any scheduler. It sets limits at the end of each window. Within a
// window it lends tags by what waits at the moment. Kernel-free.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host_block/nass/limits.h"

namespace ssdtlm {

class Nass {
public:
    /// `weights`: the weight of each context. `depth`: the most commands in the drive.
    Nass(const NassConfig& config, std::vector<std::uint32_t> weights, std::uint32_t depth)
        : config_(config),
          weights_(std::move(weights)),
          depth_(depth),
          model_(static_cast<std::uint32_t>(weights_.size()), depth),
          aggre_(weights_.size(), depth),
          limits_(weights_.size(), depth),
          least_(weights_.size(), depth),
          limit_ps_(weights_.size()),
          probes_(weights_.size()) {}

    /// True: the window has lasted for its time, or has seen enough completions.
    bool window_is_over(SimTime now) const {
        return now >= begin_ + config_.window || ended_ >= config_.window_completions;
    }
    void window_ends(const std::vector<ContextUse>& uses, SimTime now);
    void command_ended() { ++ended_; }

    /// True: one more command of the context may go to the drive. The context has `own` of the `used` tags.
    /// `others_idle`: an active context that is not limited has no waiting request, or the scheduler expects its next
    /// one.
    bool may_dispatch(std::uint32_t context, std::uint32_t own, std::uint32_t used, bool others_idle) const {
        return own < limits_[context] || (config_.anti && others_idle && has_free(used));
    }
    /// AntiBDL: while the scheduler waits for the next request of a context, the others may dispatch as long as less
    /// than half of the tags are in use.
    bool fills_waits(std::uint32_t used) const { return config_.anti && has_free(used) && used < depth_ / 2; }
    bool lends() const { return config_.anti; }
    bool is_limited(std::uint32_t context) const { return limits_[context] < depth_; }
    std::uint32_t limit(std::uint32_t context) const { return limits_[context]; }
    /// True: the limit is that of AggreBDL, not that of SeqBDL.
    bool is_by_aggre(std::uint32_t context) const { return aggre_[context] == limits_[context]; }
    std::uint32_t least_limit(std::uint32_t context) const { return least_[context]; }
    /// The integral of the limit over time since the start, in ps.
    std::int64_t limit_ps(std::uint32_t context, SimTime now) const {
        return limit_ps_[context] + (now - begin_).count() * limits_[context];
    }
    const EvaluationModel& model() const { return model_; }

private:
    bool has_free(std::uint32_t used) const { return used * 1e6 < static_cast<double>(depth_) * config_.theta_ppm; }

    const NassConfig config_;
    const std::vector<std::uint32_t> weights_;
    const std::uint32_t depth_;
    EvaluationModel model_;
    std::vector<std::uint32_t> aggre_;
    std::vector<std::uint32_t> limits_;
    std::vector<std::uint32_t> least_;    // lowest limit of each context over all windows
    std::vector<std::int64_t> limit_ps_;  // by context, up to the end of the last window
    std::vector<SeqProbe> probes_;
    SimTime begin_{};
    std::uint64_t ended_ = 0;
};

}  // namespace ssdtlm
