// SPDX-License-Identifier: Apache-2.0
// An interrupt at its time by the guest's clock.
#pragma once

#include <cstdint>

#include "host_vfio/irqs.h"
#include "host_vfio/pacer.h"

namespace ssdtlm::vfio {

/// A message of that vector, at once where there is no guest's clock. Else it comes when that clock is there, and the
/// clock stands until the guest has heard of it: how long the host takes for that is nothing that a guest may see.
/// Simulated time stands meanwhile.
void tell(Irqs& irqs, std::uint32_t vector, SimTime now, Pacer& pacer);

}  // namespace ssdtlm::vfio
