// SPDX-License-Identifier: Apache-2.0
// Steady state under uniformly random overwrites, by formula: how many units of each full block are valid when very
// many blocks are filled, lose units at random and are collected. The mean-field limit for choices among d blocks is
// that of Van Houdt ("A mean field model for a class of garbage collection algorithms in flash-based solid state
// drives", SIGMETRICS 2013), whose equations telescope here: F_i, the share of victims with fewer than i valid units,
// is also the rate at which blocks go from i valid units to i - 1, which is proportional to i times their number. Among
// all blocks it is greedy. In FIFO order each unit has lived equally long (Desnoyers, "Analytic modeling of SSD write
// performance", SYSTOR 2012).
#pragma once

#include <cstdint>
#include <vector>

#include "common/random/random.h"
#include "controller/ftl/victims/choice_law.h"

namespace ssdtlm {

/// The shares of full blocks of n units that have 0 .. n valid units, when `density` x n are valid on average.
/// Precondition: best_of, 0 < density < 1.
std::vector<double> valid_shares(const ChoiceLaw& law, std::uint32_t n, double density);
/// The share of a block's units that are valid when it is the oldest block. Precondition: 0 < density < 1.
double oldest_share(double density);

/// Valid units of `blocks` full blocks of n units that hold `units` together; those that were sealed first come first.
/// Precondition: not `other`, units <= blocks x n.
std::vector<std::uint32_t> steady_counts(const ChoiceLaw& law, std::uint32_t n, std::uint32_t blocks,
                                         std::uint64_t units, Random& random);

}  // namespace ssdtlm
