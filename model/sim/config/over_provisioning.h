// SPDX-License-Identifier: Apache-2.0
// The spare flash as a share of the capacity: (flash - capacity) / capacity, as makers of drives state it. The ratio of
// MQSim and SimpleSSD is a share of the flash instead.
#pragma once

#include <cstdint>

#include "sim/sim_config.h"

namespace ssdtlm {

/// The share that the configuration's capacity leaves, however the capacity was given.
double over_provisioning_of(const DeviceConfig& c);

/// The capacity that leaves this share spare, in whole mapping units and logical blocks, rounded down. `share` counts
/// in millionths, as the parameter is read.
std::uint64_t capacity_with(const DeviceConfig& c, double share);

/// The least share, in steps of 0.01 %, that leaves a capacity of `most` bytes or less.
double least_over_provisioning(const DeviceConfig& c, std::uint64_t most);

}  // namespace ssdtlm
