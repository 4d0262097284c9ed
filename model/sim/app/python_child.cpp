// SPDX-License-Identifier: Apache-2.0
#include "sim/app/python_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sstream>

#include "common/report/error.h"
#include "sim/app/python_commands.h"

namespace ssdtlm {

PythonChild::PythonChild(const std::string& command, const std::string& module, const std::vector<std::string>& words,
                         const std::vector<ChildStream>& streams) {
    std::vector<std::string> line = python_line(command, module, words);
    std::vector<char*> argv;
    for (std::string& word : line) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const ChildStream& s : streams) {
        if (s.parent < 0)
            ::posix_spawn_file_actions_addopen(&actions, s.child, "/dev/null", O_RDWR, 0);
        else
            ::posix_spawn_file_actions_adddup2(&actions, s.parent, s.child);
    }
    // The child must not inherit the signals that the caller blocks. Only an interrupt waits until the package handles
    // it (interrupts.py): the interpreter would print a traceback.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t interrupt;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    ::posix_spawnattr_setsigmask(&attributes, &interrupt);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::fflush(nullptr);  // the output of this process comes before that of the child
    const int error = ::posix_spawnp(&pid_, argv.front(), &actions, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return;
    pid_ = -1;
    throw UserError(no_python(command, line.front(), error));
}

int PythonChild::wait() {
    if (pid_ < 0) return code_;
    int status = 0;
    pid_t ended;
    do ended = ::waitpid(pid_, &status, 0);
    while (ended < 0 && errno == EINTR);
    pid_ = -1;
    code_ = ended < 0 ? 128 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return code_;
}

void check_python(const std::string& command, const std::vector<std::string>& what) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw UserError({command, "no pipe can be made", "", "close some files"});
    std::vector<std::string> words{"python", "check"};
    words.insert(words.end(), what.begin(), what.end());
    std::string said;
    int code = 0;
    try {
        PythonChild child(command, "ssdtlm", words, {{STDOUT_FILENO, -1}, {STDERR_FILENO, ends[1]}});
        ::close(ends[1]);
        ends[1] = -1;
        char some[4096];
        ssize_t n;
        while ((n = ::read(ends[0], some, sizeof some)) > 0 || (n < 0 && errno == EINTR))
            said.append(some, n > 0 ? static_cast<std::size_t>(n) : 0);
        code = child.wait();
    } catch (...) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw;
    }
    ::close(ends[0]);
    if (code == 0) return;
    // The child prints problems in the format of this program, one a line.
    std::vector<Problem> problems;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (code != static_cast<int>(ExitCode::user_error) || colon == std::string::npos) continue;
        problems.push_back({line.substr(0, colon), line.substr(colon + 2), "", ""});
    }
    if (problems.empty()) {
        for (char& c : said)
            if (c == '\n') c = ' ';
        said.erase(said.find_last_not_of(' ') + 1);
        problems.push_back(
            {command,
             "Python cannot say whether it has what is needed (exit code " + std::to_string(code) + "): " + said, "",
             "try `ssdtlm python check`"});
    }
    throw UserError(problems);
}

}  // namespace ssdtlm
