// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/report/fio_steady_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ssdtlm {

bool FioSteadyState::add(std::uint64_t iops, std::uint64_t bytes_per_second) {
    if (iops_.size() == criterion_.seconds) {
        iops_.erase(iops_.begin());
        bandwidth_.erase(bandwidth_.begin());
    }
    iops_.push_back(iops);
    bandwidth_.push_back(bytes_per_second);
    if (iops_.size() < criterion_.seconds) return false;

    const std::vector<std::uint64_t>& values = criterion_.bandwidth ? bandwidth_ : iops_;
    const double n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    if (criterion_.slope) {
        // Least squares over the seconds 0 .. n-1.
        double products = 0;
        double squares = 0;
        const double middle = (n - 1) / 2;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double x = static_cast<double>(i) - middle;
            products += x * static_cast<double>(values[i]);
            squares += x * x;
        }
        slope_ = squares == 0 ? 0 : products / squares;
        value_ = slope_;
    } else {
        deviation_ = 0;
        for (const std::uint64_t v : values) deviation_ = std::max(deviation_, std::abs(static_cast<double>(v) - mean));
        value_ = deviation_;
    }
    if (criterion_.percent) value_ = mean == 0 ? 0 : 100 * value_ / mean;
    attained_ = mean != 0 && std::abs(value_) < criterion_.limit;  // nothing done is no steady state
    return attained_;
}

}  // namespace ssdtlm
