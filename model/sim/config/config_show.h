// SPDX-License-Identifier: Apache-2.0
// A resolved configuration, the schema and the reference page as text.
#pragma once

#include <string>

#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Every key with its canonical value and, as a comment, its origin. Valid TOML that reads back to the same values.
std::string show_toml(const ResolvedConfig& resolved);
/// {"digest": "...", "parameters": {"nand.t_read": {"value": "75us", "origin": "..."}, ...}}
/// Indented by so many; -1: in one line.
std::string show_json(const ResolvedConfig& resolved, int indent = 2);
/// 64-bit FNV-1a of all keys and canonical values, as 16 hexadecimal digits: equal for equal devices, wherever their
/// values come from. Name and description do not count.
std::string config_digest(const SsdConfig& config);

/// JSON Schema of a device file.
std::string config_schema();
/// docs/parameters.md
std::string config_reference();

}  // namespace ssdtlm
