// SPDX-License-Identifier: Apache-2.0
// Notes on settings of the user that have no effect on this device, for the terminal, result.json and `config check`.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config_loader.h"

namespace ssdtlm {

/// True: the user expects an effect of the parameter, because it was set on the command line or differs from its
/// default.
bool is_meant(const ResolvedConfig& resolved, const std::string& key);
/// The setting as the user wrote it: "--set a=1", or "mine.toml:3:1: a = 1".
std::string said_text(const ResolvedConfig& resolved, const std::string& key);

/// Returns a sentence for each parameter whose conditions (ParameterInfo::conditions) do not hold, for limits that
/// limit nothing, and for options that another one replaces.
std::vector<std::string> notes_on_effect(const ResolvedConfig& resolved);

}  // namespace ssdtlm
