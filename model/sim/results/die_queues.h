// SPDX-License-Identifier: Apache-2.0
// Samples the number of flash transactions that wait for each die. A sample looks at all dies; commands pay nothing for
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/results/run_summary.h"

namespace ssdtlm {

class DieQueues {
public:
    /// `waiting(die)`: returns the number of transactions that wait for the die now.
    DieQueues(std::uint32_t dies, std::function<std::uint32_t(std::uint32_t)> waiting)
        : waiting_(std::move(waiting)), dies_(dies) {}

    /// Takes a sample at the end of interval `number` (from 1, ascending). Nothing happened in intervals that were
    /// skipped, so they count with the queues of the last sample.
    void look(std::uint64_t number);
    /// Drops all samples up to interval `number`, but keeps the state of the last one.
    void begin(std::uint64_t number);
    /// The figures by die; empty before the first sample.
    std::vector<DieQueue> queues() const;
    std::uint64_t looks() const { return number_ - begin_; }

private:
    struct Die {
        std::uint64_t sum = 0;
        std::uint32_t last = 0;
        std::uint32_t most = 0;
    };
    std::function<std::uint32_t(std::uint32_t)> waiting_;
    std::vector<Die> dies_;
    std::uint64_t number_ = 0, begin_ = 0;
};

}  // namespace ssdtlm
