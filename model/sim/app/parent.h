// SPDX-License-Identifier: Apache-2.0
// A simulation that belongs to another process ends with it, also when that one is killed.
#pragma once

namespace ssdtlm {

/// The environment variable with the number of the process that this one belongs to.
inline constexpr const char* kParentVariable = "SSDTLM_PARENT";

/// When kParentVariable is set, the kernel kills this process at the end of the thread that started it; at once when
/// that process is gone already. Throws UserError for a value that is no number.
void end_with_parent();

}  // namespace ssdtlm
