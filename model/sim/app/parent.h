// SPDX-License-Identifier: Apache-2.0
// A simulation that belongs to another process ends with that process, even if it is killed.
#pragma once

namespace ssdtlm {

/// The environment variable with the number of the process to which this one belongs.
inline constexpr const char* kParentVariable = "SSDTLM_PARENT";

/// If kParentVariable is set, the kernel kills this process when the thread that started it ends. If that has ended
/// already, the process ends at once. Throws UserError for a value that is no number.
void end_with_parent();

}  // namespace ssdtlm
