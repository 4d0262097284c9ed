// SPDX-License-Identifier: Apache-2.0
// Counters of one channel since the start. They are only added to; a report subtracts two snapshots.
#pragma once

#include <array>
#include <cstdint>

#include "common/units/units.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

struct ChannelCounters {
    // Time the bus was held, by what for. Their sum is the busy time.
    Ps command{};     ///< command and address cycles, tADL, tCCS, waits inside multi-plane sequences
    Ps data_in{};     ///< program data
    Ps data_out{};    ///< read data, from R/B# high to the last cycle
    Ps turnaround{};  ///< tRHW after data out
    Ps bus_busy() const { return command + data_in + data_out + turnaround; }

    std::array<std::uint64_t, kFlashWorkCount> pages{};  ///< pages read or programmed, blocks erased, by flash_work()
    std::uint64_t operations = 0;                        ///< array operations started (a multi-plane operation is one)
    std::uint64_t multi_plane = 0;                       ///< of those, with more than one plane
    std::uint64_t joined_programs = 0;                   ///< pages programmed by operations of more than one plane
    std::uint64_t read_retries = 0;     ///< pages read again because the decoder could not correct them
    std::uint64_t merged_reads = 0;     ///< pages not read, because another read of the same page waited
    std::uint64_t look_ahead_cuts = 0;  ///< PlanesHeld::cuts
    Ps look_ahead_idle{};               ///< of planes, in sum: PlanesHeld::planes over time
    std::uint64_t suspends = 0;         ///< programs and erases suspended for reads
    std::uint64_t bytes_in = 0;         ///< on DQ, with their share of the spare area
    std::uint64_t bytes_out = 0;
};

}  // namespace ssdtlm
