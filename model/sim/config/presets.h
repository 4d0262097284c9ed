// SPDX-License-Identifier: Apache-2.0
// The devices and job files that come with the program, and how they are found by name.
#pragma once

#include <string>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

struct Preset {
    std::string name;  ///< file name without .toml or .fio
    std::string path;
    std::string description;
};

struct DeviceFile {
    std::string path;   ///< to open
    std::string shown;  ///< in messages and origins: what the user gave, or "<preset>.toml"
};

/// All devices, by name. They are looked for in the program's installations (share/ssdtlm/configs/device), then in the
/// source tree that the program was built from. A name found in several folders counts once.
std::vector<Preset> presets();
/// All fio job files (configs/workload), found in the same way. The first sentence of the comment at their top
/// describes them.
std::vector<Preset> shipped_jobs();
/// The problem when the folders with devices (kind "device") or job files ("workload") are missing. It says where the
/// program has looked, and how to repair it.
Problem nothing_shipped(const char* kind, const std::string& where, const std::string& found);
/// Finds an existing file, or a preset of that name. Throws UserError if there is neither.
DeviceFile find_device(const std::string& path_or_preset);

}  // namespace ssdtlm
