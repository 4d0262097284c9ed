// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

/// The host: CPU costs, queue pairs, interrupts.
struct HostConfig {
    std::uint32_t queue_pairs = 8;        ///< I/O queue pairs, 1..64; job i uses pair i % queue_pairs
    std::uint32_t queue_entries = 1024;   ///< entries of each I/O SQ and CQ, 2..65536 (usable depth is one less)
    std::uint32_t admin_entries = 32;     ///< as Linux
    std::uint32_t page_bytes = 4096;      ///< CC.MPS page: 4096, 8192, ..., 65536
    std::uint32_t buffer_offset = 0;      ///< byte offset of data buffers in their first page (multiple of 4): exercises PRP rules
    Ps submit_time{0};                    ///< CPU time of one submission, serial per queue pair, before the doorbell store
    Ps completion_time{0};                ///< CPU time of one completion, serial per queue pair
    Ps interrupt_latency{0};              ///< MSI-X write at the root complex -> handler runs
    std::vector<Ps> reset_at;             ///< controller resets, from the start of I/O
    bool reset_shutdown = false;          ///< a normal shutdown (CC.SHN) before each of them
};

}  // namespace ssdtlm
