// SPDX-License-Identifier: Apache-2.0
#include "sim/app/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>

#include "common/report/all_problems.h"
#include "common/report/error.h"
#include "common/report/part_file.h"
#include "common/snapshot/snapshot_file.h"
#include "host_pcie/workload/report/fio_report.h"
#include "host_pcie/workload/report/reported_workload.h"
#include "sim/app/alone_runs.h"
#include "sim/app/interrupts.h"
#include "sim/app/live_view.h"
#include "sim/app/output_directory.h"
#include "sim/app/output_paths.h"
#include "sim/app/panic_state.h"
#include "sim/app/progress.h"
#include "sim/app/run_limits.h"
#include "sim/app/served_workload.h"
#include "sim/app/timeline_size.h"
#include "sim/app/workload_source.h"
#include "sim/config/saved_drive.h"
#include "sim/host/vfio_side.h"
#include "sim/results/flow_json.h"
#include "sim/results/result_writer.h"
#include "sim/simulation.h"
#include "sim/version.h"
#include "sim/wave/instruments.h"

namespace ssdtlm {

namespace {

/// Prints a text and ignores errors, as fmt::print() would throw if the terminal is gone. main() checks the stream at
/// the end.
void say(std::FILE* where, const std::string& text) {
    std::fputs(text.c_str(), where);
}

RunFailure failure_of(const std::exception_ptr& error) {
    const auto failure = [](const char* kind, ExitCode code, const char* what) {
        return RunFailure{kind, static_cast<int>(code), what, {}};
    };
    try {
        std::rethrow_exception(error);
    } catch (const Stalled& e) {
        return failure("stalled", ExitCode::watchdog, e.what());
    } catch (const CheckFailed& e) {
        return failure("check failed", ExitCode::check_failed, e.what());
    } catch (const OutputError& e) {
        return failure("results not written", ExitCode::not_written, e.what());
    } catch (const UserError& e) {
        return failure("refused", ExitCode::user_error, e.what());
    } catch (const std::bad_alloc&) {
        return failure("out of memory", ExitCode::user_error, "not enough memory for this device and workload");
    } catch (const std::exception& e) {
        return failure("internal error", ExitCode::internal, e.what());
    }
}

/// Throws CheckFailed for wrong results. `own`: the host is the model's own, which sends no commands that the drive
/// must refuse.
void check(const RunSummary& summary, const HostDriver& driver, bool faults, bool own, const WorkloadSource& source) {
    for (const BookLine& b : summary.books)
        if (!b.balances())
            throw CheckFailed(fmt::format("the books do not balance: {}: {} against {}", b.name, b.left, b.right));
    for (const ResourceUse& r : summary.resources)
        for (std::size_t i = 0; i < r.busy.size(); ++i)
            if (!(r.busy[i] >= 0 && r.busy[i] <= 1))
                throw CheckFailed(fmt::format("{} {} was busy for {} of the measured window, which is no share of it",
                                              r.name, i, r.busy[i]));
    // Errors of failing flash are no wrong results.
    const std::uint64_t expected = faults ? driver.counters().media_errors() : 0;
    if (own && summary.error_status != expected)
        throw CheckFailed(fmt::format("{} commands ended with an error status, the first: {}",
                                      summary.error_status - expected, driver.first_error()));
    std::vector<std::string> failures;
    for (const WorkloadSource::FioPart& fio : source.fio)
        for (std::string& f : fio.workload->failures()) failures.push_back(std::move(f));
    if (!failures.empty()) throw CheckFailed(fmt::format("{}", fmt::join(failures, "\n")));
}

FioReportOptions report_options(const RunOptions& options, const WorkloadSource& source) {
    ResultFiles(options.output_directory).remove_parts();  // before this run makes new ones
    FioReportOptions o;
    o.log_directory = options.output_directory;
    o.global_options = source.global_options;
    return o;
}

/// Reports the outcome of steadystate and latency_target.
void report_fio_outcome(const WorkloadSource::FioPart& fio, FioReport& report, std::vector<std::string>& notes) {
    const FioWorkload& workload = *fio.workload;
    for (const FioJob& job : workload.job_list()) {
        const std::uint32_t number = fio.first_job + job.index;
        if (job.latency_target != Ps{0}) report.set_latency_depth(number, workload.runner(job.index).depth());
        if (const FioSteadyState* state = workload.steady_state(job.index)) report.set_steady_state(number, *state);
    }
    for (std::string& o : workload.outcomes()) notes.push_back(std::move(o));
}

/// The figures with which the flows of the run are compared: each flow alone, and a base run.
struct ComparedFlows {
    std::vector<FlowFigures> alone, base;
};

/// One run from its last check to its exit code.
class Run {
public:
    Run(const SsdConfig& config, const RunOptions& options, WorkloadSource& source, WorkloadSource& before,
        const ComparedFlows& compared, GuestService* service)
        : options_(options),
          service_(service),
          compared_(compared),
          source_(source),
          before_(before),
          limited_(*source.workload, options.limits),
          report_(report_options(options, source), source.report_jobs),
          workload_(options.limits.any() ? static_cast<Workload&>(limited_) : *source.workload, report_),
          progress_(options.quiet || options.watch) {
        if (options.wave.on || options.timeline.on || options.check_pins)
            instruments_.emplace(config, options.wave, options.timeline,
                                 std::filesystem::path(options.output_directory), options.check_pins);
        if (!source.mounts.empty()) file_systems_.emplace(workload_, std::move(source.mounts), config.files);
        for (const WorkloadSource::FioPart& fio : source.fio)
            fio.workload->on_statistics_reset(
                [this, first = fio.first_job](std::uint32_t job) { report_.reset(first + job); });
        if (!options.quiet)
            for (const WorkloadSource* from : {&before, &source})
                for (const std::string& w : from->warnings) say(stderr, "warning: " + w + "\n");
        if (const std::string w = timeline_warning(options, source.amount); !w.empty())
            say(stderr, "warning: " + w + "\n");
        source.notes.insert(source.notes.begin(), options.notes.begin(), options.notes.end());
        for (const std::string& note : before.notes) source.notes.push_back("precondition.workload: " + note);
    }

