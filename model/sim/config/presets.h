// SPDX-License-Identifier: Apache-2.0
// The devices that come with the program, and how a device on the command line is found.
#pragma once

#include <string>
#include <vector>

namespace ssdtlm {

struct Preset {
    std::string name;  ///< file name without .toml
    std::string path;
    std::string description;
};

struct DeviceFile {
    std::string path;   ///< to open
    std::string shown;  ///< in messages and origins: what the user gave, or "<preset>.toml"
};

/// Folders with presets, in the order of search: beside the executable's prefix (share/ssdtlm/configs/device), then the
/// source tree that the program was built from.
std::vector<std::string> preset_folders();
/// All presets, by name; a name found in several folders counts once.
std::vector<Preset> presets();
/// An existing file, or a preset of that name. Throws UserError.
DeviceFile find_device(const std::string& path_or_preset);

}  // namespace ssdtlm
