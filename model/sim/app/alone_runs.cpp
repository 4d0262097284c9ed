// SPDX-License-Identifier: Apache-2.0
#include "sim/app/alone_runs.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "common/report/error.h"
#include "sim/app/exit_code_of.h"
#include "sim/app/interrupts.h"
#include "sim/app/run.h"
#include "sim/results/flow_json.h"

namespace ssdtlm {

namespace {

/// The same run, but for what is recorded and shown of it.
RunOptions options_alone(const RunOptions& all, const std::string& flow) {
    RunOptions o = all;
    std::string folder;
    for (const char c : flow)
        folder += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ? c : '_';
    o.output_directory = (std::filesystem::path(all.output_directory) / "alone" / folder).string();
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
    pid_t child = 0;
    {
        const Interrupts::HeldBack no_signal;
        child = ::fork();
        if (child > 0) Interrupts::tell(child);
    }
    if (child < 0)
        throw UserError(Problem{"--alone", fmt::format("no other process can be started (error {})", errno),
                                "a process for each flow", "end other programs"});
    if (child == 0) {
        const int code = exit_code_of([&] { return run_simulation(config, options); });
        std::fflush(nullptr);
        ::_exit(code);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    Interrupts::tell(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(ExitCode::internal);
}

}  // namespace

AloneRuns run_alone(const SsdConfig& config, const RunOptions& options, const std::vector<std::string>& flows) {
    AloneRuns all;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const RunOptions alone = options_alone(options, flows[i]);
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
