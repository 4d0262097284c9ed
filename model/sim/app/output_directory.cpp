// SPDX-License-Identifier: Apache-2.0
#include "sim/app/output_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/report/error.h"

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {
UserError refusal(const std::string& path, const std::string& option, const std::string& what) {
    return UserError({option + " " + path, what, "a folder that can be written", "choose another one"});
}

/// True: the disk is full or broken, so another folder on it does not help.
bool is_full(int reason) {
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO;
}

OutputError full(const std::string& path, const std::string& option, const std::string& reason) {
    return OutputError(Problem{option + " " + path, "cannot be written: " + reason, "",
                               "make room, or choose another folder with -o"});
}

/// Turns a name into one part of a path, because a device may be called "../x" or "WD / 512G".
std::string path_part(std::string name) {
    for (char& c : name)
        if (c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '_';
    if (!name.empty() && name[0] == '.') name[0] = '_';
    return name;
}
}  // namespace

OutputLock::OutputLock(const std::string& path, const std::string& option)
    : folder_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // If a folder cannot be locked (some network file systems), two runs may write to it at the same time.
    if (folder_ < 0 || ::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(folder_);
    throw UserError({option + " " + path, "another run is writing its results there", "a folder for each run",
                     "choose another one with -o, or wait for the end of that run"});
}

OutputLock::~OutputLock() {
    if (folder_ >= 0) ::close(folder_);
}

OutputLock prepare_output_directory(const std::string& path, const std::string& option) {
    const auto fail = [&](const std::string& what) { throw refusal(path, option, what); };
    std::error_code error;
    fs::create_directories(path, error);
    if (error) {
        if (is_full(error.value())) throw full(path, option, error.message());
        fail("cannot be made: " + error.message());
    }
    if (!fs::is_directory(path, error)) fail("is not a folder");
    OutputLock lock(path, option);
    const fs::path probe = fs::path(path) / ".ssdtlm-probe";
    errno = 0;
    std::ofstream out(probe);
    out << "writable\n";
    out.close();
    const int why = errno;
    const bool written = out.good();
    fs::remove(probe, error);
    if (written) return lock;
    if (is_full(why)) throw full(path, option, std::strerror(why));
    fail(std::string("cannot be written") + (why == 0 ? "" : std::string(": ") + std::strerror(why)));
    return lock;
}

void check_output_directory(const std::string& path, const std::string& option) {
    std::error_code error;
    fs::path existing = fs::absolute(path, error).lexically_normal();
    if (!existing.has_filename()) existing = existing.parent_path();  // "out/"
    const bool there = fs::exists(existing, error);
    while (!fs::exists(existing, error) && existing.has_relative_path()) existing = existing.parent_path();
    if (!fs::is_directory(existing, error))
        throw refusal(path, option,
                      there ? "is not a folder" : "cannot be made: " + existing.string() + " is not a folder");
    if (::access(existing.c_str(), W_OK | X_OK) != 0)
        throw refusal(path, option,
                      std::string(there ? "cannot be written: " : "cannot be made: ") + std::strerror(errno));
}

std::string default_output_directory(const std::string& device, const std::string& workload) {
    return (fs::path("results") / (path_part(device) + "-" + path_part(fs::path(workload).stem().string()))).string();
}

}  // namespace ssdtlm
