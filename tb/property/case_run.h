// SPDX-License-Identifier: Apache-2.0
// A case from power-on to shutdown, in this process, which can do so once.
#pragma once

#include <nlohmann/json.hpp>

#include "property/drive_case.h"

namespace ssdtlm {

/// What was done, as counts. Throws whatever is wrong.
nlohmann::json run_case(const SsdConfig& config, std::uint32_t depth, const std::vector<DriveOp>& ops);

/// The same in a child process; std::runtime_error with what is wrong, or after `seconds` of the processor.
nlohmann::json run_in_child(const SsdConfig& config, std::uint32_t depth, const std::vector<DriveOp>& ops,
                            unsigned seconds = 240);

}  // namespace ssdtlm
