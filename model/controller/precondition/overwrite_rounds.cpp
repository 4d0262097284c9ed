// SPDX-License-Identifier: Apache-2.0
#include "controller/precondition/overwrite_rounds.h"

#include <algorithm>
#include <cmath>

namespace ssdtlm {

Steadiness steadiness(const double* rounds) {
    constexpr std::size_t n = Steadiness::kWindow;
    constexpr double middle = (n - 1) / 2.0;
    Steadiness s;
    double numerator = 0, denominator = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(i) - middle;
        s.mean += rounds[i] / n;
        numerator += x * rounds[i];
        denominator += x * x;
    }
    const auto [least, most] = std::minmax_element(rounds, rounds + n);
    s.slope = numerator / denominator;
    s.excursion = (*most - *least) / s.mean;
    s.drift = std::abs(s.slope) * (n - 1) / s.mean;
    s.holds = s.excursion <= Steadiness::kMostExcursion && s.drift <= Steadiness::kMostDrift;
    return s;
}

void OverwriteRounds::end_round(const FtlCounters& now) {
    if ((last_ - begin_).host_units < free_units_) first_ = rounds_.size() + 1;
    rounds_.push_back((now - last_).unit_write_amplification(units_per_page_));
    last_ = last_written_ = now;
    const std::uint64_t written = (now - begin_).host_units;
    while (next_ <= written) next_ += round_units_;
}

}  // namespace ssdtlm
