// SPDX-License-Identifier: Apache-2.0
#include "sim/app/output_directory.h"

#include <filesystem>
#include <fstream>

#include "common/report/error.h"

namespace ssdtlm {
namespace fs = std::filesystem;

void prepare_output_directory(const std::string& path, const std::string& option) {
    const auto fail = [&](const std::string& what) {
        throw UserError({option + " " + path, what, "a folder that can be written", "choose another one"});
    };
    std::error_code error;
    fs::create_directories(path, error);
    if (error) fail("cannot be made: " + error.message());
    if (!fs::is_directory(path, error)) fail("is not a folder");
    const fs::path probe = fs::path(path) / ".ssdtlm-probe";
    {
        std::ofstream out(probe);
        out << "writable\n";
        if (!out.flush()) fail("cannot be written");
    }
    fs::remove(probe, error);
}

std::string default_output_directory(const std::string& device, const std::string& workload) {
    return (fs::path("results") / (device + "-" + fs::path(workload).stem().string())).string();
}

}  // namespace ssdtlm
