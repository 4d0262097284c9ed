// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ssdtlm {

/// JSON as text, indented by two. Names of files may hold any bytes: what is not UTF-8 is written as U+FFFD, since the
/// library would throw.
inline std::string json_dump(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ssdtlm
