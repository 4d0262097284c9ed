// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/wave/vcd_reader.h"
#include "sim/app/commands.h"
#include "sim/config/config_loader.h"
#include "sim/wave/pin_recording.h"

namespace ssdtlm {
namespace {

/// Reads result.json or failed.json beside the waveform. The result is null if there is neither.
nlohmann::json run_beside(const std::filesystem::path& wave) {
    for (const char* name : {"result.json", "failed.json"}) {
        std::ifstream in(wave.parent_path() / name);
        if (!in) continue;
        const nlohmann::json run = nlohmann::json::parse(in, nullptr, false);
        if (!run.is_discarded()) return run;
    }
    return nullptr;
}

SsdConfig device_of(const CommandLine& line, const nlohmann::json& run) {
    ConfigLoader loader;
    for (const std::string& file : line.files) loader.add_device(file);
    if (line.files.empty()) {
        if (!run.contains("config_toml"))
            throw UserError(Problem{line.wave_file, "no result.json stands beside it, and no device is named", "",
                                    "name the device that was recorded: ssdtlm wave check FILE.vcd DEVICE"});
        loader.add_text(run["config_toml"].get<std::string>(), "result.json");
    }
    for (const std::string& assignment : line.assignments) loader.add_assignment(assignment);
    return loader.finish().config;
}

std::vector<SimTime> power_losses(const nlohmann::json& run) {
    std::vector<SimTime> all;
    if (!run.contains("power_cuts")) return all;
    const auto seconds = [](const nlohmann::json& s) { return Ps{std::llround(s.get<double>() * 1e12)}; };
    // These times count from the start of the workload, but a waveform begins with the bring-up.
    for (const nlohmann::json& cut : run["power_cuts"])
        all.push_back(
            SimTime{seconds(run.at("bring_up_s")) + seconds(cut.at("at_s")) + seconds(cut.at("on_capacitors_s"))});
    return all;
}

}  // namespace

int wave_check(const CommandLine& line) {
    VcdReader{line.wave_file};  // a missing waveform is reported before missing results beside it
    const nlohmann::json run = run_beside(line.wave_file);
    const SsdConfig device = device_of(line, run);
    bool broken = false;
    for (const CheckedRecording& c : check_recorded_pins(line.wave_file, device.nand, power_losses(run))) {
        const std::string what = fmt::format("{}, {:.3f} to {:.3f} us, {} strobes of data", c.scope,
                                             to_microseconds(c.begin.time_since_epoch()),
                                             to_microseconds(c.end.time_since_epoch()), c.strobes);
        if (c.violations == 0)
            fmt::print("{}: no rule broken\n", what);
        else
            fmt::print("{}: rules broken {} times\n{}", what, c.violations, c.report);
        broken = broken || c.violations != 0;
    }
    return static_cast<int>(broken ? ExitCode::check_failed : ExitCode::ok);
}

}  // namespace ssdtlm
