// SPDX-License-Identifier: Apache-2.0
// The formats of traces that are tables, by the meaning of each column in order. Most published formats are only such a
// layout, and --trace-columns describes any other. A line with the names of the columns may put them in another order.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/report/error.h"
#include "host_pcie/workload/trace/trace_format.h"

namespace ssdtlm {

struct TraceColumn {
    enum class Role : std::uint8_t {
        time,    ///< a number, with a fraction when the layout's tick is smaller than the unit
        op,      ///< one of the layout's words
        offset,  ///< a number of units
        bytes,   ///< a number of units
        volume,  ///< a name; several such columns are joined by commas
        number,  ///< checked for being a number, not used
        text,    ///< checked for being there, not used
        any      ///< may also be empty
    };
    Role role = Role::any;
    const char* what = "";      ///< with its unit, for messages: "an offset in bytes"
    const char* names = "";     ///< in a header, without blanks, in small letters: "offset|lba"
    std::int64_t unit = 1;      ///< time: ps; offset and bytes: bytes
    bool may_be_empty = false;  ///< op: then the line is no request
    bool digits = false;        ///< volume: must be a number
};

struct TraceColumnLayout {
    char separator = ',';  ///< as of LineFields
    std::vector<TraceColumn> columns;
    std::vector<std::pair<std::string, HostOp>> op_words;  ///< letters of either case
    std::int64_t tick_ps = 1'000;
    bool volumes_are_separate = true;
    bool more_columns = false;  ///< more columns may follow, which are ignored
    bool hexadecimal = false;   ///< offsets and sizes may be "0x1f"
};

class ColumnFormat final : public TraceFormat {
public:
    explicit ColumnFormat(TraceColumnLayout layout) : layout_(std::move(layout)), known_(layout_.columns) {}
    std::int64_t tick_ps() const override { return layout_.tick_ps; }
    bool volumes_are_separate() const override { return layout_.volumes_are_separate; }
    LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) override;
    double resemblance(std::string_view line) const override;

private:
    LineKind read(LineFields& fields, TraceLine& out, LineFault& fault);
    LineKind fail(const LineFields& fields, std::size_t column, LineFault& fault) const;
    bool take(const TraceColumn& column, std::string_view field, TraceLine& out) const;
    void add_volume(std::string_view field, TraceLine& out);
    bool read_header(std::string_view line);
    bool is_unknown_header(std::string_view line) const;

    TraceColumnLayout layout_;
    std::vector<TraceColumn> known_;  ///< all columns of the format, of which a header may leave some out
    std::string joined_volume_;
    std::size_t volume_parts_ = 0;
    bool began_ = false;  ///< a line that is not blank has come
};

/// The layout that --trace-columns describes; empty columns when it has mistakes, which are appended to `problems`.
TraceColumnLayout parse_trace_columns(const std::string& text, std::vector<Problem>& problems);
/// Returns a sentence about the syntax of --trace-columns.
const char* trace_columns_grammar();

}  // namespace ssdtlm
