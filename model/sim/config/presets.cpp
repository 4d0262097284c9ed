// SPDX-License-Identifier: Apache-2.0
#include "sim/config/presets.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "common/config/toml_reader.h"
#include "common/report/error.h"
#include "sim/installation.h"

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {

/// The folders in which configs/<kind> may be.
std::vector<fs::path> shipped_folders(const char* kind) {
    std::vector<fs::path> folders;
    for (const fs::path& prefix : installations()) folders.push_back(prefix / "share" / "ssdtlm" / "configs" / kind);
    folders.push_back(fs::path(SSDTLM_SOURCE_CONFIGS) / kind);
    return folders;
}

/// The paths, by name, of the files with this extension in configs/<kind>.
std::map<std::string, std::string> shipped_paths(const char* kind, const char* extension) {
    std::map<std::string, std::string> paths;
    for (const auto& folder : shipped_folders(kind)) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(folder, none)) {
            if (entry.path().extension() == extension)
                paths.emplace(entry.path().stem().string(), entry.path().string());
        }
    }
    return paths;
}

std::map<std::string, std::string> preset_paths() {
    return shipped_paths("device", ".toml");
}

/// The first sentence of the comment with which a job file begins.
std::string first_sentence(const std::string& path) {
    std::ifstream in(path);
    std::string text;
    for (std::string line; std::getline(in, line) && line.rfind("; ", 0) == 0;)
        text += (text.empty() ? "" : " ") + line.substr(2);
    const std::size_t stop = text.find(". ");
    return stop == std::string::npos ? text.substr(0, text.find_last_not_of('.') + 1) : text.substr(0, stop);
}

}  // namespace

std::vector<Preset> shipped_jobs() {
    std::vector<Preset> all;
    for (const auto& [name, path] : shipped_paths("workload", ".fio"))
        all.push_back({name, path, first_sentence(path)});
    return all;
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

Problem nothing_shipped(const char* kind, const std::string& where, const std::string& found) {
    std::string folders;
    for (const fs::path& folder : shipped_folders(kind)) folders += (folders.empty() ? "" : ", ") + folder.string();
    return {where, found + ", and nothing that comes with the program is in " + folders, "",
            "install again, or build in the source tree that is there; else name a file"};
}

DeviceFile find_device(const std::string& path_or_preset) {
    std::error_code error;
    // It may also be a fifo, or a file of the shell's <(...).
    if (fs::exists(path_or_preset, error) && !fs::is_directory(path_or_preset, error))
        return {path_or_preset, path_or_preset};
    const auto paths = preset_paths();
    const auto found = paths.find(path_or_preset);
    if (found != paths.end()) return {found->second, found->first + ".toml"};
    if (paths.empty()) throw UserError(nothing_shipped("device", "command line", "no device '" + path_or_preset + "'"));
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
