// SPDX-License-Identifier: Apache-2.0
// The fields of one line of text, and messages about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ssdtlm {

/// What a line of a trace is. All kinds but record and broken are valid text that is no request.
enum class LineKind : std::uint8_t { record, broken, blank, header, trailer, other_action, passthrough, no_operation };

/// Why a line is broken.
struct LineFault {
    std::size_t column = 1;  ///< 1-based
    std::string found;
    std::string expected;
};

/// Reads the fields of one line, and makes messages about wrong ones.
class LineFields {
public:
    /// A separator ' ' splits at runs of blanks and tabs. Any other separator splits wherever it stands. Blanks around
    /// a field are removed then, and a field may be in double quotes, which are removed as well, and may have
    /// separators inside.
    LineFields(std::string_view line, char separator) : line_(line), separator_(separator) {}
    /// Moves to the next field. False at the end of the line (then field() is empty and column() is just behind the
    /// line).
    bool next();
    std::string_view field() const { return field_; }
    std::size_t column() const { return column_; }
    bool at_end() const;  ///< no further field, and none that is empty

    /// Moves to the next field, which must be a whole number. False: it is not, and `fault` is filled. `what` names the
    /// column, with its unit.
    bool number(std::int64_t& value, const char* what, LineFault& fault);
    bool number(std::uint64_t& value, const char* what, LineFault& fault);
    /// Reads a number and multiplies it by `unit` (512 for sectors). It also returns false if the product exceeds 2^56.
    bool scaled(std::uint64_t& value, std::uint64_t unit, const char* what, LineFault& fault);
    /// Moves to the next field, which may be any non-empty text.
    bool text(std::string_view& value, const char* what, LineFault& fault);
    /// Fills `fault` for the current field; returns LineKind::broken for `return`.
    LineKind fail(const std::string& expected, LineFault& fault) const;

private:
    bool is_blank(char c) const { return c == ' ' || c == '\r' || (c == '\t' && separator_ != '\t'); }
    std::size_t end_of_quoted();
    std::string_view line_;
    char separator_;
    std::size_t pos_ = 0;
    std::string_view field_;
    std::size_t column_ = 1;
    bool trailing_empty_ = false;
};

/// Reads decimal digits and nothing else, or "0x" and hexadecimal digits. False when it is no such number or too large.
bool parse_whole(std::string_view text, std::uint64_t& value);
/// The text for messages, with '?' in place of everything but printable ASCII.
std::string printable(std::string_view text);
/// ASCII case-insensitive equality.
bool same_word(std::string_view a, std::string_view b);

}  // namespace ssdtlm
