// SPDX-License-Identifier: Apache-2.0
#include "sim/results/result_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/report/json_dump.h"
#include "sim/limits/limit_json.h"
#include "sim/results/flow_json.h"
#include "sim/results/traffic_json.h"

namespace ssdtlm {

using Json = nlohmann::ordered_json;

namespace {

Json direction_json(const RunSummary::Direction& d) {
    return {{"ios", d.ios},
            {"bytes", d.bytes},
            {"active_s", to_seconds(d.active)},
            {"iops", d.iops},
            {"MB_per_s", d.mb_per_s}};
}

/// A JSON list of one member of each element.
template <class T, class Member>
Json list_of(const std::vector<T>& all, Member member) {
    Json list = Json::array();
    for (const T& one : all) list.push_back(one.*member);
    return list;
}

Json wear_json(const RunSummary& s) {
    Json j{{"erases_min", list_of(s.wear, &DieWear::least)},
           {"erases_mean", list_of(s.wear, &DieWear::mean)},
           {"erases_max", list_of(s.wear, &DieWear::most)}};
    for (const auto& [erases, blocks] : s.blocks_by_erases)
        j["blocks_by_erases"].push_back({{"erases", erases}, {"blocks", blocks}});
    return j;
}

Json queue_json(const RunSummary& s) {
    return {{"looks", s.queue_looks},
            {"mean", list_of(s.queues, &DieQueue::mean)},
            {"max", list_of(s.queues, &DieQueue::most)}};
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

}  // namespace

namespace {
std::string job_name(const RunSummary& s, std::uint32_t job) {
    return job < s.job_names.size() ? s.job_names[job] : std::string{};
}

/// Quotes a name that has a comma, a quote or a line break (RFC 4180).
std::string csv_text(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string latency_by_job_csv(const RunSummary& s) {
    std::string csv = "of,number,name,op,count,mean_us,p50_us,p99_us,p99.9_us,max_us";
    for (std::size_t i = 0; i < kStageCount; ++i) csv += fmt::format(",{}_us", stage_name(static_cast<Stage>(i)));
    csv += "\n";
    const auto line = [&csv](const char* of, std::uint32_t number, const std::string& name,
                             const LatencyStats::JobRow& r) {
        csv += fmt::format("{},{},{},{},{},{:.6f},{:.3f},{:.3f},{:.3f},{:.6f}", of, number, csv_text(name), r.op,
                           r.count, r.mean, r.p50, r.p99, r.p99_9, r.max);
        for (const double us : r.stage) csv += fmt::format(",{:.6f}", us);
        csv += "\n";
    };
    for (const auto& r : s.by_job) line("job", r.job, job_name(s, r.job), r);
    // Tenants have the numbers that the drive gets.
    for (const auto& r : s.by_tenant) line("tenant", r.job + 1, "", r);
    for (const auto& r : s.by_stream) line("stream", r.job, "", r);
    return csv;
}

/// One job or tenant of latency_by_job.csv.
Json job_json(const LatencyStats::JobRow& r) {
    Json j{{"op", r.op},   {"count", r.count}, {"mean", r.mean}, {"p50", r.p50},
           {"p99", r.p99}, {"p99.9", r.p99_9}, {"max", r.max}};
    for (std::size_t i = 0; i < kStageCount; ++i)
        if (r.stage[i] != 0) j["stages"][stage_name(static_cast<Stage>(i))] = r.stage[i];
    return j;
}
}  // namespace

std::string result_json(const RunSummary& s, const std::string& resolved_config) {
    Json j;
    if (s.failure)
        j["failure"] = {{"kind", s.failure->kind},
                        {"exit_code", s.failure->exit_code},
                        {"reason", s.failure->reason},
                        {"state", lines(s.failure->state)}};
    j["ssdtlm"] = s.version;
    j["device"] = s.device;
    j["workload"] = s.workload;
    j["workload_digest"] = s.workload_digest;
    j["seed"] = s.seed;
    j["ended_by"] = s.ended_by;
    j["interrupted"] = s.interrupted;
    j["simulated_s"] = to_seconds(s.simulated);
    j["measured_window_s"] = to_seconds(s.measured);
    j["bring_up_s"] = to_seconds(s.bring_up);
    if (s.user_bytes != 0)
        j["capacity"] = {{"raw_bytes", s.raw_bytes},
                         {"user_bytes", s.user_bytes},
                         {"over_provisioning_percent", 100 * s.over_provisioning}};
    if (s.start) j["precondition"] = drive_start_json(*s.start);
    j["commands"] = s.commands;
    j["commands_including_ramp"] = s.commands_all;
    j["integrity_checked_blocks"] = s.integrity_checked;
    j["error_status"] = s.error_status;
    j["read"] = direction_json(s.read);
    j["write"] = direction_json(s.write);
    j["trim"] = direction_json(s.trim);
    j["flush"] = direction_json(s.flush);
    j["limiting"] = s.limit.sentence;
    j["limit"] = limit_json(s);
    if (s.steady) j["steadiness"] = steadiness_json(*s.steady);
    for (const auto& r : s.resources)
        j["resources"][r.name] = {{"members", r.members},
                                  {"busy_mean", r.mean},
                                  {"busy_max", r.max},
                                  {"busiest", r.busiest},
                                  {"busy", r.busy}};
    j["ftl"] = {{"waf", waf_json(s.written)},
                {"host_bytes", s.written.host},
                {"nand_bytes", s.written.nand},
                {"nand_bytes_by_cause", nand_bytes_json(s.ftl, s.page_bytes, s.log_blocks)},
                {"unit_write_amplification", s.ftl.unit_write_amplification(s.units_per_page)},
                {"units_per_page", s.units_per_page},
                {"unit_bytes", s.page_bytes / s.units_per_page},
                {"host_units", s.ftl.host_units},
                {"flash_units", s.ftl.flash_units(s.units_per_page)},
                {"host_pages_allocated", s.ftl.host_pages_allocated},
                {"host_pages", s.ftl.host_pages},
                {"gc_pages", s.ftl.gc_pages},
                {"gc_units_moved", s.ftl.gc_units_moved},
                {"gc_units_stale", s.ftl.gc_units_stale},
                {"blocks_erased", s.ftl.blocks_erased},
                {"wear_blocks_collected", s.ftl.wear_victims},
                {"wear_units_collected", s.ftl.wear_units},
                {"refresh_blocks_collected", s.ftl.refresh_victims},
                {"refresh_superblocks_aged", s.ftl.aged_superblocks},
                {"refresh_units_collected", s.ftl.refresh_units},
                {"trimmed_units", s.ftl.trims},
                {"journal_pages", s.ftl.journal_pages},
                {"translation_pages", s.ftl.map_pages}};
    if (s.map_on_flash) j["ftl"]["traffic"] = traffic_json(s.ftl, s.units_per_page);
    if (s.ftl.checkpoint_pages != 0) j["ftl"]["checkpoint_pages"] = s.ftl.checkpoint_pages;
    if (s.ftl.parity_pages != 0) j["ftl"]["parity_pages"] = s.ftl.parity_pages;
    if (const std::uint64_t padding = s.ftl.host_padding_pages + s.ftl.gc_padding_pages; padding != 0)
        j["ftl"]["padding_pages"] = padding;
    if (s.slc_blocks != 0)
        j["ftl"].update({{"slc_pages", s.ftl.slc_pages},
                         {"slc_blocks_folded", s.ftl.slc_victims},
                         {"slc_units_folded", s.ftl.slc_units_folded}});
    for (const auto& set : s.nvm_sets) {
        const std::optional<double> amplification = set.unit_write_amplification(s.units_per_page);
        j["ftl"]["nvm_sets"].push_back({{"set", set.name},
                                        {"offset_bytes", set.first_byte},
                                        {"bytes", set.bytes},
                                        {"host_units", set.host_units},
                                        {"nand_bytes", set.pages * s.page_bytes},
                                        {"unit_write_amplification", amplification ? Json(*amplification) : Json()}});
    }
    if (s.log_blocks)
        j["ftl"]["merges"] = {{"direct_blocks", s.ftl.direct_blocks},
                              {"switch", s.ftl.switch_merges},
                              {"partial", s.ftl.partial_merges},
                              {"full", s.ftl.full_merges},
                              {"full_merge_blocks", s.ftl.full_merge_blocks},
                              {"empty_logs", s.ftl.empty_logs}};
    if (!s.wear.empty()) j["wear"] = wear_json(s);
    if (!s.queues.empty()) j["die_queue"] = queue_json(s);
    for (const auto& [name, value] : s.counters) j["counters"][name] = value;
    for (const auto& [name, value] : s.counters_whole_run) j["counters_whole_run"][name] = value;
    if (s.capacitors.any())
        j["capacitors"] = {{"buffer_pages", s.capacitors.buffer_pages},
                           {"map_pages", s.capacitors.map_pages},
                           {"time_s", to_seconds(s.capacitors.time)},
                           {"energy_j", s.capacitors.joules}};
    for (const auto& p : s.power_cuts)
        j["power_cuts"].push_back({{"at_s", to_seconds(p.at.time_since_epoch())},
                                   {"on_capacitors_s", to_seconds(p.on_capacitors)},
                                   {"pages_torn", p.loss.pages_torn},
                                   {"erases_cut", p.loss.erases_cut},
                                   {"lower_pages_lost", p.loss.lower_pages_lost},
                                   {"after_shutdown", p.after_shutdown},
                                   {"map_from", name_of(p.source)},
                                   {"scan_page_reads", p.scan_reads},
                                   {"checkpoint_page_reads", p.checkpoint_reads},
                                   {"translation_page_reads", p.translation_reads},
                                   {"map_entries_dirty", p.dirty_entries},
                                   {"scan_entries", p.entries},
                                   {"erase_counts_supposed", p.erases_supposed},
                                   {"scan_s", to_seconds(p.scan_time)}});
    for (const auto& b : s.books) j["books"].push_back({{"line", b.name}, {"left", b.left}, {"right", b.right}});
    for (const auto& r : s.latency)
        j["latency_us"][r.op][r.stage] = {{"count", r.count}, {"share", r.share},   {"mean", r.mean},
                                          {"p50", r.p50},     {"p90", r.p90},       {"p99", r.p99},
                                          {"p99.9", r.p99_9}, {"p99.99", r.p99_99}, {"max", r.max}};
    for (const auto& r : s.by_job) {
        Json& list = j["latency_us_by_job"];
        list.push_back({{"job", r.job}, {"name", job_name(s, r.job)}});
        if (!s.tenant_of_job.empty()) list.back()["tenant"] = s.tenant_of_job[r.job] + 1;
        list.back().update(job_json(r));
    }
    for (const auto& r : s.by_tenant) {
        Json& list = j["latency_us_by_tenant"];
        list.push_back({{"tenant", r.job + 1}});
        list.back().update(job_json(r));
    }
    add_flows_json(j, s);
    if (s.block) j["block"] = block_json(*s.block);
    for (const auto& m : s.map_by_tenant)
        j["map_by_tenant"].push_back(
            {{"tenant", m.tenant},
             {"hits", m.hits},
             {"misses", m.misses},
             {"hit_ratio", static_cast<double>(m.hits) / static_cast<double>(m.hits + m.misses)}});
    for (const auto& r : s.by_stream) {
        Json& list = j["latency_us_by_stream"];
        list.push_back({{"stream", r.job}});
        list.back().update(job_json(r));
    }
    j["notes"] = s.notes;
    j["config_toml"] = resolved_config;
    return json_dump(j) + "\n";
}

namespace {
/// The text of latency_bins.csv. A bucket reaches from from_ns (included) to below_ns (excluded), which is empty for
/// the last bucket.
std::string latency_bins_csv(const RunSummary& s) {
    std::string csv = "op,from_ns,below_ns,count";
    for (std::size_t i = 0; i < kStageCount; ++i) csv += fmt::format(",{}_ps", stage_name(static_cast<Stage>(i)));
    csv += "\n";
    for (const auto& r : s.latency_bins) {
        const bool last = r.bucket + 1 == BucketCounts::kBuckets;
        csv += fmt::format("{},{},{},{}", r.op, BucketCounts::lowest_of(r.bucket),
                           last ? "" : std::to_string(BucketCounts::lowest_of(r.bucket + 1)), r.count);
        for (const std::int64_t ps : r.ps) csv += fmt::format(",{}", ps);
        csv += "\n";
    }
    return csv;
}
}  // namespace

std::string wall_clock_json(const RunSummary& s) {
    Json j;
    j["command"] = s.command;
    j["directory"] = s.directory;
    if (!s.files.empty()) j["files"] = s.files;
    j["wall_s"] = s.wall_seconds;
    j["cpu_s"] = s.cpu_seconds;
    j["start_up_s"] = s.start_up_seconds;
    j["commands_per_host_second"] = s.wall_seconds > 0 ? static_cast<double>(s.commands_all) / s.wall_seconds : 0.0;
    j["agenda_events"] = s.agenda_events;
    j["peak_memory_bytes"] = s.peak_memory_bytes;
    j["memory_bytes_per_logical_unit"] =
        s.logical_units == 0 ? 0.0 : static_cast<double>(s.peak_memory_bytes) / static_cast<double>(s.logical_units);
    return json_dump(j) + "\n";
}

void add_results(ResultFiles& files, const RunSummary& s, const std::string& resolved_config) {
    files.add("wall_clock.json", wall_clock_json(s));
    std::string csv = "op,stage,count,share_pct,mean_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us\n";
    for (const auto& r : s.latency)
        csv += fmt::format("{},{},{},{:.3f},{:.6f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.6f}\n", r.op, r.stage, r.count,
                           r.share * 100, r.mean, r.p50, r.p90, r.p99, r.p99_9, r.p99_99, r.max);
    files.add("latency.csv", csv);
    files.add("latency_bins.csv", latency_bins_csv(s));
    files.add("latency_by_job.csv", latency_by_job_csv(s));
    // It is the last file, so a reader who finds it finds the others.
    files.add(s.failure ? "failed.json" : "result.json", result_json(s, resolved_config));
}

namespace {
std::string how_it_ended(const RunSummary& s) {
    if (s.failure) return fmt::format(" ({}: results so far)", s.failure->kind);
    if (s.interrupted) return " (interrupted: results so far)";
    return s.ended_by == "workload" ? "" : fmt::format(" (ended by {})", s.ended_by);
}

std::string power_text(const RunSummary& s) {
    if (s.power_cuts.empty()) return "";
    PowerLoss loss;
    std::uint64_t reads = 0, scans = 0;
    Ps sum{}, longest{}, on_capacitors{};
    for (const PowerCut& p : s.power_cuts) {
        loss += p.loss;
        on_capacitors = std::max(on_capacitors, p.on_capacitors);
        if (p.scan_time == Ps{}) continue;
        ++scans;
        reads += p.scan_reads;
        sum += p.scan_time;
        longest = std::max(longest, p.scan_time);
    }
    std::string t = fmt::format("\npower: lost {} times, {} pages torn, {} erases cut", s.power_cuts.size(),
                                loss.pages_torn, loss.erases_cut);
    if (on_capacitors != Ps{}) t += fmt::format("; on capacitors {:.6f} s at most", to_seconds(on_capacitors));
    if (scans != 0)
        t += fmt::format("; search for the map: {} pages in {:.6f} s on average, {:.6f} s at most", reads / scans,
                         to_seconds(sum) / static_cast<double>(scans), to_seconds(longest));
    return t + "\n";
}

/// The write amplification of each NVM Set. If there are many sets, it is the largest and the least.
std::string sets_text(const RunSummary& s) {
    constexpr std::size_t kMost = 8;
    std::vector<std::pair<double, std::string>> sets;
    for (const RunSummary::NvmSetFigures& set : s.nvm_sets)
        if (const auto amplification = set.unit_write_amplification(s.units_per_page))
            sets.emplace_back(*amplification, set.name);
    if (sets.empty()) return "";
    if (sets.size() > kMost) {
        std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        return fmt::format(
            "NVM sets: write amplification in units {:.3f} ({}) to {:.3f} ({}), of {} that were written\n",
            sets.back().first, sets.back().second, sets.front().first, sets.front().second, sets.size());
    }
    std::string t = "NVM sets: write amplification in units ";
    for (std::size_t i = 0; i < sets.size(); ++i)
        t += fmt::format("{}{:.3f} ({})", i == 0 ? "" : ", ", sets[i].first, sets[i].second);
    return t + "\n";
}
}  // namespace

std::string summary_text(const RunSummary& s) {
    std::string t;
    t += fmt::format("{} on {}, seed {}: {} commands in {:.6f} s of simulated time{}\n", s.workload, s.device, s.seed,
                     s.commands, to_seconds(s.measured), how_it_ended(s));
    const auto line = [&t](const char* name, const RunSummary::Direction& d) {
        if (d.ios != 0)
            t += fmt::format("  {:<6}{:>10} I/Os {:>12.1f} IOPS {:>10.1f} MB/s\n", name, d.ios, d.iops, d.mb_per_s);
    };
    line("read", s.read);
    line("write", s.write);
    line("trim", s.trim);
    line("flush", s.flush);
    t += "\nlatency, us            share      mean       p50       p90       p99     p99.9    p99.99       max\n";
    std::string op;
    for (const auto& r : s.latency) {
        if (r.op != op) {
            op = r.op;
            t += op + "\n";
        }
        t += fmt::format("  {:<20}{:>5.1f}% {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", r.stage,
                         r.share * 100, r.mean, r.p50, r.p90, r.p99, r.p99_9, r.p99_99, r.max);
    }
    t += flows_text(s);
    if (s.block) t += block_text(*s.block);
    t += "\nresource               mean busy       max\n";
    for (const auto& r : s.resources)
        t += fmt::format("  {:<20}{:>10.1f}%{:>9.1f}%{}\n", r.name, r.mean * 100, r.max * 100,
                         r.members > 1 ? fmt::format("  {} ({} of them)", r.busiest, r.members) : "");
    t += fmt::format("  -> {}\n", s.limit.sentence);
    if (s.steady) t += fmt::format("  -> {}: {}\n", name_of(s.steady->kind), s.steady->reason);
    if (s.ftl.host_units != 0 || s.ftl.blocks_erased != 0)
        t += fmt::format(
            "\nflash: {} host pages, {} moved pages, {}{}{} blocks erased, {}\n", s.ftl.host_pages, s.ftl.gc_pages,
            (s.ftl.journal_pages != 0 ? fmt::format("{} journal pages, ", s.ftl.journal_pages) : "") +
                (s.ftl.map_pages != 0 ? fmt::format("{} translation pages, ", s.ftl.map_pages) : "") +
                (s.ftl.checkpoint_pages != 0 ? fmt::format("{} pages of checkpoints, ", s.ftl.checkpoint_pages) : "") +
                (s.ftl.parity_pages != 0 ? fmt::format("{} parity pages, ", s.ftl.parity_pages) : "") +
                (s.ftl.host_padding_pages + s.ftl.gc_padding_pages != 0
                     ? fmt::format("{} pages of padding, ", s.ftl.host_padding_pages + s.ftl.gc_padding_pages)
                     : ""),
            (s.ftl.wear_victims != 0
                 ? fmt::format("{} blocks with {} units collected for wear, ", s.ftl.wear_victims, s.ftl.wear_units)
                 : "") +
                (s.ftl.refresh_victims != 0
                     ? fmt::format("{} blocks with {} units refreshed, ", s.ftl.refresh_victims, s.ftl.refresh_units)
                     : "") +
                (s.slc_blocks != 0
                     ? fmt::format("{} of the host pages in the SLC cache, {} of its blocks with {} units folded, ",
                                   s.ftl.slc_pages, s.ftl.slc_victims, s.ftl.slc_units_folded)
                     : ""),
            s.ftl.blocks_erased,
            s.written.waf() ? fmt::format("WAF {:.3f}", *s.written.waf()) : "no WAF: the host wrote nothing");
    if (s.user_bytes != 0)
        t += fmt::format("capacity: {} of {} bytes of flash, over-provisioning {:.2f} %\n", s.user_bytes, s.raw_bytes,
                         100 * s.over_provisioning);
    t += sets_text(s);
    if (s.log_blocks)
        t += fmt::format(
            "merges: {} switch, {} partial, {} full ({} logical blocks); {} empty log blocks, {} data blocks written "
            "directly\n",
            s.ftl.switch_merges, s.ftl.partial_merges, s.ftl.full_merges, s.ftl.full_merge_blocks, s.ftl.empty_logs,
            s.ftl.direct_blocks);
    if (s.capacitors.any())
        t += fmt::format("\ncapacitors: {} pages of the write buffer and {} of the map in {:.6f} s at most, {:.3f} J\n",
                         s.capacitors.buffer_pages, s.capacitors.map_pages, to_seconds(s.capacitors.time),
                         s.capacitors.joules);
    t += power_text(s);
    for (const auto& n : s.notes) t += "note: " + n + "\n";
    for (const auto& b : s.books)
        if (!b.balances()) t += fmt::format("BOOKS DO NOT BALANCE: {}: {} against {}\n", b.name, b.left, b.right);
    if (s.integrity_checked != 0)
        t += fmt::format("integrity: {} logical blocks checked, all right\n", s.integrity_checked);
    if (s.error_status != 0) t += fmt::format("{} commands ended with an error status\n", s.error_status);
    return t;
}

}  // namespace ssdtlm
