// SPDX-License-Identifier: Apache-2.0
// Counters of the NVMe front end. They are never reset.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

struct NvmeCounters {
    // Number of I/O commands by opcode. Each is counted when its CQE is posted or held, with success or an error.
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t flushes = 0;
    std::uint64_t deallocates = 0;
    std::uint64_t write_zeroes = 0;
    std::uint64_t compares = 0;
    std::uint64_t verifies = 0;
    std::uint64_t copies = 0;
    std::uint64_t write_uncorrectables = 0;
    std::uint64_t admin = 0;          ///< admin commands accepted
    std::uint64_t refused = 0;        ///< commands completed with an error by the front end itself
    std::uint64_t failed = 0;         ///< commands completed with an error by the firmware
    std::uint64_t media_errors = 0;   ///< of these, status type 2 (media and data integrity)
    std::uint64_t bytes_read = 0;     ///< successful host reads
    std::uint64_t bytes_written = 0;  ///< successful host writes (Write Zeroes moves no data)
    // The counters below describe the traffic.
    std::uint64_t doorbells = 0;            ///< accepted doorbell writes
    std::uint64_t doorbell_errors = 0;      ///< refused ones
    std::uint64_t fetches = 0;              ///< DMA reads for SQEs
    std::uint64_t sqes = 0;                 ///< SQEs asked for
    std::uint64_t shadow_reads = 0;         ///< DMA reads of shadow doorbells
    std::uint64_t list_reads = 0;           ///< DMA reads for PRP lists and DSM ranges
    std::uint64_t cqes = 0;                 ///< CQEs posted
    std::uint64_t cqes_held = 0;            ///< of these, CQEs that first waited for room in a full CQ
    std::uint64_t interrupts = 0;           ///< MSI-X messages sent
    std::uint64_t interrupts_masked = 0;    ///< messages that only set a pending bit
    std::uint64_t dropped = 0;              ///< commands dropped by a reset or a fatal error
    std::uint64_t resets = 0;               ///< CC.EN 1 -> 0
    std::uint64_t dropped_completions = 0;  ///< of the dropped ones, commands carried out whose CQE had waited for room
    std::uint64_t unsafe_shutdowns = 0;     ///< losses of power without a finished shutdown
    std::uint64_t power_cycles = 1;
    /// Number of I/O commands of any kind that have ended.
    std::uint64_t ended() const {
        return reads + writes + flushes + deallocates + write_zeroes + compares + verifies + copies +
               write_uncorrectables;
    }
    Ps busy{};  ///< time with at least one I/O command in the firmware
};

}  // namespace ssdtlm
