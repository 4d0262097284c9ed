// SPDX-License-Identifier: Apache-2.0
#include "sim/app/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>

#include "common/config/quantity.h"
#include "common/report/error.h"
#include "host_pcie/workload/fio/fio_options.h"
#include "host_pcie/workload/generated_workload.h"
#include "host_pcie/workload/trace/trace_columns.h"
#include "sim/app/command_pages.h"
#include "sim/app/command_table.h"
#include "sim/app/fio_arguments.h"
#include "sim/config/presets.h"

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
    CommandLine parse(int argc, const char* const* argv) {
        std::vector<std::string> words = with_wave_values(argc, argv);
        const bool run = words.size() > 1 && words[1] == "run";
        const bool check = words.size() > 2 && words[1] == "config" && words[2] == "check";
        const bool serve = words.size() > 1 && words[1] == "serve";
        if ((run || serve) && take_word(words, "--report")) line_.run.report = "";
        if (run || check)
            line_.run.fio.arguments =
                take_fio_arguments(words, option_names(run ? *app_.get_subcommand("run")
                                                           : *app_.get_subcommand("config")->get_subcommand("check")));
        std::vector<const char*> arguments;
        for (const auto& w : words) arguments.push_back(w.c_str());
        try {
            app_.parse(static_cast<int>(arguments.size()), arguments.data());
        } catch (const CLI::CallForHelp&) {
            line_.command = Command::help;
            line_.text = help_page(deepest());
            return std::move(line_);
        } catch (const CLI::CallForVersion&) {
            line_.command = Command::version;
            line_.text = version_text();
            return std::move(line_);
        } catch (const CLI::ParseError& e) {
            report_extras();
            // An unknown word in the place of the subcommand hides the subcommand.
            if (problems_.empty()) {
                const CLI::App& app = deepest();
                const bool no_command = app.get_require_subcommand_min() > 0;
                add(no_command ? "no command given" : e.what(), no_command ? listed(subcommand_names(app)) : "",
                    "see `" + command_path(deepest()) + " --help`");
            }
        }
        if (problems_.empty()) report_extras();
        if (problems_.empty()) finish();
        line_.run.command.assign(argv, argv + argc);
        if (line_.command == Command::python) line_.python_words.assign(argv + 1, argv + argc);
        if (!problems_.empty()) throw UserError(problems_);
        return std::move(line_);
    }

