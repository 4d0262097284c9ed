// SPDX-License-Identifier: Apache-2.0
#include "sim/app/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <map>

#include "common/report/error.h"
#include "host_pcie/workload/trace_format.h"
#include "sim/app/fio_arguments.h"

namespace ssdtlm {
namespace {

using Command = CommandLine::Command;

/// Names of the subcommands of `app`.
std::vector<std::string> subcommand_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* sub : app.get_subcommands({})) names.push_back(sub->get_name());
    return names;
}

std::string listed(const std::vector<std::string>& names) {
    std::string s;
    for (const auto& n : names) s += (s.empty() ? "" : ", ") + n;
    return s;
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* o : app.get_options()) {
        for (const auto& n : o->get_lnames()) names.push_back("--" + n);
        for (const auto& n : o->get_snames()) names.push_back("-" + n);
    }
    return names;
}

std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
    const std::string near = nearest(given, names);
    return near.empty() ? "" : "did you mean '" + near + "'?";
}

class Parser {
public:
    Parser() : app_("A SystemC/TLM-2.0 model of an NVMe SSD", "ssdtlm") {
        app_.set_version_flag("--version", "ssdtlm " SSDTLM_VERSION);
        app_.require_subcommand(1);
        app_.allow_extras();
        add_run();
        add_config();
        add_trace();
    }

    CommandLine parse(int argc, const char* const* argv) {
        // "--wave" alone would take the next word for its value.
        std::vector<std::string> words(argv, argv + argc);
        for (auto& w : words)
            if (w == "--wave") w = "--wave=all";
        if (words.size() > 1 && words[1] == "run")
            line_.run.fio.arguments = take_fio_arguments(words, option_names(*app_.get_subcommand("run")));
        std::vector<const char*> arguments;
        for (const auto& w : words) arguments.push_back(w.c_str());
        try {
            app_.parse(static_cast<int>(arguments.size()), arguments.data());
        } catch (const CLI::CallForHelp&) {
            line_.text = deepest().help();
            return line_;
        } catch (const CLI::CallForAllHelp&) {
            line_.text = app_.help("", CLI::AppFormatMode::All);
            return line_;
        } catch (const CLI::CallForVersion& e) {
            line_.text = std::string(e.what()) + "\n";
            return line_;
        } catch (const CLI::ParseError& e) {
            report_extras();
            // An unknown word in the place of the subcommand hides the subcommand.
            if (problems_.empty()) {
                const CLI::App& app = deepest();
                const bool no_command = app.get_require_subcommand_min() > 0;
                add(no_command ? "no command given" : e.what(), no_command ? listed(subcommand_names(app)) : "",
                    "see `" + command_path() + " --help`");
            }
        }
        if (problems_.empty()) report_extras();
        if (problems_.empty()) finish();
        if (!problems_.empty()) throw UserError(problems_);
        return std::move(line_);
    }

private:
    void add(std::string found, std::string allowed, std::string repair) {
        problems_.push_back({"command line", std::move(found), std::move(allowed), std::move(repair)});
    }

