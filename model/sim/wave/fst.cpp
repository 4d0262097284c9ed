// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/fst.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "common/report/error.h"
#include "common/report/part_file.h"

extern char** environ;

namespace ssdtlm {

namespace {

/// Returns the path of a program; empty if it is not found.
std::string found_in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    const std::string folders = path == nullptr ? "" : path;
    for (std::size_t from = 0; from <= folders.size();) {
        const std::size_t colon = std::min(folders.find(':', from), folders.size());
        const std::string file = folders.substr(from, colon - from) + "/" + program;
        if (access(file.c_str(), X_OK) == 0) return file;
        from = colon + 1;
    }
    return "";
}

}  // namespace

void require_vcd2fst() {
    if (found_in_path("vcd2fst").empty())
        throw UserError(Problem{"command line", "--wave-format fst: the program vcd2fst is not installed", "",
                                "install GTKWave (Debian: apt-get install gtkwave), or use --wave-format vcd"});
}

std::filesystem::path convert_to_fst(const std::filesystem::path& vcd) {
    const std::string program = found_in_path("vcd2fst");
    std::string from = vcd.string();
    const std::filesystem::path fst = std::filesystem::path(vcd).replace_extension(".fst");
    std::string to = part_of(fst).string();
    std::string name = "vcd2fst";
    char* arguments[] = {name.data(), from.data(), to.data(), nullptr};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int status = -1;
    const bool started =
        !program.empty() && posix_spawn(&child, program.c_str(), &quiet, nullptr, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&quiet);
    if (started) waitpid(child, &status, 0);
    std::error_code ignored;
    if (!started || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::filesystem::remove(to, ignored);
        throw OutputError(Problem{from, "vcd2fst could not convert it", "",
                                  "see what `vcd2fst " + from + " " + fst.string() + "` says"});
    }
    publish(fst);
    std::filesystem::remove(vcd, ignored);
    return fst;
}

}  // namespace ssdtlm
