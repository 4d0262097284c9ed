// SPDX-License-Identifier: Apache-2.0
// A guest before an NVMe drive, in place of the host that the model brings: `ssdtlm serve`.
#pragma once

#include "host_vfio/guest_service.h"
#include "sim/host/host_side.h"

namespace ssdtlm {

/// Makes it; `service` must outlive it.
HostMaker make_vfio_side(GuestService& service);

}  // namespace ssdtlm
