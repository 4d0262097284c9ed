// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_reader.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "host_pcie/workload/trace/line_source.h"
#include "host_pcie/workload/trace/trace_detection.h"
#include "host_pcie/workload/trace/trace_format.h"

namespace ssdtlm {

namespace {

constexpr std::size_t kProblemsShown = 10;
constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 62;

struct NoteText {
    const char* name;
    const char* sentence;
};
constexpr std::array<NoteText, kTraceNoteCount> kNoteTexts = {{
    {"blank", "empty or comment, ignored"},
    {"header", "column names, ignored"},
    {"trailer", "summary of blkparse, ignored"},
    {"other_action", "of other actions or events, ignored"},
    {"passthrough", "passthrough commands, ignored"},
    {"no_operation", "without the operation, ignored"},
    {"other_volume", "of other volumes, left out"},
    {"zero_length", "requests of 0 bytes, ignored"},
    {"broken", "that cannot be read, skipped"},
    {"reordered", "out of order, sorted by time"},
    {"spread", "with the time of another before, spread evenly"},
    {"rounded", "not on LBA boundaries, rounded out"},
    {"split", "longer than 1 GiB, split"},
    {"folded", "ending beyond the device, folded"},
    {"scaled", "ending beyond the device, whole trace scaled"},
    {"clipped", "longer than the device, shortened"},
}};

TraceNote note_of(LineKind kind) {
    switch (kind) {
        case LineKind::blank:
            return TraceNote::blank;
        case LineKind::header:
            return TraceNote::header;
        case LineKind::trailer:
            return TraceNote::trailer;
        case LineKind::other_action:
            return TraceNote::other_action;
        case LineKind::passthrough:
            return TraceNote::passthrough;
        case LineKind::no_operation:
            return TraceNote::no_operation;
        case LineKind::broken:
            return TraceNote::broken;
        case LineKind::record:
            break;
    }
    panic(__func__, "a record is no note");
}

std::string count_of(std::uint64_t n, const char* singular, const char* plural) {
    return std::to_string(n) + " " + (n == 1 ? singular : plural);
}

/// Reads the file in one pass, then does the steps that need the whole trace.
class Reader {
public:
    Reader(const TraceOptions& options, DetectedFormat detected)
        : options_(options), format_(std::move(detected.format)) {
        trace_.path = options.name();
        trace_.format = std::move(detected.name);
    }

    Trace run() {
        LineSource lines(options_.path, options_.name());
        std::string_view line;
        while (lines.next(line)) {
            line_ = lines.line_number();
            if (!lines.too_long()) {
                take(line);
                continue;
            }
            broken({LineSource::kMaxLineBytes + 1, "a line of more than 64 KiB", "expected lines of at most 64 KiB"});
            trace_.stats.note(TraceNote::broken, line_);
            // Looking for its end could mean to decompress the whole file.
            if (!options_.skip_broken) break;
        }
        trace_.stats.lines = lines.line_number();
        trace_.digest = digest(lines.content());
        report_problems();
        check_not_empty();
        sort();
        if (options_.spread) spread();
        place();
        summarise();
        return std::move(trace_);
    }

private:
    struct Stamp {
        std::int64_t ticks = 0;
        std::uint64_t line = 0;  ///< 0: none yet
    };

    std::string digest(ContentHash hash) const {
        const TraceOptions& o = options_;
        const int flags = o.overlay_volumes + 2 * o.spread + 4 * o.skip_broken + 8 * static_cast<int>(o.beyond);
        hash.add("\n" + trace_.format + "\n" + o.columns + "\n" + o.volume + "\n" + o.blkparse_action +
                 std::to_string(flags));
        if (o.most_gap != Age::longest()) hash.add("\n" + std::to_string(o.most_gap.count()));
        return hash.text();
    }

