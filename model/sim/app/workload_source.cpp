// SPDX-License-Identifier: Apache-2.0
#include "sim/app/workload_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "common/report/content_hash.h"
#include "common/report/error.h"
#include "controller/ftl/ftl_check.h"
#include "host_pcie/workload/fio/fio_job_file.h"
#include "host_pcie/workload/fio/fio_workload.h"
#include "host_pcie/workload/trace/trace_report_job.h"
#include "host_pcie/workload/trace/trace_workload.h"
#include "sim/app/workload_notes.h"
#include "sim/config/presets.h"

namespace ssdtlm {

namespace {
/// Without what a runtime cuts off, which nobody knows before.
WorkloadAmount amount_of(const std::vector<FioJob>& jobs) {
    WorkloadAmount sum;
    for (const FioJob& job : jobs) {
        if (job.time_based) return {};
        const std::uint64_t bytes = job.io_size != 0 ? job.io_size : job.size * job.loops,
                            block = (job.smallest_block() + job.largest_block()) / 2;
        const std::uint64_t ios = job.number_ios != 0 ? std::min(job.number_ios, bytes / block) : bytes / block;
        sum.ios += ios;
        sum.bytes += ios * block;
    }
    return sum;
}

WorkloadSource open_fio(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    FioDevice device;
    device.capacity = namespace_bytes;
    device.lba_bytes = config.nvme.lba_bytes;
    device.seed = config.run.seed;
    const FioJobFile file = parse_fio_jobs(options.fio, device);
    WorkloadSource source;
    source.report_jobs = file.report_jobs();
    source.global_options = file.global_options;
    source.digest = file.digest;
    source.notes = file.warnings;
    source.notes.insert(source.notes.end(), file.notes.begin(), file.notes.end());
    source.warnings = file.warnings;
    source.amount = amount_of(file.jobs);
    auto workload = std::make_unique<FioWorkload>(file);
    source.fio = workload.get();
    source.workload = std::move(workload);
    return source;
}

WorkloadSource open_trace(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    TraceOptions t = options.trace;
    t.lba_bytes = config.nvme.lba_bytes;
    t.device_bytes = namespace_bytes;
    auto trace = std::make_shared<const Trace>(read_trace(t));
    WorkloadSource source;
    source.notes.push_back(fmt::format("{}: {} format, {} lines, {} taken, {:.3f} s", trace->path, trace->format,
                                       trace->stats.lines, trace->stats.taken, to_seconds(trace->stats.duration)));
    for (auto& sentence : trace->stats.sentences()) source.notes.push_back(std::move(sentence));
    for (auto& note : notes_on_trace_options(options.trace_options, *trace, options.replay))
        source.notes.push_back(std::move(note));
    ContentHash replayed;
    const TraceReplayOptions& r = options.replay;
    replayed.add(fmt::format("{} {}", trace->digest, static_cast<int>(r.mode)));
    replayed.add(r.mode == TraceReplayOptions::Mode::closed ? fmt::format(" {}", r.depth)
                                                            : fmt::format(" {}", r.time_scale));
    replayed.add(fmt::format(" {}", r.jobs));
    if (r.loops != 1) replayed.add(fmt::format(" {} times", r.loops));
    source.digest = replayed.text();
    for (const TraceRecord& r : trace->records) source.amount.bytes += r.bytes;
    source.amount.ios = trace->records.size();
    auto workload = std::make_unique<TraceWorkload>(trace, options.replay);
    source.report_jobs = trace_report_jobs(*workload);
    source.workload = std::move(workload);
    return source;
}

WorkloadSource open_generated(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    const WorkloadGenerators& all = WorkloadGenerators::instance();
    const PolicyTable& table = config.workload.generators;
    auto workload =
        all.make("--workload", options.workload, {namespace_bytes, config.nvme.lba_bytes, config.run.seed}, table);
    ContentHash content;
    content.add(options.workload + "\n");
    const auto values = table.find(options.workload);
    for (const PolicyParameter& p : all.policies().at(options.workload).parameters)
        content.add(p.key + "=" + to_toml(p, p.get(values == table.end() ? PolicyValues{} : values->second)) + "\n");
    WorkloadSource source;
    source.digest = content.text();
    source.report_jobs = workload->report_jobs();
    source.generated = workload.get();
    source.workload = std::move(workload);
    return source;
}

constexpr std::size_t kHead = 1u << 16;  // enough for any comment above the first section

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string read_some(std::FILE* in, std::size_t most) {
    std::string text(most, '\0');
    text.resize(std::fread(text.data(), 1, most, in));
    return text;
}

/// A trace that can be read only once goes through a file without a name: it is read twice, for its format and for
/// itself.
std::string spill(std::FILE* in, const std::string& name, std::string head) {
    std::FILE* file = std::tmpfile();  // open until the program ends
    bool good = file != nullptr;
    while (good && !head.empty()) {
        good = std::fwrite(head.data(), 1, head.size(), file) == head.size();
        head = read_some(in, kHead);
    }
    if (!good || std::fflush(file) != 0)
        throw UserError(Problem{name, "cannot be kept in a temporary file", "room in the temporary folder",
                                "write it to a file and name that"});
    return "/dev/fd/" + std::to_string(fileno(file));
}

/// Standard input, a fifo, or what a shell makes of <(...).
void read_once(RunOptions& options, std::FILE* in, const std::string& name) {
    std::string head = read_some(in, kHead);
    const bool jobs = !options.fio.arguments.empty() || !options.fio.sections.empty() || ends_with(name, ".fio") ||
                      looks_like_fio_jobs(head);
    options.workload_kind = jobs ? RunOptions::WorkloadKind::fio : RunOptions::WorkloadKind::trace;
    if (!jobs) {
        options.trace.path = spill(in, name, std::move(head));
        return;
    }
    options.fio.path = name;
    options.fio.text = std::move(head);
    for (std::string more; !(more = read_some(in, kHead)).empty();) options.fio.text += more;
}

/// What has no mark of a path (a folder, an extension) is meant as a name.
void read_named(RunOptions& options) {
    const std::string& name = options.workload;
    std::vector<std::string> names;
    for (const Preset& job : shipped_jobs()) {
        names.push_back(job.name);
        if (job.name != name) continue;
        std::ifstream in(job.path, std::ios::binary);
        options.workload_kind = RunOptions::WorkloadKind::fio;
        options.fio.path = job.path;
        options.fio.text.assign(std::istreambuf_iterator<char>(in), {});
        options.fio.arguments_last = true;
        for (const FioArgument& a : options.fio.arguments)
            if (a.name == "name")
                throw UserError(Problem{"command line", "--name with the workload " + name,
                                        "fio options without --name, for all of its jobs", "remove"});
        return;
    }
    for (const std::string& generator : WorkloadGenerators::instance().names()) {
        names.push_back(generator);
        if (generator != name) continue;
        options.workload_kind = RunOptions::WorkloadKind::generated;
        return;
    }
    throw UserError(Problem{
        options.named_by, "no workload '" + name + "'", fmt::format("a file, or one of {}", fmt::join(names, ", ")),
        (nearest(name, names).empty() ? "check the path; " : "") + remedy_for_name(name, names, true, '\'')});
}

void read_file(RunOptions& options) {
    const std::string& path = options.workload;
    std::error_code gone;
    const std::filesystem::file_status status = std::filesystem::status(path, gone);
    if (std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status)) {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> once(std::fopen(path.c_str(), "rb"), std::fclose);
        if (!once) throw UserError(Problem{path, "cannot be read", "", "check the path"});
        return read_once(options, once.get(), path);
    }
    std::ifstream in(path, std::ios::binary);
    std::string head(kHead, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    if (!ends_with(path, ".fio") && !looks_like_fio_jobs(head)) {
        options.workload_kind = RunOptions::WorkloadKind::trace;
        options.trace.path = path;
        return;
    }
    options.workload_kind = RunOptions::WorkloadKind::fio;
    if (in.bad() || !in.is_open() || std::filesystem::is_directory(path))
        throw UserError(Problem{path, "cannot be read", "", "check the path"});
    options.fio.path = path;
    in.clear();
    options.fio.text = head + std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

void recognise_workload(RunOptions& options) {
    if (options.workload == "-")
        read_once(options, stdin, "standard input");
    else if (options.workload.find_first_of("/.") == std::string::npos && !options.workload.empty() &&
             !std::filesystem::exists(options.workload))
        read_named(options);
    else if (!options.workload.empty())
        read_file(options);
    const bool fio = options.workload_kind == RunOptions::WorkloadKind::fio;
    const bool trace = options.workload_kind == RunOptions::WorkloadKind::trace;
    const std::string what = fio ? "a fio job" : trace ? "a block trace" : "the workload " + options.workload;
    std::vector<Problem> problems;
    if (!trace && !options.trace_options.empty())
        problems.push_back(
            {"command line", fmt::format("{} with {}", fmt::join(options.trace_options, ", "), what),
             fio ? "options of block traces; a fio job decides itself when it issues" : "options of block traces",
             "remove"});
    std::vector<std::string> given;
    for (const std::string& s : options.fio.sections) given.push_back("--section " + s);
    for (const FioArgument& a : options.fio.arguments) given.push_back("--" + a.name);
    if (!fio && !given.empty())
        problems.push_back(
            {"command line", fmt::format("{} with {}", fmt::join(given, ", "), what), "options of fio jobs",
             trace ? "remove"
                   : fmt::format("remove; its parameters are set by --set workload.{}.KEY=VALUE", options.workload)});
    if (!problems.empty()) throw UserError(std::move(problems));
}

std::string workload_title(const RunOptions& options) {
    if (options.workload == "-") return "stdin";
    if (!options.workload.empty()) return std::filesystem::path(options.workload).filename().string();
    for (const FioArgument& a : options.fio.arguments)
        if (a.name == "name" && a.value) return *a.value;
    return "job";
}

void check_workload_alone(const RunOptions& options) {
    if (options.workload_kind != RunOptions::WorkloadKind::fio) return;
    FioDevice any;
    any.capacity = std::uint64_t{1} << 50;  // more than any device has, so that no job is too large
    any.lba_bytes = 512;                    // the smallest, so that no block size is refused
    parse_fio_jobs(options.fio, any);
}

WorkloadSources::WorkloadSources(const SsdConfig& config, const RunOptions& options, AllProblems& problems) {
    const std::uint64_t bytes = logical_units_of(config.ftl, config.nand.geometry) * config.nand.geometry.unit_bytes;
    if (!options.workload.empty() || !options.fio.arguments.empty())
        problems.of([&] { played = open_workload(config, options, bytes); });
    problems.of([&] { before = open_precondition_workload(config, bytes); });
}

namespace {
WorkloadSource open_any(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    switch (options.workload_kind) {
        case RunOptions::WorkloadKind::fio:
            return open_fio(config, options, namespace_bytes);
        case RunOptions::WorkloadKind::generated:
            return open_generated(config, options, namespace_bytes);
        case RunOptions::WorkloadKind::trace:
            break;
    }
    return open_trace(config, options, namespace_bytes);
}
}  // namespace

WorkloadSource open_workload(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    WorkloadSource source = open_any(config, options, namespace_bytes);
    for (std::string& note :
         notes_on_host(config, source.fio != nullptr ? source.fio->job_list() : std::vector<FioJob>{}))
        source.notes.push_back(std::move(note));
    return source;
}

std::string readable_twice(const std::string& path) {
    std::error_code gone;
    if (!std::filesystem::is_fifo(path, gone)) return path;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> once(std::fopen(path.c_str(), "rb"), std::fclose);
    return once ? spill(once.get(), path, read_some(once.get(), kHead)) : path;
}

}  // namespace ssdtlm
