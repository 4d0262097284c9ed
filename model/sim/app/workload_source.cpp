// SPDX-License-Identifier: Apache-2.0
#include "sim/app/workload_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/report/content_hash.h"
#include "common/report/error.h"

#include "host_pcie/workload/fio_job_file.h"
#include "host_pcie/workload/fio_workload.h"
#include "host_pcie/workload/trace_report_job.h"
#include "host_pcie/workload/trace_workload.h"

namespace ssdtlm {

namespace {

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
    ContentHash replayed;
    const TraceReplayOptions& r = options.replay;
    replayed.add(fmt::format("{} {}", trace->digest, static_cast<int>(r.mode)));
    replayed.add(r.mode == TraceReplayOptions::Mode::closed ? fmt::format(" {}", r.depth) : fmt::format(" {}", r.time_scale));
    replayed.add(fmt::format(" {}", r.jobs));
    source.digest = replayed.text();
    auto workload = std::make_unique<TraceWorkload>(trace, options.replay);
    source.report_jobs = trace_report_jobs(*workload);
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

/// A trace from standard input goes through a file without a name: it is read twice, for its format and for itself.
std::string spill(std::string head) {
    std::FILE* file = std::tmpfile();  // open until the program ends
    bool good = file != nullptr;
    while (good && !head.empty()) {
        good = std::fwrite(head.data(), 1, head.size(), file) == head.size();
        head = read_some(stdin, kHead);
    }
    if (!good || std::fflush(file) != 0)
        throw UserError(Problem{"standard input", "cannot be kept in a temporary file", "room in the temporary folder",
                                "write it to a file and name that"});
    return "/dev/fd/" + std::to_string(fileno(file));
}

void read_standard_input(RunOptions& options) {
    std::string head = read_some(stdin, kHead);
    const bool jobs = !options.fio.arguments.empty() || !options.fio.sections.empty() || looks_like_fio_jobs(head);
    options.workload_kind = jobs ? RunOptions::WorkloadKind::fio : RunOptions::WorkloadKind::trace;
    if (!jobs) {
        options.trace.path = spill(std::move(head));
        return;
    }
    options.fio.path = "standard input";
    options.fio.text = std::move(head);
    for (std::string more; !(more = read_some(stdin, kHead)).empty();) options.fio.text += more;
}

void read_file(RunOptions& options) {
    const std::string& path = options.workload;
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
        read_standard_input(options);
    else if (!options.workload.empty())
        read_file(options);
    if (options.workload_kind == RunOptions::WorkloadKind::fio) {
        if (!options.trace_options.empty())
            throw UserError(Problem{"command line", fmt::format("{} with a fio job", fmt::join(options.trace_options, ", ")),
                                    "options of block traces; a fio job says itself when it issues", "remove"});
        return;
    }
    std::vector<std::string> given;
    for (const std::string& s : options.fio.sections) given.push_back("--section " + s);
    for (const FioArgument& a : options.fio.arguments) given.push_back("--" + a.name);
    if (!given.empty())
        throw UserError(Problem{"command line", fmt::format("{} with a block trace", fmt::join(given, ", ")),
                                "options of fio jobs", "remove"});
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

WorkloadSource open_workload(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    return options.workload_kind == RunOptions::WorkloadKind::fio ? open_fio(config, options, namespace_bytes)
                                                                  : open_trace(config, options, namespace_bytes);
}

}  // namespace ssdtlm
