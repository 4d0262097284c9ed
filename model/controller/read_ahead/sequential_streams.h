// SPDX-License-Identifier: Apache-2.0
// Finds sequential streams of reads and says how far to read ahead of each. Plain C++ without time.
//
// A stream is known by its tenant and by the byte at which its last read ended. When there are kStreams, the one that
// was not read for longest is given up. When less than half of the depth is left before a stream, it is filled up to
// the whole, so that reads ahead come as whole flash pages.
#pragma once

#include <array>
#include <cstdint>

#include "common/snapshot/snapshot.h"
#include "controller/ports/read_ahead_config.h"

namespace ssdtlm {

class SequentialStreams {
public:
    static constexpr std::uint32_t kStreams = 16;  ///< assumed
    /// Mapping units.
    struct Range {
        std::uint64_t first = 0, units = 0;
    };
    SequentialStreams(const ReadAheadConfig& config, std::uint32_t unit_bytes, std::uint64_t logical_units)
        : depth_(config.bytes / unit_bytes),
          trigger_(config.trigger),
          unit_bytes_(unit_bytes),
          logical_units_(logical_units) {}

    /// A read of bytes from `begin` to before `end` has come; call it in order of arrival. Returns what to read ahead
    /// of it now; no units: nothing.
    Range read(std::uint16_t tenant, std::uint64_t begin, std::uint64_t end);
    void state(Snapshot& s);

private:
    struct Stream {
        std::uint64_t end = 0;    // byte behind its last read
        std::uint64_t ahead = 0;  // unit behind the last that was read ahead
        std::uint64_t used = 0;   // at which read of all; 0: never
        std::uint32_t reads = 0;  // up to the trigger
        std::uint16_t tenant = 0;
    };
    const std::uint64_t depth_;
    const std::uint32_t trigger_;
    const std::uint32_t unit_bytes_;
    const std::uint64_t logical_units_;
    std::array<Stream, kStreams> streams_{};
    std::uint64_t now_ = 0;  // reads so far
};

}  // namespace ssdtlm
