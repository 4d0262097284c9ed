// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "common/report/json_dump.h"
#include "sim/config/config_show.h"
#include "sim/derive/derive.h"
#include "sim/derive/words.h"

namespace ssdtlm {

namespace {

using Json = nlohmann::ordered_json;

std::string value_words(const Figure& f) {
    if (f.unit == "s") return time_words(f.value);
    if (f.unit == "B") return size_words(static_cast<std::uint64_t>(f.value));
    if (f.unit == "%") return fmt::format("{:.2f} %", f.value);
    if (f.unit == "J") return fmt::format("{:.4g} J", f.value);
    if (f.unit == "1/s") return fmt::format("{:.0f} IOPS", f.value);
    return fmt::format("{:.3f}", f.value);
}

/// Says from which rate on the resource may limit, because less is shared or joined than in the best case.
std::string range_words(const Ceiling& c) {
    if (c.reached == 0 || c.reached > 0.98 * c.iops) return "";
    return fmt::format("; from {:.0f} IOPS on when it limits, as not all is joined or shared", c.reached);
}

/// Says when the ceilings hold: until a write buffer is full, it takes writes faster than the flash.
std::string holds_words(const SsdConfig& c, const Ceilings& set) {
    const bool buffered = !set.work.reads() && c.ftl.buffer_mode != BufferMode::write_through;
    return buffered ? "sustained, once the write buffer is full" : "always";
}

Json json_of(const Ceilings& set, const std::string& holds) {
    Json j{{"op", set.work.reads() ? "read" : "write"},
           {"pattern", set.work.random ? "random" : "sequential"},
           {"bytes", set.work.bytes}};
    j["least"] = nullptr;
    j["resources"] = Json::array();
    for (const Ceiling& c : set.of) {
        if (c.least) j["least"] = c.resource;
        j["resources"].push_back({{"resource", c.resource},
                                  {"iops", c.iops},
                                  {"MB_per_s", c.mb_per_s},
                                  {"iops_when_it_limits", c.reached > 0 ? Json(c.reached) : Json()},
                                  {"formula", c.formula}});
    }
    j["left_out"] = set.left_out;
    j["holds"] = holds;
    return j;
}

}  // namespace

std::string derived_text(const SsdConfig& c, const Derived& d) {
    std::string s = c.name + ": what follows from the configuration, by formula; nothing was run\n";
    for (const Figures& group : d.groups) {
        s += "\n" + group.name + "\n";
        for (const Figure& f : group.of) s += fmt::format("  {:<26} {:<14} {}\n", f.name, value_words(f), f.formula);
        for (const std::string& why : group.left_out) s += "  left out: " + why + "\n";
    }
    s += "\nCeilings: no more than this, whatever the load; of writes, once the write buffer is full; "
         "* is the least of its kind.\n";
    for (const Ceilings& set : d.ceilings) {
        const std::string holds = holds_words(c, set);
        s += fmt::format("\n{}{}\n", set.work.name, holds == "always" ? "" : ", " + holds);
        for (const Ceiling& ceiling : set.of)
            s += fmt::format("{} {:<26} {:>9.1f} MB/s {:>10.0f} IOPS  {}{}\n", ceiling.least ? "*" : " ",
                             ceiling.resource, ceiling.mb_per_s, ceiling.iops, ceiling.formula, range_words(ceiling));
        for (const std::string& why : set.left_out) s += "  left out: " + why + "\n";
    }
    return s;
}

std::string derived_json(const SsdConfig& c, const Derived& d) {
    Json root{{"name", c.name}, {"digest", config_digest(c)}};
    for (const Figures& group : d.groups) {
        Json& j = root["figures"][group.name];
        j["values"] = Json::object();
        for (const Figure& f : group.of)
            j["values"][f.name] = {{"value", f.value}, {"unit", f.unit}, {"formula", f.formula}};
        j["left_out"] = group.left_out;
    }
    for (const Ceilings& set : d.ceilings) root["ceilings"][set.work.name] = json_of(set, holds_words(c, set));
    return json_dump(root) + "\n";
}

}  // namespace ssdtlm
