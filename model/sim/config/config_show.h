// SPDX-License-Identifier: Apache-2.0
// Writes a resolved configuration, the schema and the reference page as text.
#pragma once

#include <string>

#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Returns every key with its canonical value, and with its origin as a comment. It is valid TOML that reads back to
/// the same values.
std::string show_toml(const ResolvedConfig& resolved);
/// The configuration as JSON: {"digest": "...", "parameters": {"nand.t_read": {"value": "75us", "origin": "..."},
/// ...}}. It is indented by `indent`; -1: in one line.
std::string show_json(const ResolvedConfig& resolved, int indent = 2);
/// 64-bit FNV-1a of all keys and canonical values, as 16 hexadecimal digits. It is equal for equal devices, wherever
/// their values come from. Name and description do not count.
std::string config_digest(const SsdConfig& config);

/// The JSON Schema of a device file.
std::string config_schema();
/// The text of docs/parameters.md.
std::string config_reference();

}  // namespace ssdtlm
