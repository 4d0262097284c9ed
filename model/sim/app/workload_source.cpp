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
#include "host_pcie/workload/flows_workload.h"
#include "host_pcie/workload/trace/trace_report_job.h"
#include "host_pcie/workload/trace/trace_workload.h"
#include "sim/app/flow_regions.h"
#include "sim/app/mounted_files.h"
#include "sim/app/workload_notes.h"
#include "sim/config/presets.h"

namespace ssdtlm {

namespace {
/// The amount of work of the jobs. It ignores runtimes, because how much they cut off is not known before the run.
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

/// Returns the wanted name, with a number behind it if the name is taken.
std::string new_name(const std::vector<std::string>& names, const std::string& wanted) {
    const auto taken = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    std::string name = wanted;
    for (int n = 2; taken(name); ++n) name = fmt::format("{}-{}", wanted, n);
    return name;
}

/// The number of the flow that runs without the others; empty if all run.
std::optional<std::uint32_t> number_of(const std::string& only, const std::vector<std::string>& flows) {
    if (only.empty()) return std::nullopt;
    const auto at = std::find(flows.begin(), flows.end(), only);
    if (at == flows.end())
        throw UserError(Problem{"command line", "--only " + only, fmt::format("a flow: {}", fmt::join(flows, ", ")),
                                remedy_for_name(only, flows, false, '\'')});
    return static_cast<std::uint32_t>(at - flows.begin());
}

/// Opens a fio job file. `only`: the section that runs without the others; empty: all run.
WorkloadSource open_fio(const SsdConfig& config, const WorkloadOptions& options, std::uint64_t namespace_bytes,
                        const std::string& only = {}) {
    FioDevice device;
    device.capacity = namespace_bytes;
    device.lba_bytes = config.nvme.lba_bytes;
    device.seed = config.run.seed;
    std::uint64_t end = 0;
    if (config.front_end.kind == "nvme")
        for (const std::uint64_t bytes : config.nvme.namespaces) device.namespace_ends.push_back(end += bytes);
    if (end != 0) device.namespace_ends.push_back(namespace_bytes);
    const FioJobFile file = parse_fio_jobs(options.fio, device);
    WorkloadSource source;
    source.report_jobs = file.report_jobs();
    source.global_options = file.global_options;
    source.digest = file.digest;
    source.notes = file.warnings;
    source.notes.insert(source.notes.end(), file.notes.begin(), file.notes.end());
    source.warnings = file.warnings;
    source.amount = amount_of(file.jobs);
    for (const FioJob& job : file.jobs)
        if (job.section == source.flows.size()) source.flows.push_back(new_name(source.flows, job.report.name));
    auto workload = std::make_unique<FioWorkload>(file, number_of(only, source.flows));
    source.fio.push_back({workload.get(), 0});
    source.workload = std::move(workload);
    source.mounts = mounts_for(config, file, device);
    if (!source.mounts.empty())
        for (std::string& note : source.notes) note = note_on_file_system(note, config.files.system);
    return source;
}

WorkloadSource open_trace(const SsdConfig& config, const WorkloadOptions& options, std::uint64_t namespace_bytes) {
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
    for (const TraceRecord& one : trace->records) source.amount.bytes += one.bytes;
    source.amount.ios = trace->records.size();
    auto workload = std::make_unique<TraceWorkload>(trace, options.replay);
    source.report_jobs = trace_report_jobs(*workload);
    for (const FioReportJob& job : source.report_jobs) source.flows.push_back(new_name(source.flows, job.name));
    source.workload = std::move(workload);
    return source;
}

WorkloadSource open_generated(const SsdConfig& config, const WorkloadOptions& options, std::uint64_t namespace_bytes) {
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
    source.generated.push_back(workload.get());
    source.flows = {options.workload};
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

/// Copies a trace that can be read only once into a file without a name, because it is read twice: for its format and
/// for itself.
std::string spill(std::FILE* in, const std::string& name, std::string head) {
    std::FILE* file = std::tmpfile();  // stays open until the program ends
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

/// Reads a file that can be read only once: standard input, a fifo, or a shell's <(...).
void read_once(WorkloadOptions& options, std::FILE* in, const std::string& name) {
    std::string head = read_some(in, kHead);
    const bool jobs = !options.fio.arguments.empty() || !options.fio.sections.empty() || ends_with(name, ".fio") ||
                      looks_like_fio_jobs(head);
    options.workload_kind = jobs ? WorkloadOptions::WorkloadKind::fio : WorkloadOptions::WorkloadKind::trace;
    if (!jobs) {
        options.trace.path = spill(in, name, std::move(head));
        options.trace.shown = name;
        return;
    }
    options.fio.path = name;
    options.fio.text = std::move(head);
    for (std::string more; !(more = read_some(in, kHead)).empty();) options.fio.text += more;
}

/// Reads a workload that is given by name, which is a text without a folder and an extension.
void read_named(WorkloadOptions& options) {
    const std::string& name = options.workload;
    std::vector<std::string> names;
    for (const Preset& job : shipped_jobs()) {
        names.push_back(job.name);
        if (job.name != name) continue;
        std::ifstream in(job.path, std::ios::binary);
        options.workload_kind = WorkloadOptions::WorkloadKind::fio;
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
        options.workload_kind = WorkloadOptions::WorkloadKind::generated;
        return;
    }
    if (shipped_jobs().empty() && nearest(name, names).empty())
        throw UserError(nothing_shipped("workload", options.named_by, "no workload '" + name + "'"));
    throw UserError(Problem{
        options.named_by, "no workload '" + name + "'", fmt::format("a file, or one of {}", fmt::join(names, ", ")),
        (nearest(name, names).empty() ? "check the path; " : "") + remedy_for_name(name, names, true, '\'')});
}

void read_file(WorkloadOptions& options) {
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
        options.workload_kind = WorkloadOptions::WorkloadKind::trace;
        options.trace.path = path;
        return;
    }
    options.workload_kind = WorkloadOptions::WorkloadKind::fio;
    if (in.bad() || !in.is_open() || std::filesystem::is_directory(path))
        throw UserError(Problem{path, "cannot be read", "", "check the path"});
    options.fio.path = path;
    in.clear();
    options.fio.text = head + std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

namespace {
void recognise(WorkloadOptions& options) {
    if (options.workload == "-")
        read_once(options, stdin, "standard input");
    else if (options.workload.find_first_of("/.") == std::string::npos && !options.workload.empty() &&
             !std::filesystem::exists(options.workload))
        read_named(options);
    else if (!options.workload.empty())
        read_file(options);
}

/// Refuses options for kinds of workloads that the run does not have. `all`: the run's workloads.
void check_kinds(const RunOptions& options, const std::vector<const WorkloadOptions*>& all) {
    const auto any = [&](WorkloadOptions::WorkloadKind kind) {
        return std::any_of(all.begin(), all.end(), [&](const auto* w) { return w->workload_kind == kind; });
    };
    const bool fio = any(WorkloadOptions::WorkloadKind::fio), trace = any(WorkloadOptions::WorkloadKind::trace);
    const std::string what = all.size() > 1 ? "workloads of other kinds"
                             : fio          ? "a fio job"
                             : trace        ? "a block trace"
                                            : "the workload " + options.workload;
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
             trace || all.size() > 1
                 ? "remove"
                 : fmt::format("remove; its parameters are set by --set workload.{}.KEY=VALUE", options.workload)});
    if (!problems.empty()) throw UserError(std::move(problems));
}

void recognise_flows(RunOptions& options) {
    AllProblems problems;
    std::vector<Problem> wrong;
    if (std::count(options.workloads.begin(), options.workloads.end(), "-") > 1)
        wrong.push_back({"command line", "-w - more than once", "standard input once", "write one to a file"});
    if (!options.fio.sections.empty())
        wrong.push_back({"command line", "--section with several workloads", "--section with one job file",
                         "name a flow with --only, or make a job file of the section"});
    for (const FioArgument& a : options.fio.arguments)
        if (a.name == "name")
            wrong.push_back({"command line", "--name with several workloads",
                             "fio options without --name, for all job files", "remove"});
    if (!wrong.empty()) problems.of([&] { throw UserError(wrong); });
    std::vector<const WorkloadOptions*> all;
    if (wrong.empty()) {
        options.flows.reserve(options.workloads.size());
        for (const std::string& workload : options.workloads) {
            WorkloadOptions& flow = options.flows.emplace_back(options);
            flow.workload = workload;
            problems.of([&] { recognise(flow); });
            all.push_back(&flow);
        }
    }
    problems.throw_if_any();
    check_kinds(options, all);
    for (WorkloadOptions& flow : options.flows) {
        if (flow.workload_kind != WorkloadOptions::WorkloadKind::fio) flow.fio = {};
        if (flow.workload_kind != WorkloadOptions::WorkloadKind::trace) flow.trace_options.clear();
    }
}
}  // namespace

void recognise_workload(RunOptions& options) {
    if (options.workloads.size() > 1) return recognise_flows(options);
    recognise(options);
    check_kinds(options, {&options});
}

void add_flow_defaults(ConfigLoader& loader, const RunOptions& options) {
    if (options.workloads.size() < 2 && options.only.empty() && !options.alone) return;
    RawValue by_job;
    by_job.type = RawValue::Type::string;
    by_job.string = "by_job";
    loader.add_option("host.tenants", by_job, "default for several flows");
}

namespace {
std::string title_of(const std::string& workload) {
    return workload == "-" ? "stdin" : std::filesystem::path(workload).filename().string();
}
}  // namespace

std::string workload_title(const RunOptions& options) {
    if (options.service) return "guest";
    if (!options.flows.empty()) {
        std::string title;
        for (const WorkloadOptions& flow : options.flows) title += (title.empty() ? "" : "+") + title_of(flow.workload);
        return title;
    }
    if (!options.workload.empty()) return title_of(options.workload);
    for (const FioArgument& a : options.fio.arguments)
        if (a.name == "name" && a.value) return *a.value;
    return "job";
}

void check_workload_alone(const RunOptions& options) {
    FioDevice any;
    any.capacity = std::uint64_t{1} << 50;  // more than any device has, so that no job is too large
    any.lba_bytes = 512;                    // the smallest size, so that no block size is refused
    AllProblems problems;
    const auto check = [&](const WorkloadOptions& one) {
        if (one.workload_kind == WorkloadOptions::WorkloadKind::fio) problems.of([&] { parse_fio_jobs(one.fio, any); });
    };
    if (options.flows.empty()) check(options);
    for (const WorkloadOptions& flow : options.flows) check(flow);
    problems.throw_if_any();
}

WorkloadSources::WorkloadSources(const SsdConfig& config, const RunOptions& options, AllProblems& problems) {
    const std::uint64_t bytes = logical_units_of(config.ftl, config.nand.geometry) * config.nand.geometry.unit_bytes;
    if (!options.workload.empty() || !options.flows.empty() || !options.fio.arguments.empty())
        problems.of([&] { played = open_workload(config, options, bytes); });
    problems.of([&] { before = open_precondition_workload(config, bytes); });
}

namespace {
WorkloadSource open_any(const SsdConfig& config, const WorkloadOptions& options, std::uint64_t namespace_bytes,
                        const std::string& only = {}) {
    switch (options.workload_kind) {
        case WorkloadOptions::WorkloadKind::fio:
            return open_fio(config, options, namespace_bytes, only);
        case WorkloadOptions::WorkloadKind::generated:
            return open_generated(config, options, namespace_bytes);
        case WorkloadOptions::WorkloadKind::trace:
            break;
    }
    return open_trace(config, options, namespace_bytes);
}

void add(WorkloadSource& to, WorkloadSource& part, std::uint32_t first_job, std::uint64_t first_byte) {
    const std::string& name = to.flows.back();
    std::uint32_t group = 0;
    for (const FioReportJob& job : to.report_jobs) group = std::max(group, job.group + 1);
    for (FioReportJob& job : part.report_jobs) {
        job.group += group;
        to.report_jobs.push_back(std::move(job));
    }
    for (const auto* list : {&part.notes, &part.warnings})
        for (const std::string& note : *list)
            (list == &part.notes ? to.notes : to.warnings).push_back(fmt::format("{}: {}", name, note));
    for (const WorkloadSource::FioPart& f : part.fio) to.fio.push_back({f.workload, first_job});
    for (FilesWorkload::Mount& m : part.mounts) {
        m.of.first_job = first_job;
        m.of.first_byte = first_byte;
        to.mounts.push_back(std::move(m));
    }
    to.generated.insert(to.generated.end(), part.generated.begin(), part.generated.end());
}

/// Opens one workload or several, each with its region.
WorkloadSource open_flows(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    const std::vector<FlowRegion> regions = flow_regions(config, namespace_bytes);
    const bool several = !options.flows.empty();
    std::vector<const WorkloadOptions*> all{&options};
    if (several) {
        all.clear();
        for (const WorkloadOptions& flow : options.flows) all.push_back(&flow);
    }
    WorkloadSource source;
    AllProblems problems;
    std::vector<FlowsWorkload::Flow> flows;
    ContentHash digest;
    bool ends = true;
    std::uint32_t first_job = 0;
    if (regions.size() > all.size())
        problems.of([&] {
            throw UserError(Problem{"host.regions",
                                    fmt::format("{} regions for {} workloads", regions.size(), all.size()),
                                    "a region for each workload, or fewer", "remove those behind the last workload"});
        });
    for (std::size_t i = 0; i < all.size(); ++i) {
        const FlowRegion region = i < regions.size() ? regions[i] : FlowRegion{0, namespace_bytes};
        SsdConfig own = config;
        // Two flows of the same job file get different seeds, so their I/O differs. The first flow has the run's seed,
        // as if it ran alone.
        own.run.seed ^= i * 0x9E3779B97F4A7C15u;
        // A workload sees its region as a whole drive, so it has no namespaces.
        if (region.bytes != namespace_bytes) own.nvme.namespaces.clear();
        problems.of([&] {
            WorkloadSource part = open_any(own, *all[i], region.bytes, several ? std::string{} : options.only);
            if (several)
                source.flows.push_back(
                    new_name(source.flows, std::filesystem::path(title_of(all[i]->workload)).stem()));
            else
                source.flows = part.flows;
            add(source, part, first_job, region.first_byte);
            first_job += part.workload->jobs();
            digest.add(fmt::format("{} {} {}\n", part.digest, region.first_byte, region.bytes));
            ends = ends && part.amount.ios != 0;
            source.amount.ios += part.amount.ios;
            source.amount.bytes += part.amount.bytes;
            if (i == 0) source.global_options = part.global_options;
            flows.push_back({std::move(part.workload), region.first_byte});
        });
    }
    problems.throw_if_any();
    if (!ends) source.amount = {};
    source.digest = digest.text();
    source.workload = std::make_unique<FlowsWorkload>(std::move(flows),
                                                      several ? number_of(options.only, source.flows) : std::nullopt);
    return source;
}
}  // namespace

WorkloadSource open_workload(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    const bool composed = !options.flows.empty() || !config.host.regions.empty();
    WorkloadSource source = composed ? open_flows(config, options, namespace_bytes)
                                     : open_any(config, options, namespace_bytes, options.only);
    if (!options.only.empty()) number_of(options.only, source.flows);
    if (config.files.on() && source.mounts.empty())
        source.notes.push_back(fmt::format(
            "files.system = \"{}\" has no effect: no job of fio has files (directory=, or filename= with a size)",
            config.files.system));
    std::vector<FioJob> jobs;
    for (const WorkloadSource::FioPart& f : source.fio)
        for (FioJob job : f.workload->job_list()) {
            if (!options.flows.empty()) job.section = 0;
            jobs.push_back(std::move(job));
        }
    const std::size_t tenants = source.flows.size();
    const std::size_t contexts = config.host.tenants == Tenants::one ? source.workload->jobs() : tenants;
    for (std::string& note : notes_on_host(config, jobs, tenants, contexts)) source.notes.push_back(std::move(note));
    return source;
}

std::string readable_twice(const std::string& path) {
    std::error_code gone;
    if (!std::filesystem::is_fifo(path, gone)) return path;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> once(std::fopen(path.c_str(), "rb"), std::fclose);
    return once ? spill(once.get(), path, read_some(once.get(), kHead)) : path;
}

}  // namespace ssdtlm