    /// Runs the simulation and writes its results. If it fails, it writes all results so far and throws the failure.
    int run(const SsdConfig& config) {
        Simulation::Options o;
        o.workload_name = workload_title(options_);
        o.workload_digest = source_.digest;
        o.flow_names = source_.flows;
        o.before = before_.workload.get();
        if (service_ != nullptr) o.host = make_vfio_side(*service_);
        if (instruments_) {
            o.taps = &*instruments_;
            o.observer = &*instruments_;
        }
        if (options_.watch) o.progress = [this](const Simulation::Progress& p) { live_view_->show(p); };
        if (progress_.on()) o.progress = [this](const Simulation::Progress& p) { progress_.show(p); };
        // From here on all files in the folder belong to this run.
        files_.emplace(options_.output_directory);
        files_->remove_earlier();
        Interrupts::building(abandoned(config, o.workload_name,
                                       "a signal came while the drive was prepared, before the first command",
                                       "interrupted while the drive was prepared"));
        o.series = &files_->stream("timeseries.csv");
        if (config.host.block.on()) {
            o.block_log = &files_->stream("block.csv");
            o.context_names = context_names(config);
        }
        if (config.run.gc_log) o.gc_log = &files_->stream("gc.csv");
        // SystemC would print that the simulation was stopped. This program itself prints the reason.
        sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        std::optional<Simulation> simulation;
        if (options_.watch) live_view_.emplace(config.name, o.workload_name, config.run.seed);
        try {
            simulation.emplace(config, file_systems_ ? static_cast<Workload&>(*file_systems_) : workload_, o);
        } catch (...) {
            live_view_.reset();
            mark_not_begun(config, o.workload_name);
            throw;
        }
        if (const std::string w = not_steady(simulation->start()); !w.empty()) {
            source_.notes.push_back(w);
            if (!options_.quiet) say(stderr, "warning: " + w + "\n");
        }
        if (instruments_) instruments_->attach(simulation->system());
        if (live_view_) live_view_->attach(simulation->system(), simulation->latency());
        Interrupts::running(
            abandoned(config, o.workload_name,
                      "a signal came in a step of the simulation that did not end soon: no numbers are known",
                      "interrupted in a long step"),
            [](void* s) { static_cast<Simulation*>(s)->interrupt(); }, &*simulation);
        const int code = run(*simulation);
        return code == static_cast<int>(ExitCode::ok) && Interrupts::any() ? static_cast<int>(ExitCode::interrupted)
                                                                           : code;
    }

private:
    /// Prepares the text that a signal leaves if the run cannot be ended in order. It writes it under a temporary name.
    Interrupts::Abandoned abandoned(const SsdConfig& config, const std::string& workload, const char* reason,
                                    const char* said) const {
        const std::filesystem::path named = std::filesystem::path(options_.output_directory) / "failed.json";
        RunSummary s = not_begun(config, workload);
        s.interrupted = true;
        s.ended_by = "interrupt";
        s.failure = RunFailure{"interrupted", static_cast<int>(ExitCode::interrupted), reason, {}};
        Interrupts::Abandoned abandoned;
        abandoned.text = part_of(named);
        abandoned.named = named;
        AllProblems ignored;  // the text can be written at the end, if there is room then
        ignored.of([&] { write_text_file(abandoned.text, result_json(s, options_.resolved_config)); });
        std::error_code gone;
        if (ignored.any()) std::filesystem::remove(abandoned.text, gone);
        for (const std::string& part : files_->parts())
            if (part != abandoned.text) abandoned.temporary.push_back(part);
        for (const std::string& log : report_.log_files()) abandoned.temporary.push_back(part_of(log).string());
        abandoned.said = fmt::format("ssdtlm: {}; {} says so\n", said, named.string());
        return abandoned;
    }
    RunSummary not_begun(const SsdConfig& config, const std::string& workload) const {
        RunSummary s;
        s.device = config.name;
        s.workload = workload;
        s.workload_digest = source_.digest;
        s.version = kVersion;
        s.seed = config.run.seed;
        s.notes = source_.notes;
        return s;
    }

