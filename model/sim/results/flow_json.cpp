// SPDX-License-Identifier: Apache-2.0
#include "sim/results/flow_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/report/error.h"

namespace ssdtlm {

using Json = nlohmann::ordered_json;

namespace {

/// The column of the terminal's table that has this wait.
const char* cause_of(Stage s) {
    switch (s) {
        case Stage::die_wait_host_read:
        case Stage::die_wait_host_write:
        case Stage::die_wait_rmw:
            return "own work";
        case Stage::die_wait_mapping:
            return "mapping";
        case Stage::die_wait_journal:
        case Stage::die_wait_checkpoint:
            return "journal";
        case Stage::die_wait_parity:
        case Stage::die_wait_padding:
            return "parity";
        case Stage::channel_wait:
            return "bus";
        default:
            return "collection";
    }
}
constexpr std::size_t kRowsOfWaits = 25;  ///< rows on the terminal: enough for four flows; assumed to fit on a screen
constexpr const char* kCauses[] = {"own work", "collection", "mapping", "journal", "parity", "bus"};

Json figures_json(const FlowFigures& f) {
    Json j{{"commands", f.commands},         {"bytes", f.bytes},       {"response_ps", f.response_ps},
           {"response_us", f.response_us()}, {"active_s", f.active_s}, {"iops", f.iops()},
           {"chip_queue_mean", f.chip_queue}};
    if (f.map_hit_ratio())
        j["map"] = {{"hits", f.map_hits}, {"misses", f.map_misses}, {"hit_ratio", *f.map_hit_ratio()}};
    if (f.read_hit_ratio())
        j["reads"] = {{"count", f.reads}, {"without_flash", f.reads_without_flash}, {"hit_ratio", *f.read_hit_ratio()}};
    return j;
}

Json change_json(const FlowChange& c) {
    Json j;
    const auto add = [&j](const char* key, const std::optional<double>& value) {
        if (value) j[key] = *value;
    };
    add("slowdown", c.slowdown);
    add("throughput", c.throughput);
    add("chip_queue", c.chip_queue);
    add("map_hit_ratio", c.map_hit_ratio);
    add("read_hit_ratio", c.read_hit_ratio);
    add("bandwidth", c.bandwidth);
    if (c.bandwidth) j["bandwidth_lost"] = 1 - *c.bandwidth;
    return j;
}

std::vector<FlowChange> changes(const RunSummary& s) {
    std::vector<FlowChange> all;
    for (std::size_t i = 0; i < s.flows_alone.size(); ++i) all.push_back(change_of(s.flows[i], s.flows_alone[i]));
    return all;
}

const FlowFigures* named(const std::vector<FlowFigures>& flows, const std::string& name) {
    for (const FlowFigures& f : flows)
        if (f.name == name) return &f;
    return nullptr;
}

/// True: commands wait in the host for so long that the table of latencies shows it.
bool waits_before_the_drive(const RunSummary& s) {
    return std::any_of(s.latency.begin(), s.latency.end(), [](const LatencyStats::Row& row) {
        return (row.stage == "block_queue" || row.stage == "host_queue") && row.mean >= 0.005;
    });
}

std::string name_of(const RunSummary& s, std::uint32_t flow) {
    return flow == 0 ? "nobody" : s.flows[flow - 1].name;
}

std::int64_t total(const FlowWait& w) {
    std::int64_t sum = 0;
    for (const std::int64_t ps : w.ps) sum += ps;
    return sum;
}

std::int64_t of_cause(const FlowWait& w, const std::string& cause) {
    std::int64_t ps = 0;
    for (std::size_t i = 0; i < kStageCount; ++i)
        if (w.ps[i] != 0 && cause == cause_of(static_cast<Stage>(i))) ps += w.ps[i];
    return ps;
}

/// The text with BDR and EV, as what flows keep and (in brackets) what they lose.
std::string bandwidth_text(const RunSummary& s, const std::vector<FlowChange>& change) {
    const auto all = bandwidth_shares_of(change);
    if (!all) return {};
    std::string t = "  -> of its bandwidth alone each keeps (loses)";
    for (std::size_t i = 0; i < change.size() && i < kRowsOfWaits; ++i)
        t += fmt::format("{} {} {:.3f} ({:.3f})", i == 0 ? ":" : ",", s.flows[i].name, *change[i].bandwidth,
                         1 - *change[i].bandwidth);
    return t + fmt::format("; sum {:.3f} ({:.3f}), fairness {:.3f}, least over most {:.3f}\n", all->utilisation,
                           static_cast<double>(change.size()) - all->utilisation, all->fairness(), all->ratio());
}

}  // namespace

void add_flows_json(Json& result, const RunSummary& s) {
    const std::vector<FlowChange> change = changes(s);
    for (std::size_t i = 0; i < s.flows.size(); ++i) {
        Json j{{"flow", i + 1}, {"name", s.flows[i].name}};
        j.update(figures_json(s.flows[i]));
        if (i < change.size()) {
            j["alone"] = figures_json(s.flows_alone[i]);
            j["over_alone"] = change_json(change[i]);
        }
        if (const FlowFigures* base = named(s.flows_base, s.flows[i].name); base != nullptr && base->iops() > 0)
            j["throughput_over_base"] = s.flows[i].iops() / base->iops();
        result["flows"].push_back(std::move(j));
    }
    if (const auto all = interference_of(change))
        result["interference"] = {{"fairness", all->fairness}, {"weighted_speedup", all->weighted_speedup}};
    if (const auto all = bandwidth_shares_of(change))
        result["bandwidth_shares"] = {{"kept_sum", all->utilisation},
                                      {"lost_sum", static_cast<double>(change.size()) - all->utilisation},
                                      {"fairness", all->fairness()},
                                      {"least_over_most", all->ratio()}};
    for (const FlowWait& w : s.flow_waits) {
        Json j{{"flow", name_of(s, w.flow)}, {"for", name_of(s, w.of)}, {"total_ps", total(w)}};
        for (std::size_t i = 0; i < kStageCount; ++i)
            if (w.ps[i] != 0) j["stages_ps"][stage_name(static_cast<Stage>(i))] = w.ps[i];
        for (const char* cause : kCauses) j["causes_ps"][cause] = of_cause(w, cause);
        result["flow_waits"].push_back(std::move(j));
    }
}

std::string flows_text(const RunSummary& s) {
    if (s.flows.empty()) return {};
    const std::vector<FlowChange> change = changes(s);
    const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{:.3f}", *v) : std::string("-"); };
    std::string t = "\nflow                  commands        IOPS  response us  chip queue";
    if (!change.empty()) t += "   alone us  slow-down  throughput  chip queue";
    if (!s.flows_base.empty()) t += "  of base";
    t += '\n';
    for (std::size_t i = 0; i < s.flows.size(); ++i) {
        const FlowFigures& f = s.flows[i];
        t += fmt::format("  {:<18}{:>10}{:>12.1f}{:>13.2f}{:>12.3f}", f.name, f.commands, f.iops(), f.response_us(),
                         f.chip_queue);
        if (!change.empty())
            t += fmt::format("{:>11.2f}{:>11}{:>12}{:>12}", s.flows_alone[i].response_us(), number(change[i].slowdown),
                             number(change[i].throughput), number(change[i].chip_queue));
        if (!s.flows_base.empty()) {
            const FlowFigures* base = named(s.flows_base, f.name);
            const bool known = base != nullptr && base->iops() > 0;
            t += fmt::format("{:>9}", number(known ? std::optional<double>(f.iops() / base->iops()) : std::nullopt));
        }
        t += '\n';
    }
    if (waits_before_the_drive(s))
        t += "  response us begins with the entry in the drive's queue: block_queue and host_queue are not in it\n";
    if (const auto all = interference_of(change))
        t += fmt::format("  -> fairness {:.3f}, weighted speed-up {:.3f} of {}\n", all->fairness, all->weighted_speedup,
                         s.flows.size());
    t += bandwidth_text(s, change);
    if (s.flow_waits.empty()) return t;
    t += "\nwaits for the flash, us per command\n  of                for               ";
    for (const char* cause : kCauses) t += fmt::format("{:>11}", cause);
    t += "      total\n";
    // The number of rows grows with the square of the flows, so the table shows only the longest waits.
    std::vector<FlowWait> shown = s.flow_waits;
    if (shown.size() > kRowsOfWaits) {
        std::stable_sort(shown.begin(), shown.end(),
                         [](const FlowWait& a, const FlowWait& b) { return total(a) > total(b); });
        shown.resize(kRowsOfWaits);
    }
    for (const FlowWait& w : shown) {
        const double commands = static_cast<double>(s.flows[w.flow - 1].commands);
        t += fmt::format("  {:<18}{:<18}", name_of(s, w.flow), name_of(s, w.of));
        for (const std::string cause : kCauses) {
            t += fmt::format("{:>11.2f}", static_cast<double>(of_cause(w, cause)) * 1e-6 / commands);
        }
        t += fmt::format("{:>11.2f}\n", static_cast<double>(total(w)) * 1e-6 / commands);
    }
    if (shown.size() != s.flow_waits.size())
        t += fmt::format("  the {} longest of {}; all are in result.json\n", shown.size(), s.flow_waits.size());
    return t;
}

std::vector<FlowFigures> flows_of_json(const std::string& file) {
    std::ifstream in(file);
    const bool there = in.is_open();
    const Json result = Json::parse(in, nullptr, false);
    if (result.is_discarded() || !result.contains("flows"))
        throw UserError(Problem{file, there ? "no flows in it" : "cannot be read",
                                "result.json of a run of several flows", "name the folder of such a run"});
    std::vector<FlowFigures> all;
    for (const Json& j : result["flows"]) {
        FlowFigures f;
        f.name = j["name"];
        f.commands = j["commands"];
        f.bytes = j["bytes"];
        f.response_ps = j["response_ps"];
        f.active_s = j["active_s"];
        f.chip_queue = j["chip_queue_mean"];
        if (j.contains("map")) {
            f.map_hits = j["map"]["hits"];
            f.map_misses = j["map"]["misses"];
        }
        if (j.contains("reads")) {
            f.reads = j["reads"]["count"];
            f.reads_without_flash = j["reads"]["without_flash"];
        }
        all.push_back(std::move(f));
    }
    return all;
}

}  // namespace ssdtlm