private:
    /// "--wave" may come without a value, and the parser would then take the next word for it. So it gets a value here:
    /// the next word if that names parts of a device, else "all".
    static std::vector<std::string> with_wave_values(int argc, const char* const* argv) {
        std::vector<std::string> words(argv, argv + argc);
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i] != "--wave") continue;
            const bool named = i + 1 < words.size() && looks_like_wave_scopes(words[i + 1]);
            words[i] += "=" + (named ? words[i + 1] : "all");
            if (named) words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
        return words;
    }

    /// Removes a word from `words`, but not behind "--". Returns true if the word was there.
    static bool take_word(std::vector<std::string>& words, const std::string& word) {
        const auto end = std::find(words.begin(), words.end(), "--");
        const auto kept = std::remove(words.begin(), end, word);
        const bool there = kept != end;
        words.erase(kept, end);
        return there;
    }

    void add(std::string found, std::string allowed, std::string repair) {
        problems_.push_back({"command line", std::move(found), std::move(allowed), std::move(repair)});
    }

    const CLI::App& deepest() const {
        const CLI::App* app = &app_;
        while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
        return *app;
    }

    /// The nearest option of fio, for `run`, which takes options of fio as well. It is empty if none is near.
    static std::string near_fio_option(const CLI::App& app, const std::string& name) {
        if (app.get_name() != "run" || name.compare(0, 2, "--") != 0) return "";
        const std::string near = FioOptionTable::instance().suggestion(name.substr(2));
        return near.empty() ? "" : "did you mean '--" + near + "'?";
    }

    /// Reports words that no option or argument has taken, on each level of subcommands.
    void report_extras() {
        for (const CLI::App* app = &app_;; app = app->get_subcommands().front()) {
            const bool needs_subcommand = app->get_require_subcommand_min() > 0 && app->get_subcommands().empty();
            for (const auto& word : app->remaining()) {
                if (word == "--") continue;
                if (word[0] == '-') {
                    const std::string name = word.substr(0, word.find('='));
                    const std::string near = did_you_mean(name, option_names(*app));
                    add("unknown option '" + name + "'", "", near.empty() ? near_fio_option(*app, name) : near);
                } else if (needs_subcommand) {
                    const auto names = subcommand_names(*app);
                    add("unknown command '" + word + "'", listed(names), did_you_mean(word, names));
                    return;  // the rest are words of the unknown command
                } else {
                    add("unexpected word '" + word + "'", "", "see `" + command_path(deepest()) + " --help`");
                }
            }
            if (app->get_subcommands().empty()) return;
        }
    }

    template <class T>
    void pick(const char* option, const std::string& given, const OptionWords<T>& values, T& out) {
        const auto found = values.find(given);
        if (found != values.end()) {
            out = found->second;
            return;
        }
        std::vector<std::string> names;
        for (const auto& [name, value] : values) names.push_back(name);
        add(std::string(option) + " '" + given + "'", listed(names), did_you_mean(given, names));
    }

    /// Makes the pages that are printed from the table of commands.
    void make_text() {
        switch (line_.command) {
            case Command::help:
                line_.text = help_page(topic());
                break;
            case Command::version:
                line_.text = version_text();
                break;
            case Command::manual:
                line_.text = manual_page(app_);
                break;
            case Command::completion:
                if (const CompletionPage page = completion_page(texts_.shell)) {
                    line_.text = page(app_);
                } else {
                    add("shell '" + texts_.shell + "'", listed(shell_words()),
                        did_you_mean(texts_.shell, shell_words()));
                }
                break;
            default:
                break;
        }
    }
    /// The command about which `help` is asked.
    const CLI::App& topic() {
        const CLI::App* app = &app_;
        for (const auto& word : texts_.topic) {
            const auto names = subcommand_names(*app);
            if (std::find(names.begin(), names.end(), word) == names.end()) {
                add("no command '" + command_path(*app) + " " + word + "'", listed(names), did_you_mean(word, names));
                break;
            }
            app = app->get_subcommand(word);
        }
        return *app;
    }

    /// Reports a job file or the name of a workload in the place of a device.
    void find_workload_among_devices() {
        const auto names = [](const std::vector<Preset>& all, const std::string& word) {
            return std::any_of(all.begin(), all.end(), [&](const Preset& p) { return p.name == word; });
        };
        for (const std::string& word : line_.files) {
            const bool job = word.size() > 4 && word.compare(word.size() - 4, 4, ".fio") == 0;
            if (job || (!names(presets(), word) && !std::filesystem::exists(word) &&
                        (names(shipped_jobs(), word) || WorkloadGenerators::instance().policies().count(word) != 0)))
                add("'" + word + "' is a workload, and stands where devices do", "a device file or a preset",
                    "write -w " + word);
        }
    }

    void check_trace_columns() {
        const TraceOptions& trace = line_.run.trace;
        if (!trace.columns.empty()) parse_trace_columns(trace.columns, problems_);
        if (!trace.columns.empty() && trace.format != "auto" && trace.format != kColumnsFormat)
            add("--trace-columns and --trace-format " + trace.format, "", "give one of them");
        if (trace.columns.empty() && trace.format == kColumnsFormat)
            add("--trace-format columns without columns", "", "describe them with --trace-columns");
    }

    /// Checks the options for what a run shows and records. They are the same for `run` and `serve`.
    void finish_recording() {
        RunOptions& run = line_.run;
        if (run.watch && run.quiet) add("--watch and --quiet", "", "give one of them");
        run.wave = parse_wave_options(texts_.wave, problems_);
        run.timeline = parse_timeline_options(texts_.timeline, texts_.timeline_from, texts_.timeline_to, problems_);
    }

    void finish_service() {
        GuestServiceOptions& service = texts_.service;
        pick("--pace", texts_.pace, pace_words(), service.pace);
        if (service.pace == vfio::Pacer::Mode::free)
            for (const FactorText& rate : texts_.factors)
                line_.run.notes.push_back(rate.option + " " + rate.text +
                                          " has no effect: it acts only with --pace wall");
        if (service.pace == vfio::Pacer::Mode::free && !service.clock.empty())
            add("--clock with --pace free", "", "leave out one of them: a clock has a pace");
        line_.run.service = service;
    }

    void finish() {
        make_text();
        RunOptions& run = line_.run;
        if (run.workloads.size() == 1) run.workload = run.workloads.front();
        const auto formats = trace_format_words();
        if (std::find(formats.begin(), formats.end(), run.trace.format) == formats.end())
            add("--trace-format '" + run.trace.format + "'", listed(formats), did_you_mean(run.trace.format, formats));
        check_trace_columns();
        pick("--blkparse-action", texts_.blkparse_action, blkparse_action_words(), run.trace.blkparse_action);
        pick("--trace-beyond", texts_.beyond, beyond_device_words(), run.trace.beyond);
        pick("--replay", texts_.replay, replay_words(), run.replay.mode);
        if (!texts_.replay_gap.empty()) {
            const QuantityResult gap = parse_quantity(texts_.replay_gap, Dimension::age);
            if (!gap.ok || gap.value == 0)
                add("--replay-gap " + texts_.replay_gap + (gap.ok ? "" : ": " + gap.found),
                    "a time above 0, up to 292 years, for example 100ms, 2h or 1y", gap.repair);
            if (gap.ok) run.trace.most_gap = Age::nanoseconds(gap.value);
        }
        read_numbers(texts_.counts, texts_.factors, problems_);
        if (line_.command == Command::serve) finish_service();
        if (line_.command == Command::run || line_.command == Command::serve) finish_recording();
        if (line_.command != Command::run && line_.command != Command::config_check) return;
        for (const char* name :
             {"--trace-format", "--trace-columns", "--trace-volume", "--trace-overlay", "--trace-spread",
              "--trace-skip-broken", "--blkparse-action", "--trace-beyond", "--replay", "--replay-depth",
              "--time-scale", "--replay-gap", "--replay-loops", "--replay-jobs"})
            if (deepest().get_option(name)->count() != 0) run.trace_options.emplace_back(name);
        if (line_.command != Command::run) return;
        run.limits = parse_run_limits(run.limit_texts, problems_);
        find_workload_among_devices();
        if (run.workloads.empty() && run.fio.arguments.empty() && problems_.empty())
            add("no workload: --workload is missing",
                "-w FILE, or options of fio as in --rw=randread --bs=4k --size=1g", "add one");
    }

    CommandLineTexts texts_;
    CommandLine& line_ = texts_.line;
    std::unique_ptr<CLI::App> table_ = make_command_table(texts_);
    CLI::App& app_ = *table_;
    std::vector<Problem> problems_;
};

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
    return Parser().parse(argc, argv);
}

}  // namespace ssdtlm
