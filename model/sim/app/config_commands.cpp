// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/report/json_dump.h"
#include "sim/app/commands.h"
#include "sim/config/config_loader.h"
#include "sim/config/config_show.h"
#include "sim/config/presets.h"

namespace ssdtlm {

int config_check(const CommandLine& line) {
    try {
        const ResolvedConfig resolved = load_config(line.files, line.assignments);
        if (line.run.json) {
            std::puts("[]");
        } else {
            std::printf("%s: no problems\n", resolved.config.name.c_str());
        }
        return static_cast<int>(ExitCode::ok);
    } catch (const UserError& e) {
        if (!line.run.json) throw;
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const auto& p : e.problems()) {
            all.push_back({{"where", p.where}, {"found", p.found}, {"allowed", p.allowed}, {"repair", p.repair}});
        }
        std::puts(json_dump(all).c_str());
        return static_cast<int>(ExitCode::user_error);
    }
}

int config_show(const CommandLine& line) {
    const ResolvedConfig resolved = load_config(line.files, line.assignments);
    std::fputs((line.run.json ? show_json(resolved) : show_toml(resolved)).c_str(), stdout);
    return static_cast<int>(ExitCode::ok);
}

int config_presets(const CommandLine& line) {
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

}  // namespace ssdtlm
