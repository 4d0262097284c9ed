// SPDX-License-Identifier: Apache-2.0
// Where a run writes: found out before hours of simulation, not after.
#pragma once

#include <string>

namespace ssdtlm {

/// Makes the folder (and its parents) and tries to write into it. Files of an earlier run will be replaced. Throws
/// UserError; `option` names the option in the message.
void prepare_output_directory(const std::string& path, const std::string& option);

/// Of a run that is refused for other reasons: whether the folder could be made and written, as far as that is seen
/// without making it. Throws UserError.
void check_output_directory(const std::string& path, const std::string& option);

/// "results/<device>-<workload file without extension>".
std::string default_output_directory(const std::string& device, const std::string& workload);

}  // namespace ssdtlm
