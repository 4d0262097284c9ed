// SPDX-License-Identifier: Apache-2.0
// The running minimum, maximum, mean and deviation of few samples, such as bandwidth per window. Use Histogram for
// latencies, of which there are millions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ssdtlm {

class SampleStat {
public:
    void add(std::uint64_t v) {
        min_ = std::min(min_, v);
        max_ = std::max(max_, v);
        ++count_;
        const double step = static_cast<double>(v) - mean_;  // Welford 1962
        mean_ += step / static_cast<double>(count_);
        squares_ += step * (static_cast<double>(v) - mean_);
    }
    /// Adds up rates of jobs that ran at the same time, as fio does under group_reporting. The sums of squares are
    /// added as well.
    void add_parallel(const SampleStat& other) {
        if (other.count_ == 0) return;
        if (count_ == 0) {
            *this = other;
            return;
        }
        min_ += other.min_;
        max_ += other.max_;
        count_ += other.count_;
        mean_ += other.mean_;
        squares_ += other.squares_;
    }
    std::uint64_t count() const { return count_; }
    std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
    std::uint64_t max() const { return max_; }
    double mean() const { return mean_; }
    double stddev() const { return count_ < 2 ? 0.0 : std::sqrt(squares_ / static_cast<double>(count_ - 1)); }

private:
    std::uint64_t count_ = 0;
    std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t max_ = 0;
    double mean_ = 0.0;
    double squares_ = 0.0;
};

}  // namespace ssdtlm
