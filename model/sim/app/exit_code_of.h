// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace ssdtlm {

/// Runs `work` and returns its exit code (ExitCode). If `work` throws, it returns the exit code for the exception, and
/// writes the message to standard error.
int exit_code_of(const std::function<int()>& work);

}  // namespace ssdtlm
