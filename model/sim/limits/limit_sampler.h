// SPDX-License-Identifier: Apache-2.0
// Samples a run at random instants and counts the waits, such as the wait for a slot of a queue, or for room in the
// write buffer. A sample of a wait is 0 or 1, or the share of members that wait. The mean of the samples is the share
// of time, within 3 % (two standard deviations at 512 samples). The hot path pays nothing for it.
//
// The samples are spread evenly over a run of unknown length. When there are kMost of them, every second one is dropped
// and the interval doubles. Each sample is at a random instant of its interval, so that it is not synchronous with
// anything in the run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/agenda.h"
#include "sim/limits/wait_kind.h"
#include "sim/ssd_system.h"

namespace ssdtlm {

class LimitSampler {
public:
    static constexpr std::size_t kMost = 512;

    /// `system` must outlive it. The caller must name it to system.survives(), because it samples after a loss of power
    /// as well.
    explicit LimitSampler(SsdSystem& system) : system_(system), random_(system.config.run.seed, 0x6C696D69u) {
        looks_.reserve(kMost);
    }

    /// Starts to sample.
    void start();
    /// Drops all samples so far.
    void forget() { looks_.clear(); }
    /// Stops sampling.
    void stop();

    /// The state at the first sample at which the workload had no more requests, which is the last sample. It is empty
    /// if the workload had requests to the end.
    const std::optional<SsdSystem::BusySnapshot>& all_taken() const { return all_taken_; }
    std::size_t looks() const { return looks_.size(); }
    /// The means of the samples, by WaitKind.
    WaitShares shares() const;

private:
    static constexpr Ps kFirst{10'000'000};  ///< 10 us

    void look();
    void look_again();
    void host(WaitShares& now) const;
    void device(WaitShares& now) const;
    double flash_work() const;
    double die_work() const;

    SsdSystem& system_;
    Random random_;
    Ps interval_ = kFirst;
    Agenda::Entry next_;
    bool looking_ = false;
    std::vector<std::array<float, kWaitKinds>> looks_;
    std::optional<SsdSystem::BusySnapshot> all_taken_;
};

}  // namespace ssdtlm
