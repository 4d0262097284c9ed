// SPDX-License-Identifier: Apache-2.0
// --trace-columns: the columns of a trace in a few words, between the separators that the file has too.
#include <algorithm>

#include "host_pcie/workload/trace/trace_columns.h"

namespace ssdtlm {
namespace {

using Role = TraceColumn::Role;

struct TimeUnit {
    const char* name;
    std::int64_t ps;
    const char* what;
};
constexpr TimeUnit kTimeUnits[] = {{"s", 1'000'000'000'000, "a time in s"},
                                   {"ms", 1'000'000'000, "a time in ms"},
                                   {"us", 1'000'000, "a time in us"},
                                   {"filetime", 100'000, "a time in units of 100 ns"},
                                   {"ns", 1'000, "a time in ns"}};

constexpr std::uint64_t kLargestUnit = std::uint64_t{1} << 30;

// Operations in the order in which their words are given: op:READ/WRITE/TRIM/FLUSH.
constexpr HostOp kOps[] = {HostOp::read, HostOp::write, HostOp::trim, HostOp::flush};

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t at = std::min(text.find(separator, from), text.size());
        parts.push_back(text.substr(from, at - from));
        from = at + 1;
    }
    return parts;
}

/// Words that known traces use, as far as they leave no doubt: 0 and 1 have opposite meanings in two of them.
std::vector<std::pair<std::string, HostOp>> usual_op_words() {
    std::vector<std::pair<std::string, HostOp>> words;
    for (const char* w : {"R", "RD", "RS", "Read"}) words.emplace_back(w, HostOp::read);
    for (const char* w : {"W", "WR", "WS", "Write"}) words.emplace_back(w, HostOp::write);
    for (const char* w : {"D", "T", "Trim", "Discard", "Unmap", "Deallocate"}) words.emplace_back(w, HostOp::trim);
    for (const char* w : {"F", "Flush", "Sync"}) words.emplace_back(w, HostOp::flush);
    return words;
}

class SpecParser {
public:
    SpecParser(const std::string& text, std::vector<Problem>& problems) : text_(text), problems_(problems) {}

    TraceColumnLayout parse() {
        layout_.hexadecimal = true;
        layout_.op_words = usual_op_words();
        const std::size_t separator = text_.find_first_of(",;\t ");
        layout_.separator = separator == std::string::npos ? ',' : text_[separator];
        auto words = split(text_, layout_.separator);
        if (words.back() == "...") {
            layout_.more_columns = true;
            words.pop_back();
        }
        const std::size_t before = problems_.size();
        for (const auto& word : words) {
            ++number_;
            const std::size_t colon = std::min(word.find(':'), word.size());
            column(word.substr(0, colon), colon < word.size() ? word.substr(colon + 1) : "", colon < word.size());
        }
        for (const auto& [role, name] : {std::pair{Role::op, "op"}, {Role::offset, "offset"}, {Role::bytes, "size"}}) {
            const auto n = std::count_if(layout_.columns.begin(), layout_.columns.end(),
                                         [r = role](const TraceColumn& c) { return c.role == r; });
            if (n == 0) refuse(std::string("no column '") + name + "'", trace_columns_grammar(), "");
        }
        if (problems_.size() != before) layout_.columns.clear();
        return std::move(layout_);
    }

private:
    void refuse(const std::string& found, const std::string& allowed, const std::string& repair) {
        problems_.push_back({"--trace-columns " + text_, found, allowed, repair});
    }

    void column(const std::string& name, const std::string& detail, bool has_detail) {
        static const std::vector<std::string> names = {"time", "op", "offset", "size", "volume", "-"};
        const std::string where = "column " + std::to_string(number_) + " '" + name + "'";
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            const std::string near = name.empty() ? "" : nearest(name, names);
            return refuse(where + " has no meaning", trace_columns_grammar(),
                          near.empty() ? "" : "did you mean '" + near + "'?");
        }
        TraceColumn c;
        if (name == "time") c = time(where, detail);
        if (name == "op") c = op(where, detail);
        if (name == "offset") c = range(where, detail, Role::offset, "an offset");
        if (name == "size") c = range(where, detail, Role::bytes, "a size");
        if (name == "volume") c = TraceColumn{Role::volume, "a volume"};
        if (has_detail && (name == "volume" || name == "-")) refuse(where + " takes no ':" + detail + "'", name, "");
        const bool repeated = c.role != Role::volume && c.role != Role::any &&
                              std::any_of(layout_.columns.begin(), layout_.columns.end(),
                                          [&](const TraceColumn& other) { return other.role == c.role; });
        if (repeated) refuse(where + " is there twice", "one such column", "mark the other with '-'");
        layout_.columns.push_back(c);
    }

    TraceColumn time(const std::string& where, const std::string& detail) {
        for (const auto& u : kTimeUnits) {
            if (detail != u.name) continue;
            // Ticks of 1 ns, but FILETIMEs counted in these would come near the end of 64 bits.
            layout_.tick_ps = std::max<std::int64_t>(1'000, u.ps == 100'000 ? u.ps : 0);
            return {Role::time, u.what, "", u.ps};
        }
        std::string units;
        for (const auto& u : kTimeUnits) units += std::string(units.empty() ? "time:" : ", time:") + u.name;
        refuse(where + (detail.empty() ? " needs a unit" : ": unit '" + detail + "'"), units, "");
        return {Role::time};
    }
    TraceColumn op(const std::string& where, const std::string& detail) {
        if (detail.empty()) return {Role::op, "a word for read, write, trim or flush"};
        const auto words = split(detail, '/');
        layout_.op_words.clear();
        for (std::size_t i = 0; i < words.size() && i < std::size(kOps); ++i)
            if (!words[i].empty()) layout_.op_words.emplace_back(words[i], kOps[i]);
        if (words.size() > std::size(kOps) || layout_.op_words.empty())
            refuse(where + ": '" + detail + "'",
                   "op, or op:READ/WRITE/TRIM/FLUSH with the words of the file, the last ones may be left out",
                   "for example op:0/1");
        return {Role::op, "a word of op as --trace-columns gives them"};
    }
    TraceColumn range(const std::string& where, const std::string& detail, Role role, const char* what) {
        std::uint64_t unit = 1;
        if (detail == "sectors")
            unit = 512;
        else if (!detail.empty() && (!parse_whole(detail, unit) || unit == 0 || unit > kLargestUnit))
            refuse(where + ": unit '" + detail + "'", "a number of bytes up to 1 GiB, or sectors (512 bytes)",
                   "for example 4096");
        return {role, what, "", static_cast<std::int64_t>(unit)};
    }

    const std::string& text_;
    std::vector<Problem>& problems_;
    TraceColumnLayout layout_;
    std::size_t number_ = 0;
};

}  // namespace

const char* trace_columns_grammar() {
    return "the columns in order, with the file's separator between them: time:s|ms|us|ns|filetime, op or "
           "op:READ/WRITE, "
           "offset[:BYTES|:sectors], size[:BYTES|:sectors], volume, - (not used), ... (more follow)";
}

TraceColumnLayout parse_trace_columns(const std::string& text, std::vector<Problem>& problems) {
    return SpecParser(text, problems).parse();
}

TraceFormats make_columns_formats(const TraceFormatOptions& options) {
    TraceFormats list;
    if (options.columns.empty()) return list;  // nothing to recognise
    std::vector<Problem> problems;
    TraceColumnLayout layout = parse_trace_columns(options.columns, problems);
    if (!problems.empty()) throw UserError(std::move(problems));
    list.push_back(std::make_unique<ColumnFormat>(std::move(layout)));
    return list;
}

}  // namespace ssdtlm
