// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/report/all_problems.h"
#include "common/report/json_dump.h"
#include "host_pcie/workload/fio/fio_options.h"
#include "host_pcie/workload/generated_workload.h"
#include "sim/app/commands.h"
#include "sim/app/run.h"
#include "sim/app/workload_source.h"
#include "sim/config/config_loader.h"
#include "sim/config/config_show.h"
#include "sim/config/effect_notes.h"
#include "sim/config/plausibility.h"
#include "sim/config/presets.h"
#include "sim/derive/derive.h"

namespace ssdtlm {

namespace {

nlohmann::ordered_json problems_json(const UserError& error) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& p : error.problems())
        all.push_back({{"where", p.where}, {"found", p.found}, {"allowed", p.allowed}, {"repair", p.repair}});
    return all;
}

/// Prints many configurations at once. A sweep asks for thousands of them, and a process for each would take too long.
int show_variants(const CommandLine& line) {
    std::ifstream file;
    if (line.variants != "-") {
        file.open(line.variants);
        if (!file)
            throw UserError(
                {"--variants " + line.variants, std::string("cannot be read: ") + std::strerror(errno), "", ""});
    }
    std::istream& in = line.variants == "-" ? std::cin : file;
    bool right = true;
    std::size_t number = 0;
    for (std::string text; std::getline(in, text);) {
        ++number;
        std::vector<std::string> assignments = line.assignments;
        try {
            for (const auto& one : nlohmann::json::parse(text)) assignments.push_back(one.get<std::string>());
        } catch (const nlohmann::json::exception&) {
            throw UserError({"--variants " + line.variants + ":" + std::to_string(number), "is no list of texts",
                             "[\"KEY=VALUE\", ...]", ""});
        }
        try {
            std::fputs(show_json(load_config(line.files, assignments), -1).c_str(), stdout);
        } catch (const UserError& e) {
            right = false;
            std::puts(json_dump({{"problems", problems_json(e)}}, -1).c_str());
        }
    }
    return static_cast<int>(right ? ExitCode::ok : ExitCode::user_error);
}

}  // namespace

int config_check(const CommandLine& line) {
    try {
        RunOptions options = line.run;
        ResolvedConfig resolved;
        AllProblems problems;
        const bool with_workload = !options.workloads.empty() || !options.fio.arguments.empty();
        if (with_workload) problems.of([&] { recognise_workload(options); });
        const bool recognised = !problems.any();
        problems.of([&] {
            ConfigLoader loader;
            add_flow_defaults(loader, options);
            for (const auto& f : line.files) loader.add_device(f);
            for (const auto& a : line.assignments) loader.add_assignment(a);
            resolved = loader.finish();
        });
        if (problems.any() && with_workload && recognised) problems.of([&] { check_workload_alone(options); });
        problems.throw_if_any();
        check_simulation(resolved.config, options);
        if (line.run.json) {
            std::puts("[]");
        } else {
            std::printf("%s: no problems\n", resolved.config.name.c_str());
            for (const std::string& note : notes_on_effect(resolved)) std::printf("note: %s\n", note.c_str());
            for (const std::string& note : notes_on_plausibility(resolved)) std::printf("note: %s\n", note.c_str());
        }
        return static_cast<int>(ExitCode::ok);
    } catch (const UserError& e) {
        if (!line.run.json) throw;
        std::puts(json_dump(problems_json(e)).c_str());
        return static_cast<int>(ExitCode::user_error);
    }
}

int config_show(const CommandLine& line) {
    if (!line.variants.empty()) return show_variants(line);
    const ResolvedConfig resolved = load_config(line.files, line.assignments);
    std::fputs((line.run.json ? show_json(resolved) : show_toml(resolved)).c_str(), stdout);
    return static_cast<int>(ExitCode::ok);
}

int config_derive(const CommandLine& line) {
    const SsdConfig config = load_config(line.files, line.assignments).config;
    const Derived derived = derive(config);
    std::fputs((line.run.json ? derived_json(config, derived) : derived_text(config, derived)).c_str(), stdout);
    return static_cast<int>(ExitCode::ok);
}

int config_presets(const CommandLine& line) {
    if (presets().empty()) throw UserError(nothing_shipped("device", "config presets", "no presets"));
    if (line.run.json) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const auto& p : presets())
            all.push_back({{"name", p.name}, {"path", p.path}, {"description", p.description}});
        std::puts(json_dump(all).c_str());
    } else {
        for (const auto& p : presets()) std::printf("%-18s %s\n", p.name.c_str(), p.description.c_str());
    }
    return static_cast<int>(ExitCode::ok);
}

int config_workloads(const CommandLine& line) {
    struct Row {
        std::string name, kind, path, description;
    };
    std::vector<Row> rows;
    for (const auto& job : shipped_jobs()) rows.push_back({job.name, "fio", job.path, job.description});
    for (const auto& [name, generator] : WorkloadGenerators::instance().policies())
        rows.push_back({name, "generated", "", generator.sentence});
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Row& r : rows) {
        if (line.run.json)
            all.push_back({{"name", r.name}, {"kind", r.kind}, {"path", r.path}, {"description", r.description}});
        else
            std::printf("%-22s %s\n", r.name.c_str(), r.description.c_str());
    }
    if (line.run.json) std::puts(json_dump(all).c_str());
    if (shipped_jobs().empty())
        std::fprintf(stderr, "warning: %s\n",
                     nothing_shipped("workload", "config workloads", "no job files").text().c_str());
    return static_cast<int>(ExitCode::ok);
}

int config_fio(const CommandLine& line) {
    const FioOptionTable& table = FioOptionTable::instance();
    if (!line.run.json) {
        std::fputs(table.markdown().c_str(), stdout);
        return static_cast<int>(ExitCode::ok);
    }
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const FioOption& o : table.options())
        all.push_back({{"name", o.name},
                       {"alias", o.alias != nullptr ? o.alias : ""},
                       {"here", FioOptionTable::treatment(o)},
                       {"flag", is_fio_flag(o.name)},
                       {"remark", FioOptionTable::remark(o)}});
    std::puts(json_dump(all).c_str());
    return static_cast<int>(ExitCode::ok);
}

}  // namespace ssdtlm
