// SPDX-License-Identifier: Apache-2.0
#include "sim/version.h"

namespace ssdtlm {
const char* const kVersion = SSDTLM_VERSION_STRING;
}
