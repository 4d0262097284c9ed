// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "controller/precondition/steady_state.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// The write amplification for blocks of n units, when density * n units of a full block are valid on average.
/// Precondition: the law is not `other`, and 0 < density < 1. Sources: Van Houdt (SIGMETRICS 2013), Desnoyers (SYSTOR
/// 2012).
double write_amplification(const ChoiceLaw& law, std::uint32_t n, double density);
/// The share of valid units in full blocks, when the whole drive is written.
double steady_density(const SsdConfig& c);

}  // namespace ssdtlm
