// SPDX-License-Identifier: Apache-2.0
// fio's steadystate: a window of steadystate_duration with one value a second of a job or reporting group. It is
// attained when the largest deviation from the mean, or the slope, is below the limit (fio 3.33, steadystate.c).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

/// steadystate=: the criterion that ends a job.
struct FioSteadyCriterion {
    bool bandwidth = false;  ///< else IOPS
    bool slope = false;      ///< else the largest deviation from the mean
    bool percent = false;    ///< `limit` is percent of the mean
    double limit = 0.01;
    std::string text = "iops_slope:0.010000%";  ///< fio's spelling, for fio.json
    std::uint32_t seconds = 0;                  ///< steadystate_duration; 0: off
    Ps ramp{0};
};

class FioSteadyState {
public:
    /// `criterion.seconds` > 0.
    explicit FioSteadyState(const FioSteadyCriterion& criterion) : criterion_(criterion) {}

    /// Adds the values of the next second. True: the steady state is attained.
    bool add(std::uint64_t iops, std::uint64_t bytes_per_second);

    const FioSteadyCriterion& criterion() const { return criterion_; }
    bool attained() const { return attained_; }
    /// Value that is compared with the limit, for the last full window. It is in percent of the mean if the limit is.
    double value() const { return value_; }
    double slope() const { return slope_; }
    double deviation() const { return deviation_; }
    /// The values of the window, the oldest first. There are fewer than `seconds` before it is full.
    const std::vector<std::uint64_t>& iops() const { return iops_; }
    const std::vector<std::uint64_t>& bandwidth() const { return bandwidth_; }

private:
    FioSteadyCriterion criterion_;
    std::vector<std::uint64_t> iops_;
    std::vector<std::uint64_t> bandwidth_;
    double value_ = 0;
    double slope_ = 0;
    double deviation_ = 0;
    bool attained_ = false;
};

}  // namespace ssdtlm
