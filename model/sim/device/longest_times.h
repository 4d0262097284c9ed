// SPDX-License-Identifier: Apache-2.0
// The times for which a drive asks its host to wait: the longest normal shutdown (RTD3E), and the longest time to
// CSTS.RDY (CAP.TO). Both are upper bounds, as if all parallel work were done in sequence. A host that waits for a
// shorter time gives up a drive that works.
#pragma once

#include "sim/sim_config.h"

namespace ssdtlm {

/// The longest shutdown of a drive. `namespace_bytes`: its capacity for the host.
Ps longest_shutdown(const DeviceConfig& config, std::uint64_t namespace_bytes);
/// The longest time until all commands in the drive have ended. A flush among them may take as long as a shutdown.
Ps longest_reset(const DeviceConfig& config, std::uint64_t namespace_bytes);
/// The longest time between a posted completion and its interrupt, because interrupts are coalesced.
Ps longest_held_back(const DeviceConfig& config);
/// The most reads that one page may need.
std::uint32_t reads_of_a_page(const DeviceConfig& config);

}  // namespace ssdtlm
