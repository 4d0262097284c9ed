// SPDX-License-Identifier: Apache-2.0
// What the SMART log counts over a drive's whole life, as far as it lies before this run: a saved drive brings it.
#pragma once

#include <cstdint>

#include "common/snapshot/snapshot.h"
#include "controller/nvme/counters.h"

namespace ssdtlm {

struct NvmeLifetime {
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::uint64_t reads = 0;   ///< commands, with compares
    std::uint64_t writes = 0;  ///< commands
    std::uint64_t busy_ms = 0, power_on_ms = 0;
    std::uint64_t power_cycles = 0, unsafe_shutdowns = 0, media_errors = 0;

    /// Returns the sums with those of a run that is now at this time.
    NvmeLifetime with(const NvmeCounters& run, SimTime now) const {
        NvmeLifetime all = *this;
        all.bytes_read += run.bytes_read;
        all.bytes_written += run.bytes_written;
        all.reads += run.reads + run.compares;
        all.writes += run.writes;
        all.busy_ms += static_cast<std::uint64_t>(run.busy / 1ms);
        all.power_on_ms += static_cast<std::uint64_t>(now.time_since_epoch() / 1ms);
        all.power_cycles += run.power_cycles;
        all.unsafe_shutdowns += run.unsafe_shutdowns;
        all.media_errors += run.media_errors;
        return all;
    }
    std::uint64_t power_on_hours(SimTime now) const {
        constexpr std::uint64_t kHour = 3'600'000;
        return (power_on_ms + static_cast<std::uint64_t>(now.time_since_epoch() / 1ms)) / kHour;
    }
    void state(Snapshot& s) {
        s(bytes_read, bytes_written, reads, writes, busy_ms, power_on_ms, power_cycles, unsafe_shutdowns, media_errors);
    }
};

}  // namespace ssdtlm