    void take(std::string_view line) {
        TraceLine parsed;
        LineFault fault;
        const LineKind kind = format_->parse(line, parsed, fault);
        if (kind == LineKind::broken) broken(fault);
        if (kind != LineKind::record) {
            trace_.stats.note(note_of(kind), line_);
            return;
        }
        const std::uint32_t stream = stream_of(parsed.volume);
        if (!options_.volume.empty() && parsed.volume != options_.volume) {
            trace_.stats.note(TraceNote::other_volume, line_);
            return;
        }
        if (parsed.bytes == 0 && parsed.op != HostOp::flush) {
            trace_.stats.note(TraceNote::zero_length, line_);
            return;
        }
        ++trace_.stats.taken;
        if (parsed.ticks < latest_.ticks) trace_.stats.note(TraceNote::reordered, line_);
        if (latest_.line == 0 || parsed.ticks > latest_.ticks) latest_ = {parsed.ticks, line_};
        if (earliest_.line == 0 || parsed.ticks < earliest_.ticks) earliest_ = {parsed.ticks, line_};
        if (parsed.preflush) push(parsed.ticks, HostOp::flush, false, 0, 0, stream);
        if (parsed.op == HostOp::flush) {
            push(parsed.ticks, HostOp::flush, false, 0, 0, stream);
            return;
        }
        range(parsed, stream);
    }

    void range(const TraceLine& parsed, std::uint32_t stream) {
        const std::uint64_t lba = options_.lba_bytes;
        std::uint64_t begin = parsed.offset / lba * lba;
        std::uint64_t end = div_ceil(parsed.offset + parsed.bytes, lba) * lba;
        if (begin != parsed.offset || end != parsed.offset + parsed.bytes) trace_.stats.note(TraceNote::rounded, line_);
        if (options_.device_bytes != 0 && end > options_.device_bytes) {
            if (options_.beyond == BeyondDevice::error) beyond(parsed);
            if (options_.beyond == BeyondDevice::scale) trace_.stats.note(TraceNote::scaled, line_);
            if (options_.beyond == BeyondDevice::fold) trace_.stats.note(TraceNote::folded, line_);
            if (end - begin > options_.device_bytes) {
                trace_.stats.note(TraceNote::clipped, line_);
                end = begin + options_.device_bytes;
            }
        }
        auto& volume = trace_.volumes[stream];
        volume.end = std::max(volume.end, end);
        if (end - begin > TraceRecord::kMaxBytes) trace_.stats.note(TraceNote::split, line_);
        while (begin < end) {
            const std::uint64_t piece = std::min<std::uint64_t>(end - begin, TraceRecord::kMaxBytes / lba * lba);
            push(parsed.ticks, parsed.op, parsed.fua, begin, static_cast<std::uint32_t>(piece), stream);
            begin += piece;
        }
    }

    void push(std::int64_t ticks, HostOp op, bool fua, std::uint64_t offset, std::uint32_t bytes,
              std::uint32_t stream) {
        TraceRecord r;
        r.t = Ps{ticks};  // still in ticks of the format; sort() converts
        r.offset = offset;
        r.bytes = bytes;
        r.stream = stream & (TraceRecord::kMaxStreams - 1);
        r.op_code = static_cast<std::uint32_t>(op) & 0x7Fu;
        r.fua = fua ? 1u : 0u;
        trace_.records.push_back(r);
        ++trace_.volumes[stream].records;
    }

    std::uint32_t stream_of(std::string_view volume) {
        if (!trace_.volumes.empty() && trace_.volumes[last_stream_].name == volume) return last_stream_;
        const auto hit = streams_.find(volume);
        if (hit != streams_.end()) return last_stream_ = hit->second;
        if (trace_.volumes.size() == TraceRecord::kMaxStreams)
            throw UserError(Problem{where(), "more than " + std::to_string(TraceRecord::kMaxStreams) + " volumes", "",
                                    "choose one with the volume filter"});
        last_stream_ = static_cast<std::uint32_t>(trace_.volumes.size());
        trace_.volumes.push_back(TraceVolume{std::string(volume), 0, 0, 0});
        streams_.emplace(std::string(volume), last_stream_);
        return last_stream_;
    }

    std::string where() const { return options_.name() + ":" + std::to_string(line_); }

    void broken(const LineFault& fault) {
        if (options_.skip_broken || problems_.size() >= kProblemsShown) return;
        problems_.push_back(
            Problem{where() + ":" + std::to_string(fault.column), "found " + fault.found, fault.expected, ""});
    }

