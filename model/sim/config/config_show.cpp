// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config_show.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/report/content_hash.h"
#include "common/report/json_dump.h"
#include "sim/config/parameters.h"

namespace ssdtlm {
namespace {

constexpr std::size_t kOriginColumn = 44;

std::vector<DocumentedParameter> documented() {
    const SsdConfig standard;
    std::vector<DocumentedParameter> all;
    for (const auto& p : ssd_parameters()) all.push_back({&p, p.get(standard)});
    return all;
}

}  // namespace

std::string show_toml(const ResolvedConfig& resolved) {
    const auto& parameters = ssd_parameters();
    std::string s;
    for (const auto& t : parameter_tables()) {
        if (!t.table.empty()) s += "\n[" + t.table + "]\n";
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const auto& p = parameters[i];
            if (p.table() != t.table) continue;
            std::string line = p.leaf() + " = " + to_toml(p, p.get(resolved.config));
            line.resize(std::max(line.size() + 2, kOriginColumn), ' ');
            s += line + "# ";
            // An origin may be text of the command line. Its control characters are replaced, because a line break
            // would end the comment.
            for (const char c : resolved.origin[i]) s += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
            s += '\n';
        }
    }
    return s;
}

std::string show_json(const ResolvedConfig& resolved, int indent) {
    const auto& parameters = ssd_parameters();
    nlohmann::ordered_json root;
    root["digest"] = config_digest(resolved.config);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto& p = parameters[i];
        const Value v = p.get(resolved.config);
        auto& entry = root["parameters"][p.key];
        if (const auto* b = std::get_if<bool>(&v)) {
            entry["value"] = *b;
        } else if (const auto* n = std::get_if<std::int64_t>(&v); n != nullptr && p.kind == ParameterKind::integer) {
            entry["value"] = *n;
        } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&v);
                   list != nullptr && p.kind == ParameterKind::integer) {
            entry["value"] = *list;
        } else if (list != nullptr && list->size() > 1) {
            for (const auto item : *list) entry["value"].push_back(to_text(p, Value{item}));
        } else {
            entry["value"] = to_text(p, v);
        }
        entry["origin"] = resolved.origin[i];
    }
    return json_dump(root, indent) + "\n";
}

std::string config_digest(const SsdConfig& config) {
    ContentHash hash;
    for (const auto& p : ssd_parameters())
        if (!p.table().empty()) hash.add(p.key + "=" + to_toml(p, p.get(config)) + "\n");
    return hash.text();
}

std::string config_schema() {
    return json_schema(documented(), "Device of ssdtlm");
}

std::string config_reference() {
    return "# Parameters\n\n"
           "Written by `ssdtlm config reference` from the table in `model/sim/config`; do not edit.\n\n"
           "A device is a TOML file. Values with a unit are strings: `t_read = \"75us\"`, `size = \"256MiB\"`; "
           "prefixes are\n"
           "strict (kB = 1000 B, KiB = 1024 B). Several files are merged from left to right, `--set key=value` comes "
           "last.\n" +
           markdown_reference(documented(), parameter_tables());
}

}  // namespace ssdtlm