    int run(Simulation& simulation) {
        RunSummary summary;
        std::exception_ptr error;
        bool complete = false;
        try {
            summary = simulation.run();
            complete = true;
            if (instruments_) instruments_->finish_checks();
            check(summary, simulation.system().host.driver, simulation.system().device.flash.faults->kinds().any(),
                  service_ == nullptr, source_);
            if (!options_.save_drive.empty() && !summary.interrupted)
                simulation.system().save_drive(options_.save_drive, saved_drive_text(simulation.system().config),
                                               &Interrupts::any);
        } catch (const CutOff& e) {
            summary = simulation.so_far();
            complete = true;
            source_.notes.push_back(std::string(e.what()) + ": it is left as it was, and no books are compared");
        } catch (const SnapshotGivenUp&) {
            // said below
        } catch (...) {
            error = std::current_exception();
            if (!complete) summary = simulation.so_far();
        }
        Interrupts::writing();
        std::error_code ignored;
        std::filesystem::remove(part_of(std::filesystem::path(options_.output_directory) / "failed.json"),
                                ignored);  // abandoned()
        drive_saved_ = !options_.save_drive.empty() && !error && !Interrupts::any();
        if (!options_.save_drive.empty() && !error && !drive_saved_)
            source_.notes.push_back("--save-drive: the run was interrupted, so the drive is not saved");
        progress_.clear();
        for (const WorkloadSource::FioPart& fio : source_.fio) report_fio_outcome(fio, report_, source_.notes);
        for (GeneratedWorkload* generated : source_.generated)
            for (std::string& o : generated->outcomes()) source_.notes.push_back(std::move(o));
        if (file_systems_)
            for (std::string& o : file_systems_->outcomes()) source_.notes.push_back(std::move(o));
        if (service_ != nullptr)
            for (std::string& note : service_notes(*service_)) source_.notes.push_back(std::move(note));
        describe(summary, error, simulation);
        slowest_ = simulation.slowest();
        const std::vector<Problem> problems = save(summary);
        live_view_.reset();  // after the results are written, because a held terminal (Ctrl-S) may block it
        print(summary, complete, !problems.empty());
        for (const Problem& p : problems) say(stderr, p.text() + "\n");
        if (summary.failure) return fail(*summary.failure, error, problems.empty());
        return static_cast<int>(summary.interrupted ? ExitCode::interrupted : ExitCode::ok);
    }

