// SPDX-License-Identifier: Apache-2.0
#include "sim/app/alone_runs.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "common/report/error.h"
#include "sim/app/exit_code_of.h"
#include "sim/app/interrupts.h"
#include "sim/app/run.h"
#include "sim/results/flow_json.h"

namespace ssdtlm {

namespace {

/// Returns a folder name for each flow: the flow's name without characters that a file name may not have. Equal names
/// get a number.
std::vector<std::string> folders_of(const std::vector<std::string>& flows) {
    std::vector<std::string> all;
    for (const std::string& flow : flows) {
        std::string folder;
        for (const char c : flow)
            folder += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ? c : '_';
        if (folder.find_first_not_of('.') == std::string::npos) folder.assign(folder.size(), '_');
        std::string own = folder;
        for (int n = 2; std::find(all.begin(), all.end(), own) != all.end(); ++n)
            own = folder + "-" + std::to_string(n);
        all.push_back(own);
    }
    return all;
}

/// Returns the command line that does the same run.
std::vector<std::string> words_alone(const RunOptions& all, const std::string& flow, const std::string& directory) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < all.command.size(); ++i) {
        const std::string& word = all.command[i];
        if (word == "-o" || word == "--output")
            ++i;
        else if (word != "--alone" && word.compare(0, 9, "--output=") != 0 &&
                 (word.compare(0, 2, "-o") != 0 || word.size() < 3))
            words.push_back(word);
    }
    words.insert(words.end(), {"--only", flow, "-o", directory});
    return words;
}

/// Returns the options of the same run, but without recordings and without output on the terminal.
RunOptions options_alone(const RunOptions& all, const std::string& flow, const std::string& folder) {
    RunOptions o = all;
    o.output_directory = (std::filesystem::path(all.output_directory) / "alone" / folder).string();
    o.command = words_alone(all, flow, o.output_directory);
    o.only = flow;
    o.alone = o.watch = o.json = o.check_pins = false;
    o.quiet = true;
    o.base.clear();
    o.save_drive.clear();
    o.wave = {};
    o.timeline = {};
    o.report.reset();
    return o;
}

int run_child(const SsdConfig& config, const RunOptions& options) {
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    pid_t child = 0;
    {
        const Interrupts::HeldBack no_signal;
        child = ::fork();
        if (child > 0) {
            // A signal of the terminal reaches only this process. It passes the signal on and waits for the child's
            // results.
            ::setpgid(child, 0);
            Interrupts::tell(child);
            Interrupts::writing();
        } else if (child == 0) {
            ::setpgid(0, 0);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        }
    }
    if (child < 0)
        throw UserError(Problem{"--alone", fmt::format("no other process can be started (error {})", errno),
                                "a process for each flow", "end other programs"});
    if (child == 0) {
        if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::interrupted));
        const int code = exit_code_of([&] { return run_simulation(config, options); });
        std::fflush(nullptr);
        ::_exit(code);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    Interrupts::tell(0);
    if (Interrupts::any()) return static_cast<int>(ExitCode::interrupted);
    return WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(ExitCode::internal);
}

}  // namespace

AloneRuns run_alone(const SsdConfig& config, const RunOptions& options, const std::vector<std::string>& flows) {
    AloneRuns all;
    const std::vector<std::string> folders = folders_of(flows);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const RunOptions alone = options_alone(options, flows[i], folders[i]);
        if (!options.quiet) std::fprintf(stderr, "%s alone, %zu of %zu\n", flows[i].c_str(), i + 1, flows.size());
        all.code = run_child(config, alone);
        if (all.code != static_cast<int>(ExitCode::ok)) {
            std::fprintf(stderr, "ssdtlm: the run of %s alone did not end in order\n", flows[i].c_str());
            return all;
        }
        all.flows.push_back(
            flows_of_json((std::filesystem::path(alone.output_directory) / "result.json").string()).at(i));
    }
    return all;
}

}  // namespace ssdtlm
