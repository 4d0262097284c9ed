// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/line_fields.h"

#include <algorithm>
#include <charconv>

namespace ssdtlm {

bool LineFields::next() {
    while (pos_ < line_.size() && is_blank(line_[pos_])) ++pos_;
    column_ = pos_ + 1;
    field_ = {};
    if (pos_ >= line_.size() && !trailing_empty_) return false;
    trailing_empty_ = false;
    std::size_t end = pos_;
    if (separator_ == ' ') {
        while (end < line_.size() && !is_blank(line_[end])) ++end;
        field_ = line_.substr(pos_, end - pos_);
        pos_ = end;
        return true;
    }
    const std::size_t quoted = pos_ < line_.size() && line_[pos_] == '"' ? end_of_quoted() : 0;
    if (quoted != 0) {
        field_ = line_.substr(pos_ + 1, quoted - pos_ - 1);
        column_ = pos_ + 2;
        end = quoted + 1;
    }
    end = std::min(line_.find(separator_, end), line_.size());
    if (quoted == 0) field_ = line_.substr(pos_, end - pos_);
    while (!field_.empty() && is_blank(field_.back())) field_.remove_suffix(1);
    pos_ = end;
    if (pos_ < line_.size()) {
        ++pos_;
        // "a,b," has an empty third field
        trailing_empty_ = pos_ == line_.size() || (is_blank(line_[pos_]) && at_end());
    }
    return true;
}

/// The place of the closing quote. It is 0 if there is none, or if text follows before the separator: then the field is
/// not quoted.
std::size_t LineFields::end_of_quoted() {
    const std::size_t close = line_.find('"', pos_ + 1);
    if (close == std::string_view::npos) return 0;
    std::size_t p = close + 1;
    while (p < line_.size() && is_blank(line_[p])) ++p;
    return p == line_.size() || line_[p] == separator_ ? close : 0;
}

bool LineFields::at_end() const {
    if (trailing_empty_) return false;
    std::size_t p = pos_;
    while (p < line_.size() && is_blank(line_[p])) ++p;
    return p >= line_.size();
}

LineKind LineFields::fail(const std::string& expected, LineFault& fault) const {
    fault.column = column_;
    fault.found = field_.empty() ? (column_ > line_.size() ? "end of line" : "empty field")
                                 : "'" + printable(field_.substr(0, 40)) + "'";
    fault.expected = expected;
    return LineKind::broken;
}

namespace {
template <typename T>
bool parse_number(std::string_view s, T& value) {
    const char* end = s.data() + s.size();
    const auto r = std::from_chars(s.data(), end, value);
    return r.ec == std::errc{} && r.ptr == end && !s.empty();
}
}  // namespace

bool LineFields::number(std::int64_t& value, const char* what, LineFault& fault) {
    next();
    if (parse_number(field_, value) && value >= 0) return true;
    fail(std::string("expected ") + what, fault);
    return false;
}

bool LineFields::number(std::uint64_t& value, const char* what, LineFault& fault) {
    next();
    if (parse_number(field_, value)) return true;
    fail(std::string("expected ") + what, fault);
    return false;
}

bool LineFields::scaled(std::uint64_t& value, std::uint64_t unit, const char* what, LineFault& fault) {
    if (!number(value, what, fault)) return false;
    // Far above any device, and far enough below 2^64 that sums of ranges cannot overflow.
    if (value > (std::uint64_t{1} << 56) / unit) {
        fail(std::string("expected ") + what + " of at most 2^56 bytes", fault);
        return false;
    }
    value *= unit;
    return true;
}

bool LineFields::text(std::string_view& value, const char* what, LineFault& fault) {
    next();
    value = field_;
    if (!field_.empty()) return true;
    fail(std::string("expected ") + what, fault);
    return false;
}

bool parse_whole(std::string_view text, std::uint64_t& value) {
    const bool hexadecimal = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hexadecimal) text.remove_prefix(2);
    const char* end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
    return r.ec == std::errc{} && r.ptr == end && !text.empty();
}

std::string printable(std::string_view text) {
    std::string s(text);
    for (char& c : s)
        if (c < ' ' || c > '~') c = '?';
    return s;
}

bool same_word(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

}  // namespace ssdtlm
