// SPDX-License-Identifier: Apache-2.0
// Text of Microsoft's ETW disk events, as xperf's dumper writes it and as the Microsoft Production and Enterprise
// Server traces (SNIA IOTTA 158) are published. Between BeginHeader and EndHeader a line per kind of event names its
// columns; without a header they are taken in the published order. Times are us since the start of the trace. An event
// is written when the disk has answered, so a request was issued ElapsedTime before its TimeStamp. Each DiskNum is a
// volume.
#include <algorithm>
#include <array>
#include <optional>

#include "host_pcie/workload/trace/trace_format.h"

namespace ssdtlm {
namespace {

/// Places of the columns that matter. Place 0 is the kind of event.
struct EventColumns {
    std::size_t time = 1;
    std::size_t offset = 5;
    std::size_t bytes = 6;
    std::size_t elapsed = 7;
    std::size_t disk = 8;
};
// A flush has neither range.
constexpr EventColumns kFlushColumns{1, 0, 0, 5, 6};

struct Event {
    const char* name;
    HostOp op;
    EventColumns columns;
};

class EtwFormat final : public TraceFormat {
public:
    std::int64_t tick_ps() const override { return 1'000'000; }
    bool volumes_are_separate() const override { return true; }

    LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) override {
        LineFields f(line, ',');
        if (!f.next()) return LineKind::blank;
        const std::string_view kind = f.field();
        if (same_word(kind, "BeginHeader")) in_header_ = begun_ = true;
        if (in_header_) {
            if (same_word(kind, "EndHeader"))
                in_header_ = false;
            else if (Event* e = event(kind))
                return name_columns(f, *e, fault);
            return LineKind::header;
        }
        const Event* e = event(kind);
        if (e == nullptr) return other(f, fault);
        begun_ = true;
        return request(f, *e, out, fault);
    }

    double resemblance(std::string_view line) const override {
        LineFields f(line, ',');
        const EventColumns c;
        double right = 0;
        std::uint64_t n;
        for (std::size_t i = 0; i <= c.disk && f.next(); ++i) {
            if (i == 0)
                right += f.field().substr(0, 4) == "Disk";
            else if (i == c.offset || i == c.bytes)
                right += f.field().substr(0, 2) == "0x" && parse_whole(f.field(), n);
            else if (i == c.time || i == c.elapsed || i == c.disk)
                right += parse_whole(f.field(), n);
        }
        return right / 6;
    }

private:
    Event* event(std::string_view kind) {
        const auto e = std::find_if(events_.begin(), events_.end(),
                                    [&](const Event& known) { return same_word(kind, known.name); });
        return e == events_.end() ? nullptr : &*e;
    }

    /// Events of other kinds are ignored, once it is clear that this is a file of events. An unknown disk event is an
    /// error, because it may be a damaged request.
    LineKind other(const LineFields& f, LineFault& fault) const {
        static constexpr const char* begins[] = {"DiskReadInit", "DiskWriteInit", "DiskFlushInit"};
        const std::string_view kind = f.field();
        if (begun_ && !same_word(kind.substr(0, 4), "Disk")) return LineKind::other_action;
        for (const char* b : begins)
            if (same_word(kind, b)) return LineKind::other_action;
        return f.fail("expected DiskRead, DiskWrite, DiskFlush, or one of these with Init (column 1)", fault);
    }

    static LineKind name_columns(LineFields& f, Event& e, LineFault& fault) {
        struct Wanted {
            const char* name;
            std::size_t EventColumns::*place;
            bool of_flush;
        };
        static constexpr Wanted wanted[] = {{"TimeStamp", &EventColumns::time, true},
                                            {"ByteOffset", &EventColumns::offset, false},
                                            {"IOSize", &EventColumns::bytes, false},
                                            {"ElapsedTime", &EventColumns::elapsed, true},
                                            {"DiskNum", &EventColumns::disk, true}};
        EventColumns c{0, 0, 0, 0, 0};
        for (std::size_t i = 1; f.next(); ++i)
            for (const auto& w : wanted)
                if (same_word(f.field(), w.name)) c.*w.place = i;
        for (const auto& w : wanted)
            if (c.*w.place == 0 && (w.of_flush || e.op != HostOp::flush))
                return f.fail(std::string("expected a column ") + w.name + " in the header of " + e.name, fault);
        e.columns = c;
        return LineKind::header;
    }

    LineKind request(LineFields& f, const Event& e, TraceLine& out, LineFault& fault) {
        const EventColumns& c = e.columns;
        const std::size_t last = std::max({c.time, c.offset, c.bytes, c.elapsed, c.disk});
        std::uint64_t time = 0, elapsed = 0;
        out.op = e.op;
        for (std::size_t i = 1; i <= last; ++i) {
            f.next();
            if (i == c.time && !number(f, time, "a TimeStamp in us", i, fault)) return LineKind::broken;
            if (i == c.offset && !number(f, out.offset, "a ByteOffset", i, fault)) return LineKind::broken;
            if (i == c.bytes && !number(f, out.bytes, "an IOSize", i, fault)) return LineKind::broken;
            if (i == c.elapsed && !number(f, elapsed, "an ElapsedTime in us", i, fault)) return LineKind::broken;
            if (i == c.disk) {
                std::uint64_t disk;
                if (!number(f, disk, "a DiskNum", i, fault)) return LineKind::broken;
                out.volume = f.field();
            }
        }
        // Issued before the trace began: then it counts from there.
        out.ticks = static_cast<std::int64_t>(time - std::min(time, elapsed));
        return LineKind::record;
    }

    static bool number(const LineFields& f, std::uint64_t& value, const char* what, std::size_t column,
                       LineFault& fault) {
        if (parse_whole(f.field(), value) && value <= kMostTraceBytes) return true;
        f.fail(std::string("expected ") + what + " (column " + std::to_string(column + 1) + ")", fault);
        return false;
    }

    std::array<Event, 3> events_ = {{{"DiskRead", HostOp::read, {}},
                                     {"DiskWrite", HostOp::write, {}},
                                     {"DiskFlush", HostOp::flush, kFlushColumns}}};
    bool in_header_ = false;
    bool begun_ = false;  ///< header or disk event seen
};

}  // namespace

TraceFormats make_etw_formats(const TraceFormatOptions&) {
    TraceFormats list;
    list.push_back(std::make_unique<EtwFormat>());
    return list;
}

}  // namespace ssdtlm
