// SPDX-License-Identifier: Apache-2.0
// Turns TOML text into raw entries in the order of the text. No other file uses the TOML library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/config/raw_value.h"
#include "common/report/error.h"

namespace ssdtlm {

/// Reads a document. Places are "<name>:<line>:<col>". A table is an entry of its own, before its keys. If there is a
/// syntax error or a key that is defined twice, one problem is appended and nothing is returned.
std::vector<RawEntry> read_toml(std::string_view text, const std::string& name, std::vector<Problem>& problems);

/// Reads the file at `path`. If it cannot be read, a problem is appended.
std::vector<RawEntry> read_toml_file(const std::string& path, const std::string& name, std::vector<Problem>& problems);

/// Reads the "key=value" of a --set option. A value that is no TOML counts as a string without quotes.
std::vector<RawEntry> read_assignment(const std::string& text, std::vector<Problem>& problems);

}  // namespace ssdtlm
