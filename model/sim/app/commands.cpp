// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"

#include <cstdio>

#include "common/report/all_problems.h"
#include "sim/app/interrupts.h"
#include "sim/app/live_view_needs.h"
#include "sim/app/output_directory.h"
#include "sim/app/output_paths.h"
#include "sim/app/parent.h"
#include "sim/app/python_commands.h"
#include "sim/app/run.h"
#include "sim/app/run_report.h"
#include "sim/app/served_workload.h"
#include "sim/app/workload_notes.h"
#include "sim/app/workload_source.h"
#include "sim/config/config_loader.h"
#include "sim/config/config_show.h"
#include "sim/config/effect_notes.h"
#include "sim/config/plausibility.h"

namespace ssdtlm {
namespace {

/// Does `run`, and `serve`, which is a run whose host is a guest.
int run(const CommandLine& line) {
    end_with_parent();
    Interrupts::catch_all();
    ConfigLoader loader;
    add_flow_defaults(loader, line.run);
    if (line.run.service) add_service_defaults(loader);
    for (const auto& f : line.files) loader.add_device(f);
    for (const auto& a : line.assignments) loader.add_assignment(a);
    if (line.seed) loader.add_option("run.seed", *line.seed, "--seed " + *line.seed);
    RunOptions options = line.run;
    ResolvedConfig resolved;
    AllProblems problems;
    if (!options.service) problems.of([&] { recognise_workload(options); });
    const bool recognised = !problems.any() && !options.service;
    if (options.report) problems.of([&] { check_report(options); });
    if (options.watch) problems.of([] { check_live_view(); });
    problems.of([&] { resolved = loader.finish(); });
    if (problems.any()) {
        if (recognised) problems.of([&] { check_workload_alone(options); });
        if (!options.output_directory.empty())
            problems.of([&] { check_output_directory(options.output_directory, "-o"); });
    }
    if (!problems.any() && options.service) problems.of([&] { check_service(resolved); });
    problems.throw_if_any();
    if (options.service) resolved.config = served_config(std::move(resolved.config));
    options.resolved_config = show_toml(resolved);
    options.config_digest = config_digest(resolved.config);
    for (std::string& note : notes_on_effect(resolved)) options.notes.push_back(std::move(note));
    for (std::string& note : notes_on_plausibility(resolved)) options.notes.push_back(std::move(note));
    std::vector<std::string> generators = options.workloads;
    generators.push_back(resolved.config.ftl.precondition_workload);
    for (std::string& note : notes_on_generators(resolved, generators)) options.notes.push_back(std::move(note));
    options.output_option = "-o";
    if (options.output_directory.empty()) {
        options.output_directory = default_output_directory(resolved.config.name, workload_title(options));
        options.output_option = "default output folder";
    }
    check_output_paths(resolved.config, options, line.files);
    if (!options.report) return run_simulation(resolved.config, options);
    int code = 0;
    try {
        code = run_simulation(resolved.config, options);
    } catch (const UserError&) {
        throw;  // the user made a mistake, so nothing has run
    } catch (...) {
        no_report(options);
        throw;
    }
    return write_report(options, code);
}

}  // namespace

int execute(const CommandLine& line) {
    using Command = CommandLine::Command;
    switch (line.command) {
        case Command::none:
            panic(__func__, "a command line without a command was not refused");
        case Command::help:
        case Command::version:
        case Command::manual:
        case Command::completion:
            std::fputs(line.text.c_str(), stdout);
            break;
        case Command::run:
        case Command::serve:
            return run(line);
        case Command::config_check:
            return config_check(line);
        case Command::config_show:
            return config_show(line);
        case Command::config_derive:
            return config_derive(line);
        case Command::config_schema:
            std::fputs(config_schema().c_str(), stdout);
            break;
        case Command::config_presets:
            return config_presets(line);
        case Command::config_workloads:
            return config_workloads(line);
        case Command::config_fio:
            return config_fio(line);
        case Command::config_reference:
            std::fputs(config_reference().c_str(), stdout);
            break;
        case Command::trace_formats:
            return list_trace_formats();
        case Command::trace_info:
            return trace_info(line);
        case Command::trace_head:
            return trace_head(line);
        case Command::wave_check:
            return wave_check(line);
        case Command::python:
            become_python(line.python_words);
    }
    return static_cast<int>(ExitCode::ok);
}

}  // namespace ssdtlm
