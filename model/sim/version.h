// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/version_macros.h"

namespace ssdtlm {
/// The version of the linked library. SSDTLM_VERSION_STRING is that of the headers.
extern const char* const kVersion;
}  // namespace ssdtlm
