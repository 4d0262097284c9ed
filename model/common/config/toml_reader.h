// SPDX-License-Identifier: Apache-2.0
// Turns TOML text into raw entries in the order of the text. No other file knows the TOML library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/config/raw_value.h"
#include "common/report/error.h"

namespace ssdtlm {

/// Reads a document; places are "<name>:<line>:<col>". Tables come as entries of their own, before their keys.
/// A syntax error or a key defined twice ends the document: one problem is appended and nothing is returned.
std::vector<RawEntry> read_toml(std::string_view text, const std::string& name, std::vector<Problem>& problems);

/// Reads the file at `path`. A file that cannot be read is a problem.
std::vector<RawEntry> read_toml_file(const std::string& path, const std::string& name, std::vector<Problem>& problems);

/// Reads the "key=value" of a --set option. The value is TOML, or else a bare string.
std::vector<RawEntry> read_assignment(const std::string& text, std::vector<Problem>& problems);

}  // namespace ssdtlm
