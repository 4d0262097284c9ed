// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_detection.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "common/report/error.h"
#include "host_pcie/workload/trace/line_source.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kDetectionLines = 200;
// With a smaller share of right columns, a file has an unknown format; it is not a damaged one. assumed: one wrong
// column of the five that the shortest formats have, and another in some lines.
constexpr double kFits = 0.7;

struct Candidate {
    const TraceFormatInfo* info;
    std::size_t variant;
    std::unique_ptr<TraceFormat> format;
    std::uint64_t records = 0;
    std::uint64_t headers = 0;
    std::uint64_t lines = 0;   ///< neither blank nor header
    double resemblance = 0.0;  ///< sum over these

    double fit() const { return lines == 0 ? 0.0 : resemblance / static_cast<double>(lines); }
    bool fits() const { return records > 0 || headers > 0 || fit() >= kFits; }
    std::tuple<std::uint64_t, std::uint64_t, double> score() const { return {records, headers, fit()}; }

    void look_at(std::string_view line) {
        TraceLine parsed;
        LineFault fault;
        const LineKind kind = format->parse(line, parsed, fault);
        if (kind == LineKind::blank) return;
        headers += kind == LineKind::header ? 1 : 0;
        if (kind == LineKind::header) return;
        // A row of another action has been recognised by its first columns.
        if (kind != LineKind::broken && kind != LineKind::trailer) ++records;
        ++lines;
        resemblance += format->resemblance(line);
    }
};

[[noreturn]] void refuse_name(const std::string& name) {
    std::vector<std::string> names{"auto"};
    std::string list = "auto";
    for (const auto& f : trace_formats()) {
        names.emplace_back(f.name);
        list += std::string(", ") + f.name;
    }
    const std::string near = nearest(name, names);
    throw UserError(
        Problem{"trace format", "'" + name + "'", "one of " + list, near.empty() ? "" : "did you mean " + near + "?"});
}

std::vector<Candidate> candidates(const std::string& name, const TraceFormatOptions& options) {
    std::vector<Candidate> list;
    for (const auto& info : trace_formats()) {
        if (name != "auto" && name != info.name) continue;
        std::size_t variant = 0;
        for (auto& format : info.make(options)) list.push_back({&info, variant++, std::move(format)});
    }
    return list;
}

}  // namespace

DetectedFormat detect_trace_format(const std::string& path, const std::string& shown, const std::string& name,
                                   const TraceFormatOptions& options, bool skip_broken) {
    if (name != "auto" && find_trace_format(name) == nullptr) refuse_name(name);
    if (name == kColumnsFormat && options.columns.empty())
        throw UserError(Problem{"trace format", "'columns' without columns", "", "describe them with --trace-columns"});
    std::vector<Candidate> list = candidates(options.columns.empty() ? name : kColumnsFormat, options);
    LineSource lines(path, shown);
    std::string_view line;
    std::string first;
    while (lines.line_number() < kDetectionLines && lines.next(line)) {
        if (lines.too_long()) {
            if (skip_broken) continue;
            break;  // the reader names it, or it is no trace at all
        }
        if (first.empty()) first = printable(line.substr(0, 60));
        for (auto& c : list) c.look_at(line);
    }
    // The comparison takes the first of equally good formats.
    auto best = list.begin();
    for (auto c = list.begin(); c != list.end(); ++c)
        if (c->score() > best->score()) best = c;
    if (name == "auto" && options.columns.empty() && !best->fits()) {
        if (lines.too_long())
            throw UserError(Problem{shown + ":" + std::to_string(lines.line_number()) + ":1",
                                    "a line of more than 64 KiB", "lines of at most 64 KiB",
                                    "check the file: no trace has such lines"});
        std::string known;
        for (const auto& f : trace_formats()) known += std::string(known.empty() ? "" : ", ") + f.name;
        throw UserError(
            Problem{shown, "no known trace format in the first lines, which begin '" + first + "'", known,
                    "`ssdtlm trace formats` explains them; name one to see what is wrong with each line, or "
                    "describe the columns with --trace-columns"});
    }
    return {best->info->name, std::move(best->info->make(options)[best->variant])};
}

}  // namespace ssdtlm
