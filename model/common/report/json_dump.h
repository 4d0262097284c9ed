// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ssdtlm {

/// JSON as text, indented by two blanks; in one line with -1. Names of files may hold any bytes: bytes that are not
/// UTF-8 are written as U+FFFD, since the library would throw.
inline std::string json_dump(const nlohmann::ordered_json& json, int indent = 2) {
    return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ssdtlm
