// SPDX-License-Identifier: Apache-2.0
// A block trace format: the meaning of one line. trace_reader does what is common to all formats: reading files,
// sorting, choosing volumes and fitting addresses to the device. To add a format, add a table of columns in
// trace_column_formats, or write a file deriving from TraceFormat, and add a row in trace_formats().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/trace/line_fields.h"

namespace ssdtlm {

/// Limit of offsets and sizes: far above any device, and far enough below 2^64 that sums of ranges cannot overflow.
inline constexpr std::uint64_t kMostTraceBytes = std::uint64_t{1} << 56;

/// A request exactly as the line states it.
struct TraceLine {
    std::int64_t ticks = 0;  ///< in the format's own unit, from the format's own epoch
    HostOp op = HostOp::read;
    bool fua = false;
    bool preflush = false;     ///< a flush precedes this request
    std::uint64_t offset = 0;  ///< bytes
    std::uint64_t bytes = 0;
    std::string_view volume;  ///< points into the line (or into the format object)
};

struct TraceFormatOptions {
    char blkparse_action = 'D';  ///< 'D' issued to the driver, 'Q' queued by the file system
    std::string columns;         ///< --trace-columns; the layout of make_columns_formats()
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
    /// Share of the columns that are right in a line, 0 to 1, with each column checked by itself. It finds the intended
    /// format of a file in which no line can be read.
    virtual double resemblance(std::string_view line) const = 0;
};

struct TraceFormatInfo {
    const char* name;
    const char* sentence;  ///< columns and units
    /// The format, and its variants that only whole files tell apart (columns left out); the first is the one
    /// described.
    std::vector<std::unique_ptr<TraceFormat>> (*make)(const TraceFormatOptions&);
};
/// All formats. If two fit a file equally well, detection takes the first.
const std::vector<TraceFormatInfo>& trace_formats();
/// The row of one name; nullptr when there is none.
const TraceFormatInfo* find_trace_format(const std::string& name);
/// Name of the format that --trace-columns describes.
inline constexpr const char* kColumnsFormat = "columns";

using TraceFormats = std::vector<std::unique_ptr<TraceFormat>>;
TraceFormats make_msr_formats(const TraceFormatOptions&);
TraceFormats make_systor_formats(const TraceFormatOptions&);
TraceFormats make_tencent_formats(const TraceFormatOptions&);
TraceFormats make_alibaba_formats(const TraceFormatOptions&);
TraceFormats make_fiu_formats(const TraceFormatOptions&);
TraceFormats make_spc_formats(const TraceFormatOptions&);
TraceFormats make_mqsim_formats(const TraceFormatOptions&);
TraceFormats make_columns_formats(const TraceFormatOptions&);
TraceFormats make_blkparse_formats(const TraceFormatOptions&);
TraceFormats make_iolog_formats(const TraceFormatOptions&);
TraceFormats make_etw_formats(const TraceFormatOptions&);

}  // namespace ssdtlm
