// SPDX-License-Identifier: Apache-2.0
#include "sim/app/workload_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "host_block/io_schedulers.h"
#include "sim/config/effect_notes.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

std::vector<std::string> notes_on_trace_options(const std::vector<std::string>& given, const Trace& trace,
                                                const TraceReplayOptions& replay) {
    std::vector<std::string> notes;
    const auto idle = [&](const char* option, bool acts, const std::string& why) {
        if (!acts && std::find(given.begin(), given.end(), option) != given.end())
            notes.push_back(fmt::format("{} has no effect: {}", option, why));
    };
    const bool closed = replay.mode == TraceReplayOptions::Mode::closed, several = trace.volumes.size() > 1;
    idle("--replay-depth", closed, "it acts only with --replay closed");
    idle("--replay-gap", !closed && trace.stats.gaps.shortened != 0,
         closed ? "it acts only with --replay stamped" : "the trace has no longer pause");
    idle("--time-scale", !closed, "it acts only with --replay stamped");
    idle("--replay-jobs", several, "the trace has one volume, which one queue pair serves");
    idle("--trace-overlay", several, "the trace has one volume");
    idle("--blkparse-action", trace.format == "blkparse", fmt::format("the trace is in format {}", trace.format));
    idle("--trace-volume", trace.stats[TraceNote::other_volume].lines != 0, "the trace has no other volume");
    idle("--trace-spread", trace.stats[TraceNote::spread].lines != 0, "no two requests share a time");
    idle("--trace-skip-broken", trace.stats[TraceNote::broken].lines != 0, "every line can be read");
    idle("--trace-beyond",
         trace.stats[TraceNote::folded].lines + trace.stats[TraceNote::scaled].lines +
                 trace.stats[TraceNote::clipped].lines !=
             0,
         "no request is beyond the device");
    return notes;
}

namespace {
bool is_one_of(const std::string& scheduler, std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), scheduler) != names.end();
}

/// Notes options of jobs for an I/O scheduler other than the configured one. Refuses schedulers that do not exist.
void note_on_scheduler(const SsdConfig& config, const std::vector<FioJob>& jobs, std::vector<std::string>& notes) {
    const std::string& scheduler = config.host.block.scheduler;
    std::vector<Problem> problems;
    std::vector<std::string> asked;
    for (const FioJob& j : jobs) {
        const std::string& own = j.io_scheduler;
        if (own.empty() || std::find(asked.begin(), asked.end(), own) != asked.end()) continue;
        asked.push_back(own);
        const std::vector<std::string> names = IoSchedulers::instance().names();
        if (std::find(names.begin(), names.end(), own) == names.end())
            problems.push_back(unknown_policy(fmt::format("job {}: ioscheduler", j.report.name), own, names));
        else if (!config.host.block.on())
            notes.push_back(
                fmt::format("ioscheduler={} has no effect: it acts only with block.scheduler = \"{}\"", own, own));
        else if (own != scheduler)
            problems.push_back({fmt::format("job {}", j.report.name),
                                fmt::format("ioscheduler={} with block.scheduler = \"{}\"", own, scheduler),
                                "the scheduler that the host has",
                                fmt::format("leave it out, or set block.scheduler = \"{}\"", own)});
    }
    if (!problems.empty()) throw UserError(std::move(problems));
    const auto idle = [&](const char* option, bool given, bool acts, const char* with) {
        if (given && !acts) notes.push_back(fmt::format("{} has no effect: it acts only with {}", option, with));
    };
    const auto any = [&jobs](bool (*is)(const FioJob&)) { return std::any_of(jobs.begin(), jobs.end(), is); };
    idle("prio or prioclass", any([](const FioJob& j) { return j.has_priority; }),
         is_one_of(scheduler, {"bfq", "cfq", "fiops", "flashfq", "mq-deadline"}),
         "a scheduler that knows priorities: block.scheduler = bfq, cfq, fiops, flashfq or "
         "mq-deadline");
    idle("buffered=1", any([](const FioJob& j) { return j.priority.buffered; }),
         is_one_of(scheduler, {"bfq", "cfq", "fiops"}),
         "a scheduler that tells awaited requests from others: block.scheduler = bfq, cfq or fiops");
    idle(
        "cgroup_weight", any([](const FioJob& j) { return j.priority.weight != 0; }),
        is_one_of(scheduler, {"bfq", "cfq", "fiops", "flashfq"}) ||
            (config.host.block.on() && config.host.block.nass.aggre),
        "a scheduler that shares by weights: block.scheduler = bfq, cfq, fiops or flashfq, or block.nass.aggre = true");
}
}  // namespace

namespace {
/// Notes options that have no effect because the workload has fewer jobs or tenants.
void note_on_contexts(const HostConfig& host, std::size_t contexts, std::vector<std::string>& notes) {
    const char* const what = host.tenants == Tenants::one ? "job" : "tenant";
    if (host.block.weights.size() > contexts)
        notes.push_back(
            fmt::format("block.weights has {} weights, of which those behind the first {} have no effect: the workload "
                        "has no more {}s",
                        host.block.weights.size(), contexts, what));
    if (host.block.nass.aggre && contexts == 1)
        notes.push_back(
            fmt::format("block.nass.aggre = true has no effect: the workload has one {}, and nobody else for whose "
                        "sake to limit it",
                        what));
}
}  // namespace

std::vector<std::string> notes_on_host(const SsdConfig& config, const std::vector<FioJob>& jobs, std::size_t tenants,
                                       std::size_t contexts) {
    std::vector<std::string> notes;
    const bool hints = std::any_of(jobs.begin(), jobs.end(), [](const FioJob& j) { return j.stream != 0 && j.writes; });
    if (hints && !config.host.streams)
        notes.emplace_back("write_hint has no effect: it acts only with host.streams = true");
    if (!hints && config.host.streams)
        notes.emplace_back(
            "host.streams = true has no effect: no write of the workload names a stream, as write_hint of a fio job "
            "does");
    if (config.host.tenants != Tenants::one && config.host.queue_priorities.size() > tenants)
        notes.push_back(
            fmt::format("host.queue_priorities has {} priorities, of which those behind the first {} have no effect: "
                        "the workload has no more tenants",
                        config.host.queue_priorities.size(), tenants));
    if (config.host.tenants != Tenants::one && config.nvme.fetch_windows.size() > tenants)
        notes.push_back(
            fmt::format("nvme.fetch_windows has {} windows, of which those behind the first {} have no effect: "
                        "the workload has no more tenants",
                        config.nvme.fetch_windows.size(), tenants));
    if (config.host.block.on()) note_on_contexts(config.host, contexts, notes);
    note_on_scheduler(config, jobs, notes);
    return notes;
}

std::vector<std::string> notes_on_generators(const ResolvedConfig& resolved, const std::vector<std::string>& used) {
    std::vector<std::string> notes;
    const std::string table = "workload.";
    for (const SsdParameter& p : ssd_parameters()) {
        if (p.key.compare(0, table.size(), table) != 0 || !is_meant(resolved, p.key)) continue;
        const std::string name = p.key.substr(table.size(), p.key.rfind('.') - table.size());
        if (std::find(used.begin(), used.end(), name) == used.end())
            notes.push_back(fmt::format("{} has no effect: {} acts only with the workload {}",
                                        said_text(resolved, p.key), p.key, name));
    }
    return notes;
}

}  // namespace ssdtlm
