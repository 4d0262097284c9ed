// SPDX-License-Identifier: Apache-2.0
#include "sim/app/python_commands.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "common/report/error.h"
#include "sim/installation.h"
#include "sim/version.h"

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {

constexpr const char* kInterpreter = "bin/python3";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool runs(const fs::path& program) {
    return ::access(program.c_str(), X_OK) == 0;
}

/// The user's data folder by the XDG Base Directory Specification. python/ssdtlm/setup.py makes the environment there.
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
    std::vector<fs::path> places = installations();
    places.insert(places.begin(), binary.parent_path());
    for (const fs::path& place : places)
        for (fs::path folder = place; folder.has_relative_path(); folder = folder.parent_path())
            if (::access((folder / "pyvenv.cfg").c_str(), R_OK) == 0 && runs(folder / kInterpreter))
                return folder / kInterpreter;
    for (const fs::path& environment : {fs::path(SSDTLM_BUILD_PYTHON), user_data_folder() / "ssdtlm" / "python"})
        if (environment.is_absolute() && runs(environment / kInterpreter)) return environment / kInterpreter;
    return "python3";
}

fs::path find_python_package(const fs::path& binary) {
    std::vector<fs::path> folders{binary.parent_path().parent_path().parent_path()};
    for (const fs::path& prefix : installations()) folders.push_back(prefix / "share" / "ssdtlm" / "python");
    folders.emplace_back(SSDTLM_SOURCE_PYTHON);
    std::error_code error;
    for (const fs::path& folder : folders)
        if (fs::is_regular_file(folder / "ssdtlm" / "__main__.py", error)) return folder;
    return {};
}

std::vector<std::string> python_line(const std::string& command, const std::string& module,
                                     const std::vector<std::string>& words) {
    std::error_code error;
    const fs::path binary = fs::read_symlink("/proc/self/exe", error);
    const fs::path package = find_python_package(binary);
    if (package.empty())
        throw UserError({command, "the Python package that belongs to " + binary.string() + " is not there",
                         "<prefix>/share/ssdtlm/python beside <prefix>/bin",
                         "install again with cmake --install, pip or apt"});
    // A run may start several commands, but the folder is added once.
    const std::string before = variable("PYTHONPATH");
    if (before != package && before.rfind(package.string() + ":", 0) != 0)
        ::setenv("PYTHONPATH", (package.string() + (before.empty() ? "" : ":" + before)).c_str(), 1);
    // Without this, Python would import a folder "ssdtlm" in the working folder instead of the package.
    ::setenv("PYTHONSAFEPATH", "1", 1);
    ::setenv("SSDTLM_BINARY", binary.c_str(), 1);
    ::setenv("SSDTLM_BINARY_VERSION", kVersion, 1);

    std::vector<std::string> line{find_python(binary), "-m", module};
    line.insert(line.end(), words.begin(), words.end());
    return line;
}

Problem no_python(const std::string& command, const std::string& python, int number) {
    return {command, "is written in Python, and " + python + " cannot be started: " + std::strerror(number),
            "Python 3.11 or later", "apt-get install python3, or name an interpreter in SSDTLM_PYTHON"};
}

void become_python(const std::vector<std::string>& words) {
    const std::string command = "ssdtlm " + words.front();
    std::vector<std::string> line = python_line(command, "ssdtlm", words);
    std::vector<char*> argv;
    for (std::string& word : line) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::fflush(nullptr);
    // An interrupt waits until the package handles it (interrupts.py): the interpreter would print a traceback.
    sigset_t interrupt;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    ::sigprocmask(SIG_BLOCK, &interrupt, nullptr);
    ::execvp(argv.front(), argv.data());
    const int error = errno;
    ::sigprocmask(SIG_UNBLOCK, &interrupt, nullptr);
    throw UserError(no_python(command, line.front(), error));
}

}  // namespace ssdtlm
