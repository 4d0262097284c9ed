// SPDX-License-Identifier: Apache-2.0
// Delivers an interrupt at the right time of the guest's clock.
#pragma once

#include <cstdint>

#include "host_vfio/irqs.h"
#include "host_vfio/pacer.h"

namespace ssdtlm::vfio {

/// Sends a message of that vector. Without a guest's clock it is sent at once. Otherwise it is sent when that clock has
/// reached `now`, and the clock stands until the guest has seen it. So the guest cannot notice how long the host takes.
/// Simulated time stands still meanwhile.
void tell(Irqs& irqs, std::uint32_t vector, SimTime now, Pacer& pacer);

}  // namespace ssdtlm::vfio