    CLI::App* subcommand(CLI::App& parent, const char* name, const char* sentence, Command command) {
        CLI::App* sub = parent.add_subcommand(name, sentence);
        sub->allow_extras();
        sub->callback([this, command] { line_.command = command; });
        return sub;
    }
    /// Options that may be repeated take one value each, so that positional words may follow.
    void device(CLI::App* sub, bool required) {
        auto* files = sub->add_option("device", line_.files, "Device files or presets, merged from left to right");
        if (required) files->required();
        sub->add_option("--set", line_.assignments, "key=value: set a parameter, after all files; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false);
    }
    void trace_input(CLI::App* sub) {
        std::vector<std::string> names{"auto"};
        for (const auto& f : trace_formats()) names.emplace_back(f.name);
        trace_formats_ = names;
        sub->add_option("--trace-format", line_.run.trace.format, "Trace format: " + listed(names))
            ->capture_default_str();
        sub->add_option("--trace-volume", line_.run.trace.volume, "Take only this volume of the trace");
        sub->add_flag("--trace-overlay", line_.run.trace.overlay_volumes,
                      "Let all volumes start at address 0 instead of one after the other");
        sub->add_flag("--trace-skip-broken", line_.run.trace.skip_broken,
                      "Count lines that cannot be read instead of refusing the trace");
        sub->add_option("--blkparse-action", action_, "blkparse rows to take: D (issued) or Q (queued)")
            ->capture_default_str();
    }

    void wave(CLI::App* run) {
        run->add_option("--wave", wave_.scopes,
                        "Record a waveform of these parts: all, host, link, nvme, firmware, gc, scheduler, channel[3], channel[*].pins, "
                        "die[3][1], ...; --wave alone: all")
            ->expected(1)
            ->type_name("SCOPES");
        run->add_option("--wave-from", wave_.from, "Simulated time at which it begins, for example 1ms");
        run->add_option("--wave-to", wave_.to, "Simulated time at which it ends");
        run->add_option("--wave-trigger", wave_.trigger,
                        "Record only around the first of: command=N (its submission), gc, latency=TIME (a command above it), "
                        "overtake=N (a host read goes before N programs of garbage collection), error (a command's error "
                        "status, or what ends the run: a stall, a failed check)");
        run->add_option("--wave-before", wave_.before, "History before the trigger; default 1ms");
        run->add_option("--wave-after", wave_.after, "Length after the trigger; default 2ms");
        run->add_option("--wave-format", wave_.format, "vcd, or fst (needs vcd2fst)")->capture_default_str();
        run->add_flag("--timeline", timeline_,
                      "Write trace.json: who occupied each queue, link direction, core, channel and die, for Perfetto or DuckDB");
        run->add_option("--timeline-from", timeline_from_, "Simulated time at which it begins");
        run->add_option("--timeline-to", timeline_to_, "Simulated time at which it ends");
    }
    void add_run() {
        auto* run = subcommand(app_, "run", "Simulate a workload on a device", Command::run);
        device(run, true);
        run->add_option("-w,--workload", line_.run.workload,
                        "fio job file or block trace (may be .gz), told apart by content; - is standard input. Options of "
                        "fio (--rw=randread --bs=4k) may stand beside a job file or in its place")
            ->type_name("FILE");
        run->add_option("--section", line_.run.fio.sections, "Run only this job of the job file; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name("NAME");
        run->add_option("-o,--output", line_.run.output_directory,
                        "Folder for the results; default results/<device>-<workload>");
        run->add_option("--seed", line_.seed, "Seed of all random streams; the same as --set run.seed=N");
        run->add_flag("-q,--quiet", line_.run.quiet, "No progress, and no summary unless the results cannot be written");
        run->add_flag("--json", line_.run.json, "Print result.json instead of the summary");
        run->add_option("--stop-after-time", line_.run.limit_texts.time,
                        "End the workload at this simulated time, for example 2s; what was submitted completes");
        run->add_option("--stop-after-commands", line_.run.limit_texts.commands,
                        "End the workload when it has issued this many commands, for example 10k");
        wave(run);
        trace_input(run);
        run->add_option("--trace-beyond", beyond_, "Requests beyond the device: error, fold or scale")
            ->capture_default_str();
        run->add_option("--replay", replay_,
                        "stamped: at the trace's times; closed: as fast as possible at --replay-depth")
            ->capture_default_str();
        run->add_option("--replay-depth", line_.run.replay.depth, "closed: outstanding requests")
            ->capture_default_str();
        run->add_option("--time-scale", line_.run.replay.time_scale, "stamped: factor on the trace's times")
            ->capture_default_str();
        run->add_option("--replay-jobs", line_.run.replay.jobs, "Queue pairs that the trace's volumes are spread over")
            ->capture_default_str();
    }
    void add_config() {
        auto* config = app_.add_subcommand("config", "Check, show and document device configurations");
        config->require_subcommand(1);
        config->allow_extras();
        auto* check = subcommand(*config, "check", "Report all problems of a device", Command::config_check);
        device(check, true);
        check->add_flag("--json", line_.run.json, "Print problems as JSON");
        auto* show = subcommand(*config, "show", "Print every parameter with its value and where it comes from",
                                Command::config_show);
        device(show, true);
        // All output is of the resolved configuration; the flag says so in scripts.
        show->add_flag("--resolved", "Default, and the only form");
        show->add_flag("--json", line_.run.json, "Print JSON instead of TOML");
        subcommand(*config, "schema", "Print the JSON Schema of device files", Command::config_schema);
        auto* presets =
            subcommand(*config, "presets", "List the devices that come with the program", Command::config_presets);
        presets->add_flag("--json", line_.run.json, "Print JSON");
        subcommand(*config, "reference", "Print the parameter reference page (Markdown)", Command::config_reference);
    }
    void add_trace() {
        auto* trace = app_.add_subcommand("trace", "Look into block traces");
        trace->require_subcommand(1);
        trace->allow_extras();
        for (const auto command : {Command::trace_info, Command::trace_head}) {
            const bool info = command == Command::trace_info;
            auto* sub = subcommand(*trace, info ? "info" : "head",
                                   info ? "What a trace holds, and what of it would be skipped"
                                        : "The first records as they would be replayed",
                                   command);
            sub->add_option("file", line_.run.trace.path, "Trace, plain or .gz")->required();
            trace_input(sub);
            sub->add_flag("--json", line_.run.json, "Print JSON");
            if (!info) sub->add_option("-n,--lines", line_.lines, "Records to print")->capture_default_str();
        }
    }

    const CLI::App& deepest() const {
        const CLI::App* app = &app_;
        while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
        return *app;
    }
    std::string command_path() const {
        std::string s = "ssdtlm";
        for (const CLI::App* app = &app_; !app->get_subcommands().empty();) {
            app = app->get_subcommands().front();
            s += " " + app->get_name();
        }
        return s;
    }

    /// Words that nobody took, on each level of subcommands.
    void report_extras() {
        for (const CLI::App* app = &app_;; app = app->get_subcommands().front()) {
            const bool needs_subcommand = app->get_require_subcommand_min() > 0 && app->get_subcommands().empty();
            for (const auto& word : app->remaining()) {
                if (word == "--") continue;
                if (word[0] == '-') {
                    const std::string name = word.substr(0, word.find('='));
                    add("unknown option '" + name + "'", "", did_you_mean(name, option_names(*app)));
                } else if (needs_subcommand) {
                    const auto names = subcommand_names(*app);
                    add("unknown command '" + word + "'", listed(names), did_you_mean(word, names));
                    return;  // the rest belongs to it
                } else {
                    add("unexpected word '" + word + "'", "", "see `" + command_path() + " --help`");
                }
            }
            if (app->get_subcommands().empty()) return;
        }
    }

    template <class T>
    void pick(const char* option, const std::string& given, const std::map<std::string, T>& values, T& out) {
        const auto found = values.find(given);
        if (found != values.end()) {
            out = found->second;
            return;
        }
        std::vector<std::string> names;
        for (const auto& [name, value] : values) names.push_back(name);
        add(std::string(option) + " '" + given + "'", listed(names), did_you_mean(given, names));
    }

    void finish() {
        RunOptions& run = line_.run;
        const bool known =
            std::find(trace_formats_.begin(), trace_formats_.end(), run.trace.format) != trace_formats_.end();
        if (!known) {
            add("--trace-format '" + run.trace.format + "'", listed(trace_formats_),
                did_you_mean(run.trace.format, trace_formats_));
        }
        pick<char>("--blkparse-action", action_, {{"D", 'D'}, {"Q", 'Q'}}, run.trace.blkparse_action);
        pick<BeyondDevice>(
            "--trace-beyond", beyond_,
            {{"error", BeyondDevice::error}, {"fold", BeyondDevice::fold}, {"scale", BeyondDevice::scale}},
            run.trace.beyond);
        using Mode = TraceReplayOptions::Mode;
        pick<Mode>("--replay", replay_, {{"stamped", Mode::timed}, {"closed", Mode::closed}}, run.replay.mode);
        if (run.replay.depth == 0) add("--replay-depth 0", "at least 1", "");
        if (run.replay.jobs == 0) add("--replay-jobs 0", "at least 1", "");
        if (!(run.replay.time_scale > 0.0))
            add("--time-scale is not positive", "above 0, for example 0.5 for twice the speed", "");
        if (line_.command != Command::run) return;
        run.limits = parse_run_limits(run.limit_texts, problems_);
        run.wave = parse_wave_options(wave_, problems_);
        run.timeline = parse_timeline_options(timeline_, timeline_from_, timeline_to_, problems_);
        if (run.workload.empty() && run.fio.arguments.empty())
            add("no workload: --workload is missing", "-w FILE, or options of fio as in --rw=randread --bs=4k --size=1g", "add one");
        for (const char* name : {"--trace-format", "--trace-volume", "--trace-overlay", "--trace-skip-broken",
                                 "--blkparse-action", "--trace-beyond", "--replay", "--replay-depth", "--time-scale",
                                 "--replay-jobs"})
            if (app_.get_subcommand("run")->get_option(name)->count() != 0) run.trace_options.emplace_back(name);
    }

    CLI::App app_;
    CommandLine line_;
    std::vector<Problem> problems_;
    std::vector<std::string> trace_formats_;
    WaveTexts wave_;
    bool timeline_ = false;
    std::string timeline_from_;
    std::string timeline_to_;
    std::string action_ = "D";
    std::string beyond_ = "error";
    std::string replay_ = "stamped";
};

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
    return Parser().parse(argc, argv);
}

}  // namespace ssdtlm
