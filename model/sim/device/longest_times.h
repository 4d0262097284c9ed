// SPDX-License-Identifier: Apache-2.0
// The times that a drive asks its host to wait: the longest normal shutdown (RTD3E) and the longest time to CSTS.RDY
// (CAP.TO). Both are upper bounds, as if all parallel work were done in sequence. A host that waits for less gives up a
// drive that works.
#pragma once

#include "sim/sim_config.h"

namespace ssdtlm {

/// Longest shutdown of a drive with this many bytes for its host.
Ps longest_shutdown(const DeviceConfig& config, std::uint64_t namespace_bytes);
/// Longest time until the commands that the drive has taken have ended. A flush among them waits for as much as a
/// shutdown does.
Ps longest_reset(const DeviceConfig& config, std::uint64_t namespace_bytes);
/// Longest time before the host hears of a completion that the drive has posted: interrupts are coalesced.
Ps longest_held_back(const DeviceConfig& config);
/// Most reads of one page.
std::uint32_t reads_of_a_page(const DeviceConfig& config);

}  // namespace ssdtlm
