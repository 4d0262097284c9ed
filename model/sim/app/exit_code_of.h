// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace ssdtlm {

/// The exit code (ExitCode) that `work` returns, or that belongs to what it throws, which is said on standard error.
int exit_code_of(const std::function<int()>& work);

}  // namespace ssdtlm
