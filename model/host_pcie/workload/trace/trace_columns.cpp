// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_columns.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace ssdtlm {
namespace {

using Role = TraceColumn::Role;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool whole(std::string_view s, std::uint64_t& value, bool hexadecimal) {
    if (hexadecimal) return parse_whole(s, value);
    const char* end = s.data() + s.size();
    const auto r = std::from_chars(s.data(), end, value);
    return r.ec == std::errc{} && r.ptr == end;
}

/// "123" or "123.456" times unit, in ticks; digits below a tick are cut off.
bool time_in_ticks(std::string_view s, std::int64_t unit_ps, std::int64_t tick_ps, std::int64_t& ticks) {
    std::uint64_t n = 0;
    const char* end = s.data() + s.size();
    const auto digits = std::from_chars(s.data(), end, n);
    if (digits.ec != std::errc{} || (digits.ptr != end && *digits.ptr != '.')) return false;
    const auto ratio = static_cast<std::uint64_t>(unit_ps / tick_ps);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (n >= kMost / ratio) return false;
    n *= ratio;
    if (digits.ptr != end) {
        const std::string_view fraction = s.substr(static_cast<std::size_t>(digits.ptr - s.data()) + 1);
        if (ratio == 1 || fraction.empty() || !std::all_of(fraction.begin(), fraction.end(), is_digit)) return false;
        std::uint64_t weight = ratio;
        for (std::size_t i = 0; i < fraction.size() && weight > 0; ++i) {
            weight /= 10;
            n += weight * static_cast<std::uint64_t>(fraction[i] - '0');
        }
    }
    ticks = static_cast<std::int64_t>(n);
    return true;
}

bool is_number(std::string_view s) {
    std::int64_t ignored;
    return time_in_ticks(s, 1'000'000'000'000, 1'000, ignored);
}

/// Small letters and digits only: "Disk Number" and "disk_number" are one name.
std::string plain_name(std::string_view text) {
    std::string s;
    for (char c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            s += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return s;
}

/// True: the name is one of `names`, "a|b|c".
bool one_of(const std::string& name, std::string_view names) {
    while (!names.empty()) {
        const auto bar = names.find('|');
        if (names.substr(0, bar) == name) return true;
        names = bar == std::string_view::npos ? std::string_view{} : names.substr(bar + 1);
    }
    return false;
}

}  // namespace

bool ColumnFormat::take(const TraceColumn& column, std::string_view field, TraceLine& out) const {
    switch (column.role) {
        case Role::time:
            return time_in_ticks(field, column.unit, layout_.tick_ps, out.ticks);
        case Role::op:
            for (const auto& [word, op] : layout_.op_words) {
                if (!same_word(field, word)) continue;
                out.op = op;
                return true;
            }
            return column.may_be_empty && field.empty();
        case Role::offset:
        case Role::bytes: {
            std::uint64_t units = 0;
            const auto unit = static_cast<std::uint64_t>(column.unit);
            if (!whole(field, units, layout_.hexadecimal) || units > kMostTraceBytes / unit) return false;
            (column.role == Role::offset ? out.offset : out.bytes) = units * unit;
            return true;
        }
        case Role::number:
            return is_number(field) || (column.may_be_empty && field.empty());
        case Role::volume:
        case Role::text:
            return !field.empty() && (!column.digits || std::all_of(field.begin(), field.end(), is_digit));
        case Role::any:
            break;
    }
    return true;
}

LineKind ColumnFormat::fail(const LineFields& fields, std::size_t column, LineFault& fault) const {
    const TraceColumn& c = layout_.columns[column];
    std::string expected = std::string("expected ") + c.what + " (column " + std::to_string(column + 1) + " of " +
                           std::to_string(layout_.columns.size()) + ")";
    std::uint64_t units = 0;
    const bool range = c.role == Role::offset || c.role == Role::bytes;
    if (range && whole(fields.field(), units, layout_.hexadecimal)) expected += " of at most 2^56 bytes";
    return fields.fail(expected, fault);
}

void ColumnFormat::add_volume(std::string_view field, TraceLine& out) {
    if (volume_parts_++ == 0) {
        out.volume = field;
        return;
    }
    // Adjacent parts with a comma in between are one text.
    if (volume_parts_ == 2 && out.volume.data() + out.volume.size() + 1 == field.data() && field.data()[-1] == ',') {
        out.volume = std::string_view(out.volume.data(), out.volume.size() + 1 + field.size());
        return;
    }
    if (out.volume.data() != joined_volume_.data()) joined_volume_ = out.volume;
    joined_volume_ += ',';
    joined_volume_ += field;
    out.volume = joined_volume_;
}

LineKind ColumnFormat::read(LineFields& fields, TraceLine& out, LineFault& fault) {
    volume_parts_ = 0;
    bool no_operation = false;
    const auto& columns = layout_.columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool there = fields.next();
        if (!there || !take(columns[i], fields.field(), out)) return fail(fields, i, fault);
        if (columns[i].role == Role::volume) add_volume(fields.field(), out);
        no_operation = no_operation || (columns[i].role == Role::op && fields.field().empty());
    }
    if (!layout_.more_columns && fields.next())
        return fields.fail("expected the end of the line after " + std::to_string(columns.size()) + " columns", fault);
    return no_operation ? LineKind::no_operation : LineKind::record;
}

LineKind ColumnFormat::parse(std::string_view line, TraceLine& out, LineFault& fault) {
    LineFields fields(line, layout_.separator);
    if (fields.at_end() || line.front() == '#') return LineKind::blank;
    const LineKind kind = read(fields, out, fault);
    const bool header = kind == LineKind::broken && (read_header(line) || (!began_ && is_unknown_header(line)));
    began_ = true;
    return header ? LineKind::header : kind;
}

/// Takes the order of the columns from a line with their names. Returns false if a column that a request needs is not
/// named.
bool ColumnFormat::read_header(std::string_view line) {
    std::vector<TraceColumn> columns;
    std::size_t needed = 0, found = 0;
    const auto is_needed = [](Role r) {
        return r == Role::time || r == Role::op || r == Role::offset || r == Role::bytes;
    };
    for (const auto& c : known_) needed += is_needed(c.role) ? 1 : 0;
    LineFields fields(line, layout_.separator);
    while (fields.next()) {
        const std::string name = plain_name(fields.field());
        const auto c =
            std::find_if(known_.begin(), known_.end(), [&](const TraceColumn& k) { return one_of(name, k.names); });
        columns.push_back(c == known_.end() ? TraceColumn{} : *c);
        found += is_needed(columns.back().role) ? 1 : 0;
    }
    if (found != needed) return false;
    layout_.columns = std::move(columns);
    return true;
}

/// True: the line has unknown names for all columns, because there are words where numbers and operations should be.
bool ColumnFormat::is_unknown_header(std::string_view line) const {
    LineFields fields(line, layout_.separator);
    TraceLine ignored;
    for (const auto& c : layout_.columns) {
        if (!fields.next() || fields.field().empty()) return false;
        const bool checked = c.role != Role::volume && c.role != Role::text && c.role != Role::any;
        if (is_digit(fields.field()[0]) || (checked && take(c, fields.field(), ignored))) return false;
    }
    return layout_.more_columns || fields.at_end();
}

double ColumnFormat::resemblance(std::string_view line) const {
    LineFields fields(line, layout_.separator);
    TraceLine ignored;
    std::size_t right = 0, all = 0;
    for (; fields.next(); ++all) {
        if (all >= layout_.columns.size()) continue;
        if (take(layout_.columns[all], fields.field(), ignored)) ++right;
    }
    const std::size_t columns = layout_.columns.size();
    return static_cast<double>(right) / static_cast<double>(layout_.more_columns ? columns : std::max(all, columns));
}

}  // namespace ssdtlm