    void beyond(const TraceLine& parsed) {
        ++beyond_lines_;
        if (problems_.size() >= kProblemsShown) return;
        problems_.push_back(Problem{where(),
                                    "request of " + std::to_string(parsed.bytes) + " B at " +
                                        std::to_string(parsed.offset) + " B ends beyond the device",
                                    "the device has " + std::to_string(options_.device_bytes) + " B", ""});
    }

    void report_problems() {
        const std::uint64_t broken_lines = options_.skip_broken ? 0 : trace_.stats[TraceNote::broken].lines;
        const std::string of = " of " + count_of(trace_.stats.lines, "line", "lines");
        if (broken_lines > 0)
            problems_.push_back(Problem{
                options_.name(), count_of(broken_lines, "line", "lines") + of + " cannot be read as " + trace_.format,
                "", "repair the file, name another format, or skip such lines with --trace-skip-broken"});
        if (beyond_lines_ > 0)
            problems_.push_back(Problem{options_.name(),
                                        count_of(beyond_lines_, "request ends", "requests end") + " beyond the device",
                                        "", "choose a larger device, or --trace-beyond fold or scale"});
        if (!problems_.empty()) throw UserError(std::move(problems_));
    }

    void check_not_empty() const {
        if (!trace_.records.empty()) return;
        if (options_.volume.empty())
            throw UserError(Problem{options_.name(), "no request in " + count_of(trace_.stats.lines, "line", "lines"),
                                    "at least one request that " + trace_.format + " can express",
                                    trace_.stats[TraceNote::other_action].lines > 0
                                        ? "choose another blktrace action (D or Q)"
                                        : "check the file"});
        std::string names;
        for (std::size_t i = 0; i < trace_.volumes.size() && i < 20; ++i)
            names += (i == 0 ? "" : " ") + ("'" + trace_.volumes[i].name + "'");
        if (trace_.volumes.size() > 20) names += " ...";
        throw UserError(Problem{options_.name(), "no request of volume '" + options_.volume + "'",
                                "volumes in the trace: " + (names.empty() ? "none" : names), ""});
    }

    /// Stamps count from 0, so their difference cannot overflow; times the tick it can, before pauses are shortened.
    void sort() {
        const std::int64_t tick = format_->tick_ps();
        for (auto& r : trace_.records) r.t -= Ps{earliest_.ticks};
        if (trace_.stats[TraceNote::reordered].lines > 0)
            std::stable_sort(trace_.records.begin(), trace_.records.end(),
                             [](const TraceRecord& a, const TraceRecord& b) { return a.t < b.t; });
        trace_.stats.gaps = shorten_gaps(trace_.records, tick / 1000, options_.most_gap);
        for (auto& r : trace_.records) r.t *= tick;
        if (trace_.stats.gaps.shortened != 0 && !trace_.stats.gaps.asked)
            trace_.stats.span = "the earliest time is in line " + std::to_string(earliest_.line) +
                                ", the latest in line " + std::to_string(latest_.line);
    }

    /// The stamps' resolution is the smallest step in them: whole seconds are 1 s, however fine the format could be.
    void spread() {
        auto& records = trace_.records;
        Ps resolution = Ps::max();
        for (std::size_t i = 1; i < records.size(); ++i)
            if (records[i].t != records[i - 1].t) resolution = std::min(resolution, records[i].t - records[i - 1].t);
        if (resolution == Ps::max()) resolution = Ps{format_->tick_ps()};  // one stamp for all
        for (std::size_t first = 0; first < records.size();) {
            std::size_t end = first + 1;
            while (end < records.size() && records[end].t == records[first].t) ++end;
            const auto count = static_cast<std::int64_t>(end - first);
            for (std::size_t i = first; i < end; ++i)
                records[i].t += resolution / count * static_cast<std::int64_t>(i - first);
            trace_.stats.notes[static_cast<std::size_t>(TraceNote::spread)].lines += end - first - 1;
            first = end;
        }
    }

