// SPDX-License-Identifier: Apache-2.0
// Finds which format a file has, from its first lines.
#pragma once

#include <string>

#include "host_pcie/workload/trace/trace_format.h"

namespace ssdtlm {

struct DetectedFormat {
    std::string name;
    std::unique_ptr<TraceFormat> format;  ///< has seen no line yet
};

/// Finds the variant of the named format that fits the beginning of the file best; for "auto", of any format. A format
/// of which no line can be read still fits when most columns are right: the reader then says what is wrong with each
/// line. Throws UserError when nothing fits, or the name is unknown. `skip_broken`: a line without end is no reason to
/// refuse.
DetectedFormat detect_trace_format(const std::string& path, const std::string& shown, const std::string& name,
                                   const TraceFormatOptions& options, bool skip_broken);

}  // namespace ssdtlm
