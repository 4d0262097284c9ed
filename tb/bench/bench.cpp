// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is: simulated commands per host second, events per command, bytes per logical page, start-up
// time, for some workloads and schedulers on one device, and what recording a waveform or timeline costs. One child
// process per workload (SystemC: one simulation per process).
//
//   ssdtlm_bench [--device PRESET] [--only PART-OF-NAME] [--commands N] [--repeat R] [--set KEY=VALUE]...
//                [--no-integrity] [--json]
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "adapter/rtl_schedulers.h"
#include "sim/config/config_loader.h"
#include "sim/simulation.h"
#include "sim/wave/instruments.h"
#include "support/closed_loop.h"

namespace {

using namespace ssdtlm;

enum class Record : std::uint8_t { nothing, wave, channel, pins, timeline };

struct Case {
    const char* name;
    HostOp op;
    unsigned write_percent;
    ClosedLoop::Pattern pattern;
    std::uint32_t bytes;
    std::uint32_t depth;
    double share;                   ///< of --commands
    const char* setting = nullptr;  ///< key=value on top of the device; several with spaces between
    bool needs_rtl = false;
    Record record = Record::nothing;
    std::uint32_t jobs = 1;
};
const Case kCases[] = {
    {"4 KiB random read QD32", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 1},
    {"4 KiB random write QD32", HostOp::write, 0, ClosedLoop::Pattern::random, 4096, 32, 1},
    {"4 KiB random 70/30 mix QD64", HostOp::read, 30, ClosedLoop::Pattern::random, 4096, 64, 1},
    {"128 KiB sequential read QD16", HostOp::read, 0, ClosedLoop::Pattern::sequential, 131072, 16, 0.05},
    // Nothing of it is as the sequential layout has left it: every look-up goes to memory, and all memory is in use.
    {"4 KiB random read, rewritten", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 1,
     "precondition.state=random"},
    {"4 KiB random write, steady state", HostOp::write, 0, ClosedLoop::Pattern::random, 4096, 32, 1,
     "precondition.state=analytic"},
    {"4 KiB random 70/30 mix, dftl", HostOp::read, 30, ClosedLoop::Pattern::random, 4096, 64, 1, "ftl.mapping=dftl"},
    {"4 KiB random write, SLC", HostOp::write, 0, ClosedLoop::Pattern::random, 4096, 32, 1, "slc.blocks=16"},
    {"4 KiB read, clocked scheduler", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 1,
     "scheduler.implementation=tlm_clocked"},
    {"4 KiB read, RTL scheduler", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 1,
     "scheduler.implementation=rtl", true},
    {"4 KiB read, one RTL ONFI sequencer", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 0.05,
     "channel.rtl_sequencer=[0]", true},
    {"4 KiB read, RTL ONFI sequencers", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 0.01,
     "channel.rtl_sequencer=[0,1,2,3,4,5,6,7]", true},
    {"4 KiB read, one channel's wave", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 0.2, nullptr, false,
     Record::channel},
    {"4 KiB read, one channel's pins", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 0.01, nullptr, false,
     Record::pins},
    {"4 KiB read, whole wave", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 0.2, nullptr, false,
     Record::wave},
    {"4 KiB read, timeline", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 0.2, nullptr, false,
     Record::timeline},
    {"4 KiB write, whole wave", HostOp::read, 100, ClosedLoop::Pattern::random, 4096, 32, 0.2, nullptr, false,
     Record::wave},
    {"4 KiB 70/30 mix, noop above the driver", HostOp::read, 30, ClosedLoop::Pattern::random, 4096, 64, 1,
     "block.scheduler=noop block.queue_depth=32"},
    {"4 KiB 70/30 mix, two tenants, bfq", HostOp::read, 30, ClosedLoop::Pattern::random, 4096, 64, 1,
     "block.scheduler=bfq block.queue_depth=32 host.tenants=by_job", false, Record::nothing, 2},
    {"4 KiB read, Serial ATA, NCQ 32", HostOp::read, 0, ClosedLoop::Pattern::random, 4096, 32, 1, "frontend.kind=sata"},
    {"4 KiB write, Serial ATA, NCQ 32", HostOp::read, 100, ClosedLoop::Pattern::random, 4096, 32, 0.5,
     "frontend.kind=sata"},
};

struct Options {
    std::string device = "mqsim-table3";
    std::string only;  ///< empty: all cases
    std::vector<std::string> sets;
    std::uint64_t commands = 1'000'000;
    int repeat = 1;
    bool integrity = true;
    bool json = false;
};

/// A folder of its own for what is recorded.
struct Folder {
    Folder() : path(std::filesystem::temp_directory_path() / ("ssdtlm_bench_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::uint64_t bytes() const {
        std::uint64_t n = 0;
        for (const char* name : {"wave.vcd", "trace.json"})
            if (std::filesystem::exists(path / name)) n += std::filesystem::file_size(path / name);
        return n;
    }
    const std::filesystem::path path;
};

nlohmann::ordered_json run_case(const Case& c, const Options& o) {
    std::vector<std::string> sets = o.sets;
    if (!o.integrity) sets.push_back("run.integrity=false");
    if (c.setting != nullptr) {
        std::istringstream settings(c.setting);
        for (std::string one; settings >> one;) sets.push_back(one);
    }
    const ResolvedConfig resolved = load_config({o.device}, sets);
    const SsdConfig& config = resolved.config;
    ClosedLoop::Spec s;
    s.op = c.op;
    s.write_percent = c.write_percent;
    s.pattern = c.pattern;
    s.bytes = c.bytes;
    s.depth = c.depth;
    s.jobs = c.jobs;
    s.requests = static_cast<std::uint64_t>(static_cast<double>(o.commands) * c.share) + 1;
    s.span = config.ftl.user_capacity_bytes / c.bytes * c.bytes;
    ClosedLoop workload(s);
    Simulation::Options so;
    so.workload_name = c.name;
    const Folder folder;
    WaveOptions wave;
    wave.on = c.record == Record::wave || c.record == Record::channel || c.record == Record::pins;
    wave.scopes = c.record == Record::channel ? "channel[0],scheduler[0],die[0]"
                  : c.record == Record::pins  ? "channel[0].pins"
                                              : "all";
    TimelineOptions timeline;
    timeline.on = c.record == Record::timeline;
    std::unique_ptr<Instruments> instruments;
    if (c.record != Record::nothing) {
        instruments = std::make_unique<Instruments>(config, wave, timeline, folder.path);
        so.taps = instruments.get();
        so.observer = instruments.get();
    }
    Simulation simulation(config, workload, so);
    if (instruments) instruments->attach(simulation.system());
    const RunSummary r = simulation.run();
    if (instruments) instruments->finish(false, simulation.ended());
    nlohmann::ordered_json j;
    j["workload"] = c.name;
    j["commands"] = r.commands_all;
    j["wall_s"] = r.wall_seconds;
    j["cpu_s"] = r.cpu_seconds;
    j["commands_per_wall_second"] = static_cast<double>(r.commands_all) / r.wall_seconds;
    j["commands_per_cpu_second"] = static_cast<double>(r.commands_all) / r.cpu_seconds;
    j["events_per_command"] = static_cast<double>(r.agenda_events) / static_cast<double>(r.commands_all);
    j["peak_memory_bytes"] = r.peak_memory_bytes;
    j["bytes_per_logical_page"] = static_cast<double>(r.peak_memory_bytes) / static_cast<double>(r.logical_units);
    j["recorded_bytes_per_command"] = static_cast<double>(folder.bytes()) / static_cast<double>(r.commands_all);
    j["start_up_s"] = r.start_up_seconds;
    j["simulated_s"] = to_seconds(r.simulated);
    return j;
}

nlohmann::ordered_json in_child(const Case& c, const Options& o) {
    int fd[2];
    if (pipe(fd) != 0) std::abort();
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        std::string text;
        int code = 0;
        try {
            text = run_case(c, o).dump();
        } catch (const std::exception& e) {
            std::fprintf(stderr, "ssdtlm_bench: %s: %s\n", c.name, e.what());
            code = 2;
        }
        const bool written = write(fd[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        _exit(written ? code : 2);
    }
    close(fd[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(fd[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    close(fd[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::exit(2);
    return nlohmann::ordered_json::parse(text);
}

}  // namespace

int main(int argc, char** argv) {
    constexpr const char* kUsage =
        "ssdtlm_bench [--device PRESET] [--only PART-OF-NAME] [--commands N] [--repeat R] [--set KEY=VALUE]... "
        "[--no-integrity] [--json]";
    Options o;
    for (int i = 1; i < argc; ++i) {
        const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
        const bool value = i + 1 < argc;
        if (is("--help")) {
            std::printf("%s\n", kUsage);
            return 0;
        } else if (is("--json")) {
            o.json = true;
        } else if (is("--no-integrity")) {
            o.integrity = false;
        } else if (is("--device") && value) {
            o.device = argv[++i];
        } else if (is("--set") && value) {
            o.sets.emplace_back(argv[++i]);
        } else if (is("--only") && value) {
            o.only = argv[++i];
        } else if (is("--commands") && value && std::strtoull(argv[i + 1], nullptr, 10) > 0) {
            o.commands = std::strtoull(argv[++i], nullptr, 10);
        } else if (is("--repeat") && value && std::atoi(argv[i + 1]) > 0) {
            o.repeat = std::atoi(argv[++i]);
        } else {
            std::fprintf(stderr, "ssdtlm_bench: '%s' is not understood, or lacks a value; %s\n", argv[i], kUsage);
            return 2;
        }
    }
    std::string names;
    bool any = false;
    for (const Case& c : kCases) {
        any |= std::string(c.name).find(o.only) != std::string::npos;
        names += "\n  " + std::string(c.name);
    }
    if (!any) {
        std::fprintf(stderr, "ssdtlm_bench: --only: no workload's name contains '%s'; the workloads:%s\n",
                     o.only.c_str(), names.c_str());
        return 2;
    }
    nlohmann::ordered_json all;
    all["device"] = o.device;
    all["integrity_check"] = o.integrity;
    all["repeat"] = o.repeat;
    if (!o.json)
        std::printf("%s, integrity check %s, best of %d\n%-30s %12s %12s %9s %9s %9s %9s\n", o.device.c_str(),
                    o.integrity ? "on" : "off", o.repeat, "", "commands/s", "commands/s", "events/", "bytes/",
                    "start-up", "recorded");
    if (!o.json)
        std::printf("%-30s %12s %12s %9s %9s %9s %9s\n", "workload", "(wall)", "(CPU)", "command", "page", "s",
                    "B/command");
    for (const Case& c : kCases) {
        if (c.needs_rtl && rtl_schedulers().empty()) continue;
        if (std::string(c.name).find(o.only) == std::string::npos) continue;
        nlohmann::ordered_json best;
        for (int n = 0; n < o.repeat; ++n) {
            auto j = in_child(c, o);
            if (best.is_null() || j["cpu_s"].get<double>() < best["cpu_s"].get<double>()) best = j;
        }
        all["workloads"].push_back(best);
        if (!o.json)
            std::printf("%-30s %12.0f %12.0f %9.2f %9.2f %9.2f %9.1f\n", c.name,
                        best["commands_per_wall_second"].get<double>(), best["commands_per_cpu_second"].get<double>(),
                        best["events_per_command"].get<double>(), best["bytes_per_logical_page"].get<double>(),
                        best["start_up_s"].get<double>(), best["recorded_bytes_per_command"].get<double>());
        std::fflush(stdout);
    }
    if (o.json) std::printf("%s\n", all.dump(2).c_str());
    return 0;
}
