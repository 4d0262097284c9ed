// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ssdtlm {

/// Returns JSON as text. `indent`: blanks for each level; -1 puts all on one line. Bytes that are not UTF-8 become
/// U+FFFD, because the library would throw, and names of files may hold any bytes.
inline std::string json_dump(const nlohmann::ordered_json& json, int indent = 2) {
    return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ssdtlm
