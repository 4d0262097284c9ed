// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/config/quantity.h"
#include "common/report/json_dump.h"
#include "host_pcie/workload/trace/trace_format.h"
#include "host_pcie/workload/trace/trace_reader.h"
#include "sim/app/commands.h"
#include "sim/app/workload_source.h"

namespace ssdtlm {
namespace {

constexpr const char* kOpNames[] = {"read", "write", "trim", "flush"};

std::uint64_t footprint_end(const Trace& t) {
    std::uint64_t end = 0;
    for (const auto& r : t.records) end = std::max(end, r.offset + r.bytes);
    return end;
}

Trace read(const CommandLine& line) {
    TraceOptions options = line.run.trace;
    options.shown = options.path;
    options.path = readable_twice(options.path);
    return read_trace(options);
}

}  // namespace

int list_trace_formats() {
    for (const auto& f : trace_formats()) std::printf("%-10s %s\n", f.name, f.sentence);
    return static_cast<int>(ExitCode::ok);
}

int trace_info(const CommandLine& line) {
    const Trace t = read(line);
    if (line.run.json) {
        nlohmann::ordered_json j;
        j["path"] = t.path;
        j["format"] = t.format;
        j["lines"] = t.stats.lines;
        j["lines_taken"] = t.stats.taken;
        j["records"] = t.records.size();
        j["duration_s"] = to_seconds(t.stats.duration);
        j["equal_stamps"] = t.stats.equal_stamps;
        j["end_bytes"] = footprint_end(t);
        for (std::size_t op = 0; op < 4; ++op) {
            j["operations"][kOpNames[op]] = {{"records", t.stats.records[op]}, {"bytes", t.stats.bytes[op]}};
        }
        j["volumes"] = nlohmann::ordered_json::array();
        for (const auto& v : t.volumes) {
            j["volumes"].push_back(
                {{"name", v.name}, {"records", v.records}, {"end_bytes", v.end}, {"base_bytes", v.base}});
        }
        j["notes"] = nlohmann::ordered_json::object();
        for (std::size_t n = 0; n < kTraceNoteCount; ++n) {
            const TraceCount& c = t.stats.notes[n];
            if (c.lines != 0)
                j["notes"][trace_note_name(static_cast<TraceNote>(n))] = {{"lines", c.lines},
                                                                          {"first_line", c.first_line}};
        }
        std::puts(json_dump(j).c_str());
        return static_cast<int>(ExitCode::ok);
    }
    std::printf("%s: format %s, %" PRIu64 " lines, %zu records over %.6f s\n", t.path.c_str(), t.format.c_str(),
                t.stats.lines, t.records.size(), to_seconds(t.stats.duration));
    for (std::size_t op = 0; op < 4; ++op) {
        if (t.stats.records[op] == 0) continue;
        std::printf("  %-6s %12" PRIu64 " records  %16" PRIu64 " bytes\n", kOpNames[op], t.stats.records[op],
                    t.stats.bytes[op]);
    }
    if (t.stats.equal_stamps != 0)
        std::printf("  %" PRIu64 " records have the time of the one before\n", t.stats.equal_stamps);
    std::printf("  needs a device of at least %" PRIu64 " bytes\n", footprint_end(t));
    for (const auto& v : t.volumes) {
        std::printf("  volume %-16s %12" PRIu64 " records, %" PRIu64 " bytes long, at %" PRIu64 "\n", v.name.c_str(),
                    v.records, v.end, v.base);
    }
    for (const auto& s : t.stats.sentences()) std::printf("  %s\n", s.c_str());
    return static_cast<int>(ExitCode::ok);
}

int trace_head(const CommandLine& line) {
    const Trace t = read(line);
    const std::size_t count = std::min<std::size_t>(line.lines, t.records.size());
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    if (!line.run.json) std::printf("%18s  %-5s %18s %12s  %s\n", "time_ns", "op", "offset_bytes", "bytes", "volume");
    for (std::size_t i = 0; i < count; ++i) {
        const TraceRecord& r = t.records[i];
        const char* op = kOpNames[static_cast<std::size_t>(r.op())];
        const std::string& volume = t.volumes[r.stream].name;
        if (line.run.json) {
            all.push_back({{"time_ns", static_cast<double>(r.t.count()) / 1000},
                           {"op", op},
                           {"offset_bytes", r.offset},
                           {"bytes", r.bytes},
                           {"volume", volume}});
        } else {
            std::printf("%18.3f  %-5s %18" PRIu64 " %12" PRIu32 "  %s\n", static_cast<double>(r.t.count()) / 1000, op,
                        r.offset, r.bytes, volume.c_str());
        }
    }
    if (line.run.json) std::puts(json_dump(all).c_str());
    return static_cast<int>(ExitCode::ok);
}

}  // namespace ssdtlm
