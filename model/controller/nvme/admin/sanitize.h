// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controller/nvme/admin/admin_kind.h"

namespace ssdtlm {

/// Begins the operation that NvmeMemory::sanitize describes. Called by the command, and again when the power comes
/// back: the operation then starts from the beginning.
void begin_sanitize(AdminContext& c);

}  // namespace ssdtlm