    /// Lays volumes out and fits the addresses to the device.
    void place() {
        std::uint64_t extent = 0;
        const bool separate = format_->volumes_are_separate() && !options_.overlay_volumes;
        for (auto& v : trace_.volumes) {
            v.base = separate ? extent : 0;
            extent = std::max(extent, v.base + v.end);
            if (extent > kMaxExtent)
                throw UserError(Problem{options_.name(), "volumes laid out one after the other exceed 2^62 B", "",
                                        "choose one volume, or overlay them"});
        }
        const std::uint64_t device = options_.device_bytes;
        const bool too_large = device != 0 && extent > device;
        if (too_large && options_.beyond == BeyondDevice::error)
            throw UserError(
                Problem{options_.name(),
                        count_of(trace_.volumes.size(), "volume needs ", "volumes need ") + std::to_string(extent) +
                            " B one after the other",
                        "the device has " + std::to_string(device) + " B",
                        "choose one with --trace-volume, --trace-overlay them, or --trace-beyond fold or scale"});
        std::uint64_t moved_records = 0;
        for (auto& r : trace_.records) {
            if (r.op() == HostOp::flush) continue;
            r.offset += trace_.volumes[r.stream].base;
            if (!too_large) continue;
            if (r.offset + r.bytes > device) ++moved_records;
            if (options_.beyond == BeyondDevice::fold) {
                r.offset %= device;
            } else {
                __extension__ using Wide = unsigned __int128;
                const auto moved = static_cast<std::uint64_t>(static_cast<Wide>(r.offset) * device / extent);
                r.offset = moved / options_.lba_bytes * options_.lba_bytes;
            }
            r.offset = std::min(r.offset, device - r.bytes);
        }
        // While reading, only requests beyond the device in their own volume were counted.
        if (too_large && separate && trace_.volumes.size() > 1) {
            const auto note = options_.beyond == BeyondDevice::fold ? TraceNote::folded : TraceNote::scaled;
            trace_.stats.notes[static_cast<std::size_t>(note)].lines = moved_records;
        }
    }

    void summarise() {
        auto& s = trace_.stats;
        Ps previous{-1};
        for (const auto& r : trace_.records) {
            ++s.records[r.op_code];
            s.bytes[r.op_code] += r.bytes;
            if (r.t == previous) ++s.equal_stamps;
            previous = r.t;
        }
        s.duration = trace_.records.back().t;
        trace_.records.shrink_to_fit();
    }

    const TraceOptions& options_;
    std::unique_ptr<TraceFormat> format_;
    Trace trace_;
    std::vector<Problem> problems_;
    std::map<std::string, std::uint32_t, std::less<>> streams_;
    std::uint32_t last_stream_ = 0;
    std::uint64_t line_ = 0;
    std::uint64_t beyond_lines_ = 0;
    Stamp latest_;
    Stamp earliest_;
};

}  // namespace

const char* trace_note_name(TraceNote n) {
    return kNoteTexts[static_cast<std::size_t>(n)].name;
}
const char* trace_note_sentence(TraceNote n) {
    return kNoteTexts[static_cast<std::size_t>(n)].sentence;
}

std::vector<std::string> TraceStats::sentences() const {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < kTraceNoteCount; ++i) {
        if (notes[i].lines == 0) continue;
        std::string s = count_of(notes[i].lines, "line ", "lines ") + kNoteTexts[i].sentence;
        if (notes[i].first_line != 0) s += " (first: line " + std::to_string(notes[i].first_line) + ")";
        list.push_back(std::move(s));
    }
    if (const std::string s = gaps.sentence(); !s.empty()) list.push_back(s + (span.empty() ? "" : "; " + span));
    return list;
}

Trace read_trace(const TraceOptions& options) {
    SSDTLM_CHECK(options.lba_bytes > 0 && options.device_bytes % options.lba_bytes == 0, "device is not whole LBAs");
    TraceFormatOptions format;
    format.blkparse_action = options.blkparse_action;
    format.columns = options.columns;
    return Reader(options,
                  detect_trace_format(options.path, options.name(), options.format, format, options.skip_broken))
        .run();
}

}  // namespace ssdtlm
