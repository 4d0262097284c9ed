// SPDX-License-Identifier: Apache-2.0
#include "sim/app/run.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/report/all_problems.h"
#include "common/report/error.h"
#include "controller/ftl/ftl_check.h"
#include "host_pcie/workload/fio_report.h"
#include "host_pcie/workload/reported_workload.h"
#include "sim/app/output_directory.h"
#include "sim/app/panic_state.h"
#include "sim/app/workload_source.h"
#include "sim/results/result_writer.h"
#include "sim/simulation.h"
#include "sim/wave/instruments.h"

namespace ssdtlm {

namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int signal) {
    interrupted = 1;
    std::signal(signal, SIG_DFL);  // a second one ends the program at once
}

/// One line on a terminal, rewritten in place; nothing when standard error is not one.
class ProgressLine {
public:
    explicit ProgressLine(bool quiet) : on_(!quiet && isatty(STDERR_FILENO) != 0) {}
    ~ProgressLine() { clear(); }
    bool on() const { return on_; }
    void show(const Simulation::Progress& p) {
        const double rate = p.wall_seconds > 0 ? static_cast<double>(p.commands) / p.wall_seconds : 0;
        const double eta = p.fraction > 0 ? p.wall_seconds * (1 - p.fraction) / p.fraction : 0;
        fmt::print(stderr, "\r{:.6f} s simulated  {:5.1f} %  {:.0f} commands/s  ETA {:.0f} s\033[K", to_seconds(p.simulated),
                   p.fraction * 100, rate, eta);
        std::fflush(stderr);
        shown_ = true;
    }
    void clear() {
        if (shown_) fmt::print(stderr, "\r\033[K");
        shown_ = false;
    }

private:
    bool on_;
    bool shown_ = false;
};

}  // namespace

int run_simulation(const SsdConfig& config, const RunOptions& options) {
    const std::uint64_t units = logical_units_of(config.ftl, config.nand.geometry);
    WorkloadSource source;
    AllProblems problems;
    problems.of([&] { source = open_workload(config, options, units * config.nand.geometry.unit_bytes); });
    if (problems.any()) problems.of([&] { check_output_directory(options.output_directory, options.output_option); });
    problems.throw_if_any();
    prepare_output_directory(options.output_directory, options.output_option);

    FioReportOptions report_options;
    report_options.log_directory = options.output_directory;
    report_options.global_options = source.global_options;
    FioReport report(report_options, source.report_jobs);
    ReportedWorkload workload(*source.workload, report);

    std::optional<Instruments> instruments;
    if (options.wave.on || options.timeline.on)
        instruments.emplace(config, options.wave, options.timeline, std::filesystem::path(options.output_directory));

    ProgressLine progress(options.quiet);
    Simulation::Options o;
    o.workload_name = std::filesystem::path(options.workload).filename().string();
    o.interrupt = &interrupted;
    if (instruments) {
        o.taps = &*instruments;
        o.observer = &*instruments;
    }
    if (progress.on()) o.progress = [&progress](const Simulation::Progress& p) { progress.show(p); };
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);

    // SystemC says on standard output that the simulation was stopped; what stopped it is said by us.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    Simulation simulation(config, workload, o);
    if (instruments) instruments->attach(simulation.system());
    // What was recorded up to a failure is worth most of all.
    const auto save_recording = [&instruments, &progress] {
        progress.clear();
        return instruments ? instruments->finish() : std::vector<std::string>{};
    };
    RunSummary summary;
    try {
        summary = simulation.run();
    } catch (const Stalled& e) {
        save_recording();
        fmt::print(stderr, "ssdtlm: stalled: {}\n{}", e.what(), simulation.state_dump());
        return static_cast<int>(ExitCode::watchdog);
    } catch (const CheckFailed&) {
        save_recording();
        throw;
    } catch (const std::exception&) {
        save_recording();
        panic_state() = simulation.state_dump();
        throw;
    }
    const std::vector<std::string> recorded = save_recording();
    report.finish(SimTime{summary.simulated});
    summary.notes = source.notes;

    const std::filesystem::path directory = options.output_directory;
    write_results(directory, summary, simulation.series(), options.resolved_config);
    write_text_file(directory / "fio.json", report.text());
    if (options.json)
        fmt::print("{}", result_json(summary, options.resolved_config));
    else if (!options.quiet)
        fmt::print("{}{}{}results in {}\n", summary_text(summary), fmt::join(recorded, "\n"), recorded.empty() ? "" : "\n", directory.string());

    for (const BookLine& b : summary.books)
        if (!b.balances())
            throw CheckFailed(fmt::format("the books do not balance: {}: {} against {}", b.name, b.left, b.right));
    if (summary.error_status != 0)
        throw CheckFailed(fmt::format("{} commands ended with an error status, the first: {}", summary.error_status,
                                      simulation.system().driver.first_error()));
    return summary.interrupted ? static_cast<int>(ExitCode::interrupted) : static_cast<int>(ExitCode::ok);
}

}  // namespace ssdtlm
