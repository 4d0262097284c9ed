// SPDX-License-Identifier: Apache-2.0
// One request of a block trace as it is replayed: time from the start of the trace, aligned address range. It has 24
// bytes, so that ten million requests fit in 240 MB. It does not hold the number of its line.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

struct TraceRecord {
    static constexpr std::uint32_t kMaxBytes = 1u << 30;  ///< longer requests are several records
    static constexpr std::uint32_t kMaxStreams = 1u << 24;

    Ps t{0};                    ///< since the earliest request of the trace
    std::uint64_t offset = 0;   ///< bytes from the start of the device, multiple of the LBA size
    std::uint32_t bytes = 0;    ///< multiple of the LBA size; 0 for flush
    std::uint32_t stream : 24;  ///< volume of the trace, numbered in order of appearance
    std::uint32_t op_code : 7;
    std::uint32_t fua : 1;

    TraceRecord() : stream(0), op_code(0), fua(0) {}
    HostOp op() const { return static_cast<HostOp>(op_code); }
};
static_assert(sizeof(TraceRecord) == 24);

}  // namespace ssdtlm
