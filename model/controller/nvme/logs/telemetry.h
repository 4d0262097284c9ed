// SPDX-License-Identifier: Apache-2.0
// Telemetry logs 07h and 08h (NVMe 1.4 §5.14.1.7, §5.14.1.8): a header block of 512 bytes and data area 1, which holds
// the controller's counters as lines of text.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/nvme/admin/admin_kind.h"

namespace ssdtlm {

void write_telemetry(const AdminContext& c, std::uint8_t lid, std::vector<std::uint8_t>& page);

}  // namespace ssdtlm
