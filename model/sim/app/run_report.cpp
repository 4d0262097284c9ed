// SPDX-License-Identifier: Apache-2.0
#include "sim/app/run_report.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "common/report/all_problems.h"
#include "sim/app/interrupts.h"
#include "sim/app/output_directory.h"
#include "sim/app/python_child.h"

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {

constexpr const char* kOption = "--report";

/// The folder of a file that the user named; empty for the program's working folder.
fs::path folder_of(const std::string& file) {
    return fs::path(file).parent_path();
}

}  // namespace

void check_report(const RunOptions& options) {
    AllProblems problems;
    problems.of([] { check_python(kOption, {"report"}); });
    const std::string& file = *options.report;
    problems.of([&] {
        std::error_code error;
        if (file.empty()) return;  // the report goes to the folder of the results
        if (!fs::path(file).has_filename() || fs::is_directory(file, error))
            throw UserError({std::string(kOption) + "=" + file, "is a folder", "a file", "name one in it"});
        check_output_directory(folder_of(file).empty() ? "." : folder_of(file).string(), kOption);
    });
    problems.throw_if_any();
}

void no_report(const RunOptions& options) {
    std::error_code ignored;
    if (options.report->empty()) fs::remove(fs::path(options.output_directory) / "report.html", ignored);
    std::fputs("ssdtlm: no report was written, because the run failed\n", stderr);
}

int write_report(const RunOptions& options, int code) {
    if (code != static_cast<int>(ExitCode::ok) && code != static_cast<int>(ExitCode::interrupted)) {
        no_report(options);
        return code;
    }
    std::vector<std::string> words{"report"};
    if (!options.report->empty()) {
        std::error_code told;  // the command itself reports this error
        if (!folder_of(*options.report).empty()) fs::create_directories(folder_of(*options.report), told);
        words.push_back("--output=" + *options.report);
    }
    words.insert(words.end(), {"--", options.output_directory});
    std::vector<ChildStream> streams;
    if (options.quiet || options.json) streams.push_back({STDOUT_FILENO, -1});
    const bool interrupted_before = Interrupts::any();
    std::optional<PythonChild> child;
    {
        const Interrupts::HeldBack until_it_can_be_told;
        child.emplace(kOption, "ssdtlm", words, streams);
        Interrupts::tell(child->pid());
    }
    const int ended = child->wait();
    Interrupts::tell(0);
    if (ended == 0) return code;
    if (ended == 128 + SIGINT || (Interrupts::any() && !interrupted_before))
        return static_cast<int>(ExitCode::interrupted);
    std::fprintf(stderr,
                 "ssdtlm: the results are complete, but the report was not written; `ssdtlm report %s` tries again\n",
                 options.output_directory.c_str());
    return code == static_cast<int>(ExitCode::ok) ? static_cast<int>(ExitCode::not_written) : code;
}

}  // namespace ssdtlm
