// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace ssdtlm {

/// Runs `work`. Returns the exit code (ExitCode) that it returns, or the one of what it throws. The message goes to
/// standard error.
int exit_code_of(const std::function<int()>& work);

}  // namespace ssdtlm
