// SPDX-License-Identifier: Apache-2.0
// SystemC allows one simulation per process, so a test that needs several runs each in a child of its own and takes
// the numbers back through a pipe.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

namespace ssdtlm {

/// Runs `work` in a child process and returns its text. A throw in the child becomes std::runtime_error here.
inline std::string in_child(const std::function<std::string()>& work) {
    int fd[2];
    if (pipe(fd) != 0) throw std::runtime_error("pipe");
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork");
    if (pid == 0) {
        close(fd[0]);
        std::string text;
        int code = 0;
        try {
            text = work();
        } catch (const std::exception& e) {
            text = e.what();
            code = 9;
        }
        std::size_t done = 0;
        while (done < text.size()) {
            const ssize_t n = write(fd[1], text.data() + done, text.size() - done);
            if (n <= 0) break;
            done += static_cast<std::size_t>(n);
        }
        close(fd[1]);
        std::fflush(nullptr);
        _exit(code);
    }
    close(fd[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(fd[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    close(fd[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        text = std::string(WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF ? "it took longer than it may"
                                                                                      : strsignal(WTERMSIG(status))) +
               (text.empty() ? "" : "; " + text);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("child failed: " + text);
    return text;
}

}  // namespace ssdtlm
