// SPDX-License-Identifier: Apache-2.0
// Makes a guest the host of an NVMe drive, in place of the model's own host: `ssdtlm serve`.
#pragma once

#include "host_vfio/guest_service.h"
#include "sim/host/host_side.h"

namespace ssdtlm {

/// Returns the maker of the host; `service` must outlive the host.
HostMaker make_vfio_side(GuestService& service);

}  // namespace ssdtlm
