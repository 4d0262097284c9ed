// SPDX-License-Identifier: Apache-2.0
// The state of the model at a panic, as text. The owner of the model sets it while the model still exists, before the
// exception leaves its scope. main() prints it behind the message.
#pragma once

#include <string>

namespace ssdtlm {

/// The text; empty if nobody has set it.
std::string& panic_state();

}  // namespace ssdtlm
