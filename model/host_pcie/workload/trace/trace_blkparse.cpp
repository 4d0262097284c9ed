// SPDX-License-Identifier: Apache-2.0
// Text of blkparse's default format: "maj,min cpu seq s.ns pid action rwbs sector + sectors [process]". Takes one
// action (D, issued to the driver, or Q, queued) and ignores the others, messages, passthrough commands and the summary
// at the end. RWBS as in the kernel's blk_fill_rwbs(): F before the letter is a preflush, F after it is FUA; a flush
// without data has no sector. Not read: custom -f formats and the binary files of blktrace (run blkparse on them).
#include <charconv>

#include "host_pcie/workload/trace/trace_format.h"

namespace ssdtlm {
namespace {

bool all_digits(std::string_view s) {
    for (char c : s)
        if (c < '0' || c > '9') return false;
    return !s.empty();
}

bool all_capitals(std::string_view s) {
    for (char c : s)
        if (c < 'A' || c > 'Z') return false;
    return !s.empty();
}

/// True: the text is one letter, or "UT".
bool is_action(std::string_view s) {
    return s == "m" || (s.size() <= 2 && all_capitals(s));
}

/// Reads "seconds.fraction" with up to nine digits of fraction, in ns.
bool parse_seconds(std::string_view s, std::int64_t& ns) {
    const auto dot = s.find('.');
    const std::string_view whole = s.substr(0, dot);
    const std::string_view fraction = dot == std::string_view::npos ? std::string_view{} : s.substr(dot + 1);
    if (!all_digits(whole) || whole.size() > 9 || !all_digits(fraction) || fraction.size() > 9) return false;
    std::int64_t seconds = 0, part = 0;
    std::from_chars(whole.data(), whole.data() + whole.size(), seconds);
    std::from_chars(fraction.data(), fraction.data() + fraction.size(), part);
    for (std::size_t i = fraction.size(); i < 9; ++i) part *= 10;
    ns = seconds * 1'000'000'000 + part;
    return true;
}

bool is_device(std::string_view s) {
    const auto comma = s.find(',');
    return comma != std::string_view::npos && all_digits(s.substr(0, comma)) && all_digits(s.substr(comma + 1));
}

class BlkparseFormat final : public TraceFormat {
public:
    explicit BlkparseFormat(char action) : action_(action) {}
    std::int64_t tick_ps() const override { return 1'000; }
    bool volumes_are_separate() const override { return true; }

    LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) override {
        LineFields f(line, ' ');
        if (f.at_end() || line.front() == '#') return LineKind::blank;
        if (in_summary_) return LineKind::trailer;
        f.next();
        if (!is_device(f.field())) {
            // The summary starts with "CPU0 (sda):" or, for one CPU, with "Total (sda):".
            const auto word = f.field();
            if (word.substr(0, 3) == "CPU" || word == "Total") {
                in_summary_ = true;
                return LineKind::trailer;
            }
            return f.fail("expected a device as major,minor (column 1)", fault);
        }
        out.volume = f.field();
        std::uint64_t ignored;
        if (!f.number(ignored, "a CPU number (column 2)", fault)) return LineKind::broken;
        if (!f.number(ignored, "a sequence number (column 3)", fault)) return LineKind::broken;
        std::string_view time, action, rwbs;
        if (!f.text(time, "a time as seconds.nanoseconds (column 4)", fault)) return LineKind::broken;
        if (!parse_seconds(time, out.ticks)) return f.fail("expected a time as seconds.nanoseconds (column 4)", fault);
        if (!f.number(ignored, "a process id (column 5)", fault)) return LineKind::broken;
        if (!f.text(action, "an action such as Q, D or C (column 6)", fault)) return LineKind::broken;
        if (!is_action(action)) return f.fail("expected an action such as Q, D or C (column 6)", fault);
        if (action.size() != 1 || action[0] != action_) return LineKind::other_action;
        if (!f.text(rwbs, "RWBS such as R, WS or FWF (column 7)", fault)) return LineKind::broken;
        return request(f, rwbs, out, fault);
    }

    double resemblance(std::string_view line) const override {
        LineFields f(line, ' ');
        std::int64_t ns;
        double right = 0;
        // RWBS is one to eight letters; what follows depends on it.
        for (std::size_t column = 1; column <= 7 && f.next(); ++column) {
            const auto field = f.field();
            right += column == 1   ? is_device(field)
                     : column == 4 ? parse_seconds(field, ns)
                     : column == 6 ? is_action(field)
                     : column == 7 ? field.size() <= 8 && all_capitals(field)
                                   : all_digits(field);
        }
        return right / 7;
    }

private:
    static LineKind request(LineFields& f, std::string_view rwbs, TraceLine& out, LineFault& fault) {
        out.preflush = rwbs[0] == 'F';
        const std::string_view rest = rwbs.substr(out.preflush ? 1 : 0);
        const char letter = rest.empty() ? 'N' : rest[0];
        // "FF" (flush with FUA) names no data either.
        const bool no_data = letter == 'N' || (out.preflush && letter == 'F');
        if (!out.preflush && letter == 'N') return LineKind::passthrough;
        if (!no_data && letter != 'R' && letter != 'W' && letter != 'D')
            return f.fail("expected RWBS with R, W, D, F or N (column 7)", fault);
        f.next();
        const bool has_sector = all_digits(f.field());
        if (no_data || (out.preflush && !has_sector)) {
            out.op = HostOp::flush;
            out.preflush = false;
            out.offset = out.bytes = 0;
            return LineKind::record;
        }
        std::uint64_t sector = 0;
        const auto s = f.field();
        if (!has_sector || std::from_chars(s.data(), s.data() + s.size(), sector).ec != std::errc{} || sector >> 47)
            return f.fail("expected a first sector (column 8)", fault);
        out.offset = sector * 512;
        f.next();
        if (f.field() != "+") return f.fail("expected '+' and a number of sectors (column 9)", fault);
        if (!f.scaled(out.bytes, 512, "a number of sectors (column 10)", fault)) return LineKind::broken;
        out.op = letter == 'R' ? HostOp::read : letter == 'W' ? HostOp::write : HostOp::trim;
        out.fua = rest.find('F', 1) != std::string_view::npos;
        return LineKind::record;
    }

    char action_;
    bool in_summary_ = false;
};

}  // namespace

TraceFormats make_blkparse_formats(const TraceFormatOptions& options) {
    TraceFormats list;
    list.push_back(std::make_unique<BlkparseFormat>(options.blkparse_action));
    return list;
}

}  // namespace ssdtlm
