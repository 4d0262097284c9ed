// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ssdtlm {
/// "0.1.0"; it stands in python/ssdtlm/version.py, which CMake reads.
extern const char* const kVersion;
}
