// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "controller/precondition/steady_state.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Write amplification for blocks of n units, when `density` x n units of a full block are valid on average.
/// Precondition: the law is not `other`, 0 < density < 1. Van Houdt (SIGMETRICS 2013); Desnoyers (SYSTOR 2012).
double write_amplification(const ChoiceLaw& law, std::uint32_t n, double density);
/// Share of the units of full blocks that is valid when the whole drive is written.
double steady_density(const SsdConfig& c);

}  // namespace ssdtlm
