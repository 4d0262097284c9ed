// SPDX-License-Identifier: Apache-2.0
// The logs that fio writes (write_iolog) and replays (read_iolog), by its manual, "Trace file format v2" and "v3":
//
//   fio version 2 iolog            fio version 3 iolog
//   file action                    time file action                    add, open, close
//   file action offset length      time file action offset length      read, write, trim, sync, datasync; v2: wait
//
// The times of version 3 are microseconds (utime_since_now() in fio 3.33, iolog.c; its manual leaves the unit out).
// Version 2 has none: "wait" lets offset microseconds pass, and less than 100 of them are discarded, as in fio.
#include "host_pcie/workload/trace/trace_format.h"

namespace ssdtlm {
namespace {

constexpr std::string_view kFirst[] = {"fio version 2 iolog", "fio version 3 iolog"};
constexpr std::int64_t kShortestWait = 100;  // us

enum class Action : std::uint8_t { none, file, wait, request };

Action action_of(std::string_view word, HostOp& op) {
    if (word == "add" || word == "open" || word == "close") return Action::file;
    if (word == "wait") return Action::wait;
    if (word == "read")
        op = HostOp::read;
    else if (word == "write")
        op = HostOp::write;
    else if (word == "trim")
        op = HostOp::trim;
    else if (word == "sync" || word == "datasync")
        op = HostOp::flush;
    else
        return Action::none;
    return Action::request;
}

class IologFormat final : public TraceFormat {
public:
    std::int64_t tick_ps() const override { return 1'000'000; }
    bool volumes_are_separate() const override { return true; }

    LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) override {
        LineFields f(line, ' ');
        if (f.at_end()) return LineKind::blank;
        for (int version = 2; version <= 3; ++version)
            if (line.substr(0, kFirst[version - 2].size()) == kFirst[version - 2]) {
                version_ = version;
                return LineKind::header;
            }
        if (version_ == 0) {
            f.next();
            return f.fail("expected \"fio version 2 iolog\" or \"fio version 3 iolog\" as the first line", fault);
        }
        std::uint64_t time = 0;
        if (version_ == 3 && !f.number(time, "a time in microseconds (column 1)", fault)) return LineKind::broken;
        std::string_view word;
        if (!f.text(out.volume, "the name of a file", fault)) return LineKind::broken;
        if (!f.text(word, "an action such as read, write, trim, sync or wait", fault)) return LineKind::broken;
        const Action action = action_of(word, out.op);
        if (action == Action::none || (action == Action::wait && version_ == 3))
            return f.fail("expected add, open, close, read, write, trim, sync or datasync; in version 2 also wait",
                          fault);
        if (action == Action::file) return LineKind::other_action;
        if (!f.number(out.offset, "an offset in bytes", fault)) return LineKind::broken;
        if (action == Action::wait) {
            const auto us = static_cast<std::int64_t>(out.offset);
            if (us >= kShortestWait) now_ += us;
            return LineKind::other_action;
        }
        if (!f.number(out.bytes, "a length in bytes", fault)) return LineKind::broken;
        if (out.op == HostOp::flush) out.offset = out.bytes = 0;
        out.ticks = version_ == 3 ? static_cast<std::int64_t>(time) : now_;
        return LineKind::record;
    }

    double resemblance(std::string_view line) const override {
        LineFields f(line, ' ');
        HostOp op;
        std::uint64_t number;
        double right = 0;
        std::size_t columns = 0;
        for (; f.next(); ++columns) {
            const std::size_t of_version_2 = columns + (version_ == 3 ? 0 : 1);
            right += of_version_2 == 1 ||
                     (of_version_2 == 2 ? action_of(f.field(), op) != Action::none : parse_whole(f.field(), number));
        }
        return version_ == 0 || columns == 0 ? 0 : right / static_cast<double>(columns);
    }

private:
    int version_ = 0;       // 0: the first line has not come
    std::int64_t now_ = 0;  // of version 2, us
};

}  // namespace

TraceFormats make_iolog_formats(const TraceFormatOptions&) {
    TraceFormats list;
    list.push_back(std::make_unique<IologFormat>());
    return list;
}

}  // namespace ssdtlm
