// SPDX-License-Identifier: Apache-2.0
// Notes on what somebody has set that has no effect on this device, for the terminal, result.json and `config check`.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config_loader.h"

namespace ssdtlm {

/// True: somebody set the parameter so that an effect may be expected, on the command line or to another value than its
/// default.
bool is_meant(const ResolvedConfig& resolved, const std::string& key);
/// The setting as the user wrote it: "--set a=1", or "mine.toml:3:1: a = 1".
std::string said_text(const ResolvedConfig& resolved, const std::string& key);

/// Returns a sentence for each parameter whose conditions (ParameterInfo::conditions) do not hold, for limits that
/// limit nothing, and for options that another one replaces.
std::vector<std::string> notes_on_effect(const ResolvedConfig& resolved);

}  // namespace ssdtlm
