// SPDX-License-Identifier: Apache-2.0
// Parameters of the NVMe front end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

struct NvmeConfig {
    std::uint32_t max_queue_pairs = 64;        ///< I/O queue pairs granted by Set Features 07h, 1..64
    std::uint32_t max_queue_entries = 65536;   ///< CAP.MQES + 1, 2..65536
    std::uint32_t lba_bytes = 512;             ///< 512 or 4096
    std::vector<std::uint64_t> namespaces;     ///< bytes of all namespaces but the last, which has the rest
    std::uint32_t fetch_window = 512;          ///< commands of one SQ fetched and not completed (MQSim: QueueFetchSize)
    std::vector<std::uint32_t> fetch_windows;  ///< by tenant, from 1 on; those left out: fetch_window
    std::uint32_t fetch_burst = 8;             ///< SQEs per fetch read, 1..64 (one 4 KiB page)
    std::uint32_t fetch_depth = 16;            ///< SQE fetch reads outstanding at once
    std::uint32_t arbitration_burst = 3;       ///< reset value of Feature 01h AB: burst = 2^AB commands, 7 = no limit
    bool weighted_round_robin = false;         ///< CAP.AMS bit 17: the host may choose it
    std::uint32_t max_transfer_bytes = 1u << 20;       ///< MDTS as bytes (power of two times 4 KiB); 0 = no limit
    std::uint32_t interrupt_coalescing_threshold = 0;  ///< Feature 08h THR (0-based); 0 = off
    std::uint32_t interrupt_coalescing_time = 0;       ///< Feature 08h TIME, 100 us units; 0 = off
    bool shadow_doorbells = false;                     ///< Doorbell Buffer Config is offered
    bool sgls = false;                                 ///< SGLs are offered for I/O commands
    bool metadata = false;                             ///< formats with metadata are offered
    std::uint32_t streams = 0;        ///< write streams open at once (Streams directive), 0: no directives
    std::vector<Ps> latency_targets;  ///< from doorbell to completion, by QPRIO from 0 on; none given: no deadline
    Ps ready_time{1'000'000'000};     ///< CC.EN=1 -> CSTS.RDY=1
};

/// Returns the bytes of one command of the firmware, at most `most`. The drive is made for commands of
/// nvme.max_transfer: a map on the flash has room for the entries of one such command, and a reset waits for it.
/// `max_transfer`: 0 is no limit.
constexpr std::uint32_t firmware_command_bytes(std::uint32_t most, std::uint32_t max_transfer) {
    return max_transfer == 0 ? most : std::min(most, max_transfer);
}

}  // namespace ssdtlm