    /// Writes failed.json when the device could not be built, for instance for lack of memory. Call it while the
    /// exception is handled.
    void mark_not_begun(const SsdConfig& config, const std::string& workload) const {
        Interrupts::writing();
        RunSummary s = not_begun(config, workload);
        s.ended_by = "failure";
        s.failure = failure_of(std::current_exception());
        AllProblems ignored;  // the reason why the run ended is reported instead
        ignored.of([&] { write_failed(s); });
    }

    /// Names of the contexts of the block layer: tenants, or jobs.
    std::vector<std::string> context_names(const SsdConfig& config) const {
        if (config.host.tenants != Tenants::one) return source_.flows;
        std::vector<std::string> names;
        for (const FioReportJob& job : source_.report_jobs) names.push_back(job.name);
        return names;
    }

    void write_failed(const RunSummary& summary) const {
        ResultFiles files(options_.output_directory);
        files.add("failed.json", result_json(summary, options_.resolved_config));
        files.commit();
    }

    void describe(RunSummary& summary, const std::exception_ptr& error, const Simulation& simulation) const {
        summary.notes = source_.notes;
        note_what_never_came(summary, simulation.system());
        for (const FioReportJob& job : source_.report_jobs) summary.job_names.push_back(job.name);
        if (!summary.flows.empty()) {
            summary.flows_alone = compared_.alone;
            summary.flows_base = compared_.base;
        }
        summary.command = options_.command;
        for (const std::string& log : report_.log_files()) {
            const std::filesystem::path name =
                std::filesystem::path(log).lexically_relative(options_.output_directory).lexically_normal();
            if (!name.empty() && name.begin()->string() != "..") summary.files.push_back(name.string());
        }
        std::error_code gone;  // the directory may have been removed
        summary.directory = std::filesystem::current_path(gone).string();
        summary.ended_by = summary.interrupted ? "interrupt" : ended_by(limited_.reached(), options_.limit_texts);
        if (!error) return;
        summary.ended_by = "failure";
        summary.failure = failure_of(error);
        summary.failure->state = simulation.state_dump();
    }

    /// Adds a note for each configured action whose time or event the run did not reach.
    void note_what_never_came(RunSummary& summary, const SsdSystem& system) const {
        const SsdConfig& config = system.config;
        const std::size_t cuts = config.host.power_cut_at.size(), came = summary.power_cuts.size();
        if (came < cuts)
            summary.notes.push_back(fmt::format(
                "host.power_cut_at: {} of {} losses of power did not happen, because the run ended before them",
                cuts - came, cuts));
        const std::size_t late = static_cast<std::size_t>(std::count_if(
            config.host.reset_at.begin(), config.host.reset_at.end(), [&](Ps at) { return at > summary.simulated; }));
        if (late != 0)
            summary.notes.push_back(
                fmt::format("host.reset_at: {} of {} resets did not happen, because the run ended before them", late,
                            config.host.reset_at.size()));
        if (std::any_of(config.run.explain.begin(), config.run.explain.end(),
                        [&](std::uint64_t number) { return number > summary.commands_all; }))
            summary.notes.push_back(
                fmt::format("run.explain names a command behind the last one, {}", summary.commands_all));
        if (summary.interrupted || limited_.reached() != LimitedWorkload::Reached::none) return;
        for (const auto& [option, text] : {std::pair{"--stop-after-time", &options_.limit_texts.time},
                                           std::pair{"--stop-after-commands", &options_.limit_texts.commands}})
            if (!text->empty())
                summary.notes.push_back(fmt::format("{} {} has no effect: the workload ended before", option, *text));
    }

