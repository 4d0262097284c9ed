// SPDX-License-Identifier: Apache-2.0
#include "sim/app/python_commands.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "common/report/error.h"
#include "sim/version.h"

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {

constexpr const char* kInterpreter = "bin/python3";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool runs(const fs::path& program) { return ::access(program.c_str(), X_OK) == 0; }

/// As the XDG Base Directory Specification has it; python/ssdtlm/setup.py makes the environment there.
fs::path user_data_folder() {
    const std::string data = variable("XDG_DATA_HOME");
    if (!data.empty()) return data;
    const std::string home = variable("HOME");
    return home.empty() ? fs::path{} : fs::path(home) / ".local" / "share";
}

}  // namespace

std::string find_python(const fs::path& binary) {
    const std::string named = variable("SSDTLM_PYTHON");
    if (!named.empty()) return named;
    for (fs::path folder = binary.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
        if (::access((folder / "pyvenv.cfg").c_str(), R_OK) == 0 && runs(folder / kInterpreter)) return folder / kInterpreter;
    for (const fs::path& environment : {fs::path(SSDTLM_BUILD_PYTHON), user_data_folder() / "ssdtlm" / "python"})
        if (environment.is_absolute() && runs(environment / kInterpreter)) return environment / kInterpreter;
    return "python3";
}

fs::path find_python_package(const fs::path& binary) {
    const fs::path above = binary.parent_path().parent_path();
    std::error_code error;
    for (const fs::path& folder : {above.parent_path(), above / "share" / "ssdtlm" / "python", fs::path(SSDTLM_SOURCE_PYTHON)})
        if (fs::is_regular_file(folder / "ssdtlm" / "__main__.py", error)) return folder;
    return {};
}

void become_python(const std::vector<std::string>& words) {
    std::error_code error;
    const fs::path binary = fs::read_symlink("/proc/self/exe", error);
    const std::string what = "ssdtlm " + words.front();
    const fs::path package = find_python_package(binary);
    if (package.empty())
        throw UserError({what, "the Python package that belongs to " + binary.string() + " is not there",
                         "<prefix>/share/ssdtlm/python beside <prefix>/bin", "install again with cmake --install, pip or apt"});
    const std::string before = variable("PYTHONPATH");
    ::setenv("PYTHONPATH", (package.string() + (before.empty() ? "" : ":" + before)).c_str(), 1);
    // A folder "ssdtlm" where the user happens to stand is not the package.
    ::setenv("PYTHONSAFEPATH", "1", 1);
    ::setenv("SSDTLM_BINARY", binary.c_str(), 1);
    ::setenv("SSDTLM_BINARY_VERSION", kVersion, 1);

    const std::string python = find_python(binary);
    std::vector<std::string> command{python, "-m", "ssdtlm"};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::fflush(nullptr);
    ::execvp(python.c_str(), argv.data());
    throw UserError({what, "is written in Python, and " + python + " cannot be started: " + std::strerror(errno),
                     "Python 3.11 or later", "apt-get install python3, or name an interpreter in SSDTLM_PYTHON"});
}

}  // namespace ssdtlm
