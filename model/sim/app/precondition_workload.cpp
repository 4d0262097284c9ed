// SPDX-License-Identifier: Apache-2.0
// Opens the workload of precondition.workload, with the trace options of precondition.trace_options.
#include <algorithm>

#include "sim/app/command_line.h"
#include "sim/app/workload_source.h"

namespace ssdtlm {

namespace {
constexpr const char* kWorkload = "precondition.workload";
constexpr const char* kTraceOptions = "precondition.trace_options";
constexpr std::uint64_t kSeed = 0x7072652d706c6179;

bool begins_with(const std::string& text, const char* begin) {
    return text.rfind(begin, 0) == 0;
}
/// True: the option says how a trace is read.
bool reads_a_trace(const std::string& word) {
    return begins_with(word, "--trace-") || begins_with(word, "--blkparse-action");
}

/// Splits the text at spaces, except those between quotes.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (const char c : text) {
        if (quote != 0 ? c == quote : c == '\'' || c == '"') {
            quote = quote != 0 ? char{0} : c;
            if (!in_word) words.emplace_back();
            in_word = true;
        } else if (c == ' ' && quote == 0) {
            in_word = false;
        } else {
            if (!in_word) words.emplace_back();
            in_word = true;
            words.back() += c;
        }
    }
    return words;
}

/// Parses the options like those on the command line of a run.
TraceOptions trace_options(const std::string& text, const std::string& path) {
    const std::vector<std::string> own = words_of(text);
    for (const std::string& word : own)
        if (begins_with(word, "-") && !reads_a_trace(word))
            throw UserError(Problem{kTraceOptions, "\"" + word + "\"",
                                    "options that begin with --trace-, and --blkparse-action, as in `ssdtlm help run`",
                                    "remove it"});
    std::vector<std::string> words{"ssdtlm", "run", "device", "--workload=" + path};
    words.insert(words.end(), own.begin(), own.end());
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    try {
        const CommandLine line = parse_command_line(static_cast<int>(arguments.size()), arguments.data());
        if (line.files.size() != 1)
            throw UserError(Problem{kTraceOptions, "\"" + line.files.back() + "\", which is no option",
                                    "options with their values", "remove it"});
        return line.run.trace;
    } catch (const UserError& e) {
        std::vector<Problem> problems = e.problems();
        for (Problem& p : problems) p.where = kTraceOptions;
        throw UserError(std::move(problems));
    }
}

/// Adds to each advice about a trace option that precondition.trace_options takes it here.
UserError with_advice(const UserError& e) {
    std::vector<Problem> problems = e.problems();
    for (Problem& p : problems)
        if (p.repair.find("--trace-") != std::string::npos)
            p.repair += "; such options go into " + std::string(kTraceOptions) + ", as in --set '" + kTraceOptions +
                        "=\"--trace-beyond fold\"'";
    return UserError(std::move(problems));
}
}  // namespace

WorkloadSource open_precondition_workload(const SsdConfig& config, std::uint64_t namespace_bytes) {
    if (config.ftl.precondition_workload.empty() || !config.run.drive.empty()) return {};
    RunOptions options;
    options.named_by = kWorkload;
    options.workload = config.ftl.precondition_workload;
    if (options.workload == "-")
        throw UserError(
            Problem{kWorkload, "\"-\", standard input", "a file or a name", "write it to a file and name that"});
    recognise_workload(options);
    if (!config.run.precondition_trace.empty()) {
        if (options.workload_kind != RunOptions::WorkloadKind::trace)
            throw UserError(Problem{
                kTraceOptions,
                "\"" + config.run.precondition_trace + "\" for " + options.workload + ", which is no block trace",
                "\"\"", "remove it"});
        options.trace = trace_options(config.run.precondition_trace, options.workload);
        options.trace.path = options.workload;
    }
    SsdConfig other = config;
    other.host.regions.clear();
    other.run.seed ^= kSeed;
    WorkloadSource source;
    try {
        source = open_workload(other, options, namespace_bytes);
    } catch (const UserError& e) {
        throw with_advice(e);
    }
    std::vector<Problem> problems;
    for (const WorkloadSource::FioPart& fio : source.fio)
        for (const FioJob& job : fio.workload->job_list())
            if (job.time_based && job.clone == 0)
                problems.push_back(
                    {kWorkload,
                     "job " + job.report.name + " of " + options.workload + " with time_based, which no time ends here",
                     "jobs without time_based, which end by size, io_size, loops or number_ios",
                     "take time_based away"});
    if (!problems.empty()) throw UserError(std::move(problems));
    return source;
}

}  // namespace ssdtlm
