// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/version_macros.h"

namespace ssdtlm {
/// SSDTLM_VERSION_STRING of the library that is linked; the macros are those of the headers.
extern const char* const kVersion;
}  // namespace ssdtlm
