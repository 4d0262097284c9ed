// SPDX-License-Identifier: Apache-2.0
#include "sim/config/saved_drive.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "sim/config/parameters.h"
#include "sim/version.h"

namespace ssdtlm {

namespace {
/// True: the parameter affects only how a drive continues, not the state that it has saved.
bool only_goes_on(const std::string& key) {
    static const char* const keys[] = {"ftl.placement",        "ftl.scan_reads_per_die", "map.protected",
                                       "slc.fold_free_blocks", "slc.fold_rate",          "firmware.stream_choice"};
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

bool decides(const SsdParameter& p) {
    static const char* const tables[] = {"ftl", "fast", "slc", "map", "read_cache", "read_ahead", "nand.geometry"};
    static const char* const keys[] = {
        "gc.policy",         "gc.frontier",   "gc.hard_free_blocks", "nand.bits_per_cell", "nand.two_step",
        "nand.faults.model", "nvme.lba_size", "nvme.namespaces",     "frontend.kind",      "run.data"};
    if (only_goes_on(p.key) || p.key == "ftl.over_provisioning") return false;  // ftl.user_capacity says it
    const auto is_in = [&p](const std::string& table) {
        return p.table() == table || p.table().rfind(table + ".", 0) == 0;
    };
    return std::any_of(std::begin(tables), std::end(tables), is_in) ||
           std::find(std::begin(keys), std::end(keys), p.key) != std::end(keys);
}

/// Returns true if the parameter shapes something that this drive has.
bool decides_here(const SsdParameter& p, const SsdConfig& config) {
    if (p.key == "nvme.metadata") return config.nand.geometry.metadata_bytes != 0;
    // Blocks that nobody has written have bytes of the seed.
    if (p.key == "run.seed") return config.run.data == DataMode::bytes;
    if (p.key == "buffer.size") return config.ftl.read_cache.shares_room();
    if (p.key == "firmware.cores" || p.key.rfind("firmware.table_", 0) == 0)
        return config.firmware.table_cache_bytes != 0;
    return decides(p);
}

/// The value of a parameter of which a saved drive says nothing.
std::string unsaid(const std::string& key) {
    if (key == "nvme.metadata") return "false";
    if (key == "buffer.size" || key == "firmware.cores" || key.rfind("firmware.table_", 0) == 0)
        return "without effect";
    return "not known";
}

std::map<std::string, std::string> values_in(const std::string& text) {
    std::map<std::string, std::string> values;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t at = line.find(" = "); at != std::string::npos && line[0] != '#')
            values[line.substr(0, at)] = line.substr(at + 3);
    return values;
}
}  // namespace

std::string saved_drive_text(const SsdConfig& config) {
    std::string text = "# saved by ssdtlm " + std::string(kVersion) + "\n";
    for (const auto& p : ssd_parameters())
        if (decides_here(p, config)) text += p.key + " = " + to_toml(p, p.get(config)) + "\n";
    return text;
}

std::vector<std::string> differences_from_saved(const SsdConfig& config, const std::string& text) {
    auto then = values_in(text), now = values_in(saved_drive_text(config));
    // The flash knows no protocol. What one keeps besides, another passes over.
    const bool same_protocol = then["frontend.kind"] == now["frontend.kind"];
    for (auto* const values : {&then, &now}) {
        values->erase("frontend.kind");
        if (!same_protocol) values->erase("nvme.namespaces");
    }
    std::vector<std::string> out;
    for (const auto& p : ssd_parameters())
        if (const auto found = then.find(p.key);
            found != then.end() && now.count(p.key) == 0 && to_toml(p, p.get(config)) != found->second)
            out.push_back(p.key + " was " + found->second + " when the drive was saved, and is " +
                          to_toml(p, p.get(config)));
    for (const auto& [key, value] : now) {
        const auto found = then.find(key);
        const std::string was = found == then.end() ? unsaid(key) : found->second;
        if (was != value) out.push_back(key + " was " + was + " when the drive was saved, and is " + value);
    }
    return out;
}

}  // namespace ssdtlm