    /// Writes the results, and the recordings first, because they are the most useful ones after a failure. Returns the
    /// problems of files that could not be written. With such a problem the run has failed.
    std::vector<Problem> save(RunSummary& summary) {
        AllProblems problems;
        problems.of([&] {
            if (instruments_) recorded_ = instruments_->finish(summary.failure.has_value());
        });
        if (instruments_)
            for (const std::string& sentence : instruments_->missed()) {
                summary.notes.push_back(sentence);
                if (options_.quiet || options_.json) say(stderr, "warning: " + sentence + "\n");
            }
        problems.of([&] { workload_.finish(SimTime{summary.simulated}); });
        fail_for(problems, summary);
        AllProblems writing;
        writing.of([&] { write(summary); });
        if (!writing.any()) return problems.all();
        fail_for(writing, summary);
        files_.reset();
        // The incomplete files are removed by now, so there may be room.
        AllProblems ignored;
        ignored.of([&] { write_failed(summary); });
        std::vector<Problem> all = problems.all();
        all.insert(all.end(), writing.all().begin(), writing.all().end());
        return all;
    }

    static void fail_for(const AllProblems& problems, RunSummary& summary) {
        if (!problems.any() || summary.failure) return;
        summary.ended_by = "failure";
        summary.failure = failure_of(std::make_exception_ptr(OutputError(problems.all())));
    }

    void write(const RunSummary& summary) {
        // fio's format cannot say that a run failed.
        if (!summary.failure) files_->add("fio.json", report_.text());
        if (!slowest_.empty()) files_->add("slowest.json", slowest_);
        add_results(*files_, summary, options_.resolved_config);
        files_->commit();
    }

    /// Prints the results. A run that a failure has cut off has no summary: its numbers are in failed.json.
    void print(const RunSummary& summary, bool complete, bool not_written) const {
        if (options_.json) return say(stdout, result_json(summary, options_.resolved_config));
        if (!not_written && (!complete || options_.quiet)) return;
        say(stdout, summary_text(summary));
        if (not_written) return;
        for (const std::string& sentence : recorded_) say(stdout, sentence + "\n");
        if (drive_saved_) say(stdout, fmt::format("drive saved in {}\n", options_.save_drive));
        say(stdout, fmt::format("results in {}\n", options_.output_directory));
    }

    /// Prints the parts of the failure that main() does not print.
    int fail(const RunFailure& failure, const std::exception_ptr& error, bool written) const {
        if (failure.exit_code == static_cast<int>(ExitCode::not_written)) {
            if (written) say(stderr, failure.reason + "\n");  // else the problem was reported before
            return failure.exit_code;
        }
        if (failure.kind == "stalled")
            say(stderr, fmt::format("ssdtlm: stalled: {}\n{}", failure.reason, failure.state));
        if (written)
            say(stderr, fmt::format("ssdtlm: the results so far are in {}\n",
                                    (std::filesystem::path(options_.output_directory) / "failed.json").string()));
        if (failure.kind == "stalled") return failure.exit_code;
        if (failure.kind == "internal error") panic_state() = failure.state;
        std::rethrow_exception(error);
    }

