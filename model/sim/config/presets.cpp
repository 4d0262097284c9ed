// SPDX-License-Identifier: Apache-2.0
#include "sim/config/presets.h"

#include <filesystem>
#include <map>
#include <system_error>

#include "common/config/toml_reader.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {

/// Paths by preset name.
std::map<std::string, std::string> preset_paths() {
    std::map<std::string, std::string> paths;
    for (const auto& folder : preset_folders()) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(folder, none)) {
            if (entry.path().extension() == ".toml") paths.emplace(entry.path().stem().string(), entry.path().string());
        }
    }
    return paths;
}

}  // namespace

std::vector<std::string> preset_folders() {
    std::vector<std::string> folders;
    std::error_code error;
    const fs::path exe = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        const fs::path installed = exe.parent_path().parent_path() / "share" / "ssdtlm" / "configs" / "device";
        if (fs::is_directory(installed, error)) folders.push_back(installed.string());
    }
    const fs::path source = SSDTLM_SOURCE_PRESETS;
    if (fs::is_directory(source, error)) folders.push_back(source.string());
    return folders;
}

std::vector<Preset> presets() {
    std::vector<Preset> all;
    for (const auto& [name, path] : preset_paths()) {
        Preset p{name, path, ""};
        std::vector<Problem> ignored;  // `config check` reports them
        for (const auto& e : read_toml_file(path, name, ignored)) {
            if (e.key == "description") p.description = e.value.string;
        }
        all.push_back(std::move(p));
    }
    return all;
}

DeviceFile find_device(const std::string& path_or_preset) {
    std::error_code error;
    if (fs::is_regular_file(path_or_preset, error)) return {path_or_preset, path_or_preset};
    const auto paths = preset_paths();
    const auto found = paths.find(path_or_preset);
    if (found != paths.end()) return {found->second, found->first + ".toml"};
    std::vector<std::string> names;
    std::string allowed = "a file, or one of the presets ";
    for (const auto& [name, path] : paths) {
        if (!names.empty()) allowed += ", ";
        allowed += name;
        names.push_back(name);
    }
    std::string near = nearest(path_or_preset, names);
    for (const auto& n : names) {
        if (near.empty() && !path_or_preset.empty() && n.rfind(path_or_preset, 0) == 0) near = n;
    }
    throw UserError({"command line", "no device '" + path_or_preset + "'", allowed,
                     near.empty() ? "" : "did you mean '" + near + "'?"});
}

}  // namespace ssdtlm
