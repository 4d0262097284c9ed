// SPDX-License-Identifier: Apache-2.0
// Samples a run at random instants and counts the waits: the host for a slot of its queue, the controller for its fetch
// window, the write buffer for a program that may start, and so on. A sample is a yes or no of each part, or the share
// of its members that say yes. The share of samples is the share of time, within 3 % (two standard deviations at 512
// samples). The hot path pays nothing for it.
//
// The samples are spread evenly over a run of unknown length: when there are kMost of them, every second one is dropped
// and the interval doubles. Each is at a random moment of its interval, so that it is not synchronous with anything.
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

    /// `system` must outlive it, and must be told that its entries survive a loss of power.
    explicit LimitSampler(SsdSystem& system) : system_(system), random_(system.config.run.seed, 0x6C696D69u) {
        looks_.reserve(kMost);
    }

    /// Looks from now on.
    void start();
    /// Drops all samples so far.
    void forget() { looks_.clear(); }
    /// Ends the looks.
    void stop();

    /// The state at the last sample: the first one at which the workload had no more requests. It is empty if the
    /// workload had more to the end.
    const std::optional<SsdSystem::BusySnapshot>& all_taken() const { return all_taken_; }
    std::size_t looks() const { return looks_.size(); }
    /// Shares of the looks, by WaitKind.
    WaitShares shares() const;

private:
    static constexpr Ps kFirst{10'000'000};  ///< 10 us

    void look();
    void look_again();
    void host(WaitShares& now) const;
    void device(WaitShares& now) const;
    double flash_work() const;

    SsdSystem& system_;
    Random random_;
    Ps interval_ = kFirst;
    Agenda::Entry next_;
    bool looking_ = false;
    std::vector<std::array<float, kWaitKinds>> looks_;
    std::optional<SsdSystem::BusySnapshot> all_taken_;
};

}  // namespace ssdtlm
