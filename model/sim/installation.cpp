// SPDX-License-Identifier: Apache-2.0
#include "sim/installation.h"

#include <system_error>

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {
fs::path& library_prefix() {
    static fs::path prefix;
    return prefix;
}
}  // namespace

std::vector<fs::path> installations() {
    std::vector<fs::path> prefixes;
    std::error_code error;
    const fs::path exe = fs::read_symlink("/proc/self/exe", error);
    if (!error) prefixes.push_back(exe.parent_path().parent_path());
    if (!library_prefix().empty()) prefixes.push_back(library_prefix());
    return prefixes;
}

void set_library_prefix(const fs::path& prefix) {
    library_prefix() = prefix;
}

}  // namespace ssdtlm
