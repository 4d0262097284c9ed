// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controller/nvme/admin/admin_kind.h"

namespace ssdtlm {

/// Begins what NvmeMemory::sanitize says: at the command, and again from the start when the power comes back.
void begin_sanitize(AdminContext& c);

}  // namespace ssdtlm
