// SPDX-License-Identifier: Apache-2.0
// What a block trace format has to offer: the meaning of one line. Reading files, sorting, choosing volumes and
// fitting addresses to the device are the same for all formats and live in trace_reader.
// To add a format: one file deriving from TraceFormat, one row in trace_formats().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host_pcie/protocol/host_request.h"

namespace ssdtlm {

/// A request exactly as the line states it.
struct TraceLine {
    std::int64_t ticks = 0;        ///< in the format's own unit, from the format's own epoch
    HostOp op = HostOp::read;
    bool fua = false;
    bool preflush = false;         ///< a flush precedes this request
    std::uint64_t offset = 0;      ///< bytes
    std::uint64_t bytes = 0;
    std::string_view volume;       ///< points into the line (or into the format object)
};

/// Verdict on a line. Everything but record and broken is legitimate text that is no user request.
enum class LineKind : std::uint8_t { record, broken, blank, header, trailer, other_action, passthrough };

/// Why a line is broken.
struct LineFault {
    std::size_t column = 1;        ///< 1-based
    std::string found;
    std::string expected;
};

struct TraceFormatOptions {
    char blkparse_action = 'D';    ///< 'D' issued to the driver, 'Q' queued by the file system
};

class TraceFormat {
public:
    virtual ~TraceFormat() = default;
    /// Picoseconds of one tick.
    virtual std::int64_t tick_ps() const = 0;
    /// True when each volume has its own address space (then volumes are laid out one after the other).
    virtual bool volumes_are_separate() const = 0;
    /// `line` has no line end. Lines come in file order; on broken, `fault` is filled.
    virtual LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) = 0;
};

struct TraceFormatInfo {
    const char* name;
    const char* sentence;          ///< columns and units
    std::unique_ptr<TraceFormat> (*make)(const TraceFormatOptions&);
};
/// All formats; the order does not matter to detection.
const std::vector<TraceFormatInfo>& trace_formats();

std::unique_ptr<TraceFormat> make_msr_format(const TraceFormatOptions&);
std::unique_ptr<TraceFormat> make_mqsim_format(const TraceFormatOptions&);
std::unique_ptr<TraceFormat> make_blkparse_format(const TraceFormatOptions&);
std::unique_ptr<TraceFormat> make_alibaba_format(const TraceFormatOptions&);

/// Walks over the fields of one line and phrases what is wrong with one.
class LineFields {
public:
    /// `separator` ',' splits at each comma and trims blanks; ' ' splits at runs of blanks and tabs.
    LineFields(std::string_view line, char separator) : line_(line), separator_(separator) {}
    /// False at the end of the line (then field() is empty and column() is just behind the line).
    bool next();
    std::string_view field() const { return field_; }
    std::size_t column() const { return column_; }
    bool at_end() const;

    /// next() and a whole number; false with `fault` filled otherwise. `what` names the column, with its unit.
    bool number(std::int64_t& value, const char* what, LineFault& fault);
    bool number(std::uint64_t& value, const char* what, LineFault& fault);
    /// number() times `unit` (512 for sectors); false also when the product exceeds 2^56.
    bool scaled(std::uint64_t& value, std::uint64_t unit, const char* what, LineFault& fault);
    /// next() and any non-empty text.
    bool text(std::string_view& value, const char* what, LineFault& fault);
    /// Fills `fault` for the current field; returns LineKind::broken for `return`.
    LineKind fail(const std::string& expected, LineFault& fault) const;

private:
    std::string_view line_;
    char separator_;
    std::size_t pos_ = 0;
    std::string_view field_;
    std::size_t column_ = 1;
    bool trailing_empty_ = false;
};

/// With everything but printable ASCII replaced by '?', for messages.
std::string printable(std::string_view text);
/// ASCII case-insensitive equality.
bool same_word(std::string_view a, std::string_view b);

}  // namespace ssdtlm
