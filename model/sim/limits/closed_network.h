// SPDX-License-Identifier: Apache-2.0
// Computes how throughput grows with the number of commands and with the speed of resources. It is a mean value
// analysis with Schweitzer's approximation (Bard and Schweitzer 1979). The busy shares of a run tell how much of each
// resource a command needs, and how many commands there were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/results/run_summary.h"

namespace ssdtlm {

/// A closed network of queues. Its demands follow from the busy shares.
class ClosedNetwork {
public:
    explicit ClosedNetwork(const std::vector<ResourceUse>& resources) {
        for (std::size_t r = 0; r < resources.size(); ++r)
            for (const double u : resources[r].busy)
                if (u > 1e-4) stations_.push_back({r, std::min(u, kAlmostOne)});
        double sum = 0;
        for (const Station& s : stations_) sum += s.busy;
        if (sum > 1) commands_ = zero(1, 1e9, [this](double n) { return held(1, n, {}) - n; });
    }
    /// True: at most one command at a time uses the resources.
    bool is_idle() const { return commands_ == 0; }
    /// The throughput with `times` times the commands, and with the resources in `faster` twice as fast, divided by the
    /// present one.
    double throughput(double times, const std::vector<std::size_t>& faster) const {
        const double n = commands_ * times;
        double most = 0;
        for (const Station& s : stations_) most = std::max(most, demand(s, faster));
        return zero(0, n / (most * (n - 1) + 1e-12) * (1 - 1e-9), [&](double x) { return n - held(x, n, faster); });
    }

private:
    static constexpr double kAlmostOne = 0.9995;
    struct Station {
        std::size_t resource;
        double busy;
    };
    static double demand(const Station& s, const std::vector<std::size_t>& faster) {
        return std::find(faster.begin(), faster.end(), s.resource) == faster.end() ? s.busy : s.busy / 2;
    }
    /// The number of commands at all stations, with x times the present throughput and n commands in the network.
    double held(double x, double n, const std::vector<std::size_t>& faster) const {
        double sum = 0;
        for (const Station& s : stations_) {
            const double u = x * demand(s, faster);
            sum += u / (1 - u * (n - 1) / n);
        }
        return sum;
    }
    /// Finds the zero of a decreasing function.
    template <class F>
    static double zero(double low, double high, F f) {
        for (int i = 0; i < 80; ++i) {
            const double middle = low + (high - low) / 2;
            (f(middle) > 0 ? low : high) = middle;
        }
        return low;
    }

    std::vector<Station> stations_;
    double commands_ = 0;
};

}  // namespace ssdtlm
