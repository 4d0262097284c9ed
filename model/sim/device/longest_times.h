// SPDX-License-Identifier: Apache-2.0
// What a drive tells its host of how long to wait: the longest normal shutdown (RTD3E) and the longest way to CSTS.RDY
// (CAP.TO). Both are bounds, counted as if what can go on side by side went one after the other; a host that waits for
// less gives up a drive that works.
#pragma once

#include "sim/sim_config.h"

namespace ssdtlm {

/// Of a drive with so many bytes for its host.
Ps longest_shutdown(const DeviceConfig& config, std::uint64_t namespace_bytes);
/// Until the commands that the drive has taken have ended: a flush among them waits for as much as a shutdown does.
Ps longest_reset(const DeviceConfig& config, std::uint64_t namespace_bytes);
/// Before the host hears of a completion that the drive has posted: interrupts are coalesced.
Ps longest_held_back(const DeviceConfig& config);
/// Reads of one page, at most.
std::uint32_t reads_of_a_page(const DeviceConfig& config);

}  // namespace ssdtlm
