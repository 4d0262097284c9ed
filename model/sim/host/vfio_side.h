// SPDX-License-Identifier: Apache-2.0
// Puts a guest before an NVMe drive, in place of the model's own host: `ssdtlm serve`.
#pragma once

#include "host_vfio/guest_service.h"
#include "sim/host/host_side.h"

namespace ssdtlm {

/// Makes the host; `service` must outlive it.
HostMaker make_vfio_side(GuestService& service);

}  // namespace ssdtlm