    const RunOptions& options_;
    GuestService* const service_;  ///< null: the host is the model's
    const ComparedFlows& compared_;
    WorkloadSource& source_;
    WorkloadSource& before_;
    LimitedWorkload limited_;
    FioReport report_;
    ReportedWorkload workload_;
    std::optional<FilesWorkload> file_systems_;  ///< below workload_: the report has calls, not commands of the drive
    ProgressDisplay progress_;
    std::optional<LiveView> live_view_;  ///< empty: not asked for, or the simulation has ended
    std::optional<Instruments> instruments_;
    std::optional<ResultFiles> files_;  ///< set from the beginning of the simulation on, which writes to some of them
    std::string slowest_;               ///< slowest.json; empty: not asked for
    std::vector<std::string> recorded_;
    bool drive_saved_ = false;
};

/// Checks before the run that the drive can be saved at its end.
void check_save_drive(const SsdConfig& config, const std::string& path, const std::string& output_directory) {
    if (path.empty()) return;
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    std::vector<Problem> problems;
    std::error_code unknown;
    const bool will_be_made = !std::filesystem::exists(folder, unknown) && comes_with_results(folder, output_directory);
    if (!will_be_made && ::access(folder.c_str(), W_OK) != 0)
        problems.push_back({"--save-drive", folder.string() + ": " + std::strerror(errno),
                            "a folder that can be written", "make it, or give another path"});
    if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown))
        problems.push_back({"--save-drive", path + ": is no regular file, and would be replaced by one",
                            "a new file, or a regular one", "give another path"});
    if (config.run.data == DataMode::bytes && config.run.integrity)
        problems.push_back({"--save-drive", "a drive with run.data = \"bytes\" and run.integrity = true",
                            "signatures, or no check: what the host has written is not saved as bytes",
                            "set run.integrity = false"});
    if (!problems.empty()) throw UserError(problems);
}

}  // namespace

namespace {
/// Checks that the flows named in options exist.
void check_flows(const SsdConfig& config, const RunOptions& options, const WorkloadSource& played) {
    std::vector<Problem> problems;
    for (const auto& [given, option] :
         {std::pair{options.alone, "--alone"}, std::pair{!options.base.empty(), "--base"}}) {
        if (!given) continue;
        if (played.flows.size() < 2 || config.host.tenants == Tenants::one)
            problems.push_back(
                {"command line",
                 std::string(option) + (played.flows.size() < 2 ? " with one flow" : " with host.tenants = \"one\""),
                 "several flows with queue pairs of their own",
                 played.flows.size() < 2 ? "give several workloads, or a job file of several sections"
                                         : "set host.tenants = \"by_job\""});
    }
    if (options.alone && !options.only.empty())
        problems.push_back({"command line", "--alone and --only", "one of them", "remove one"});
    if (!problems.empty()) throw UserError(std::move(problems));
}
}  // namespace

int run_simulation(const SsdConfig& config, const RunOptions& options) {
    AllProblems problems;
    WorkloadSources sources(config, options, problems);
    GuestCommands* commands = nullptr;
    if (options.service) sources.played = guest_source(config, commands);
    ComparedFlows compared;
    if (!problems.any()) problems.of([&] { check_flows(config, options, sources.played); });
    if (!options.base.empty())
        problems.of(
            [&] { compared.base = flows_of_json((std::filesystem::path(options.base) / "result.json").string()); });
    problems.of([&] { check_save_drive(config, options.save_drive, options.output_directory); });
    if (problems.any()) problems.of([&] { check_output_directory(options.output_directory, options.output_option); });
    problems.throw_if_any();
    const OutputLock lock = prepare_output_directory(options.output_directory, options.output_option);
    std::optional<GuestService> service;
    if (options.service) service.emplace(*options.service, *commands);
    if (options.alone) {
        AloneRuns alone = run_alone(config, options, sources.played.flows);
        if (alone.code != static_cast<int>(ExitCode::ok)) return alone.code;
        compared.alone = std::move(alone.flows);
    }
    SsdConfig saved = config;
    saved.run.outlives_power = true;
    return Run(config, options, sources.played, sources.before, compared, service ? &*service : nullptr)
        .run(options.save_drive.empty() ? config : saved);
}

}  // namespace ssdtlm
