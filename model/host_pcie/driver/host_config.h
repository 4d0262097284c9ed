// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"
#include "host_block/block_config.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// Which jobs of a workload work for the same tenant.
enum class Tenants : std::uint8_t {
    one,    ///< all jobs work for one, and the drive is not told
    by_job  ///< each workload, each section of a job file, or each job of a trace is a tenant
};

/// How the host learns that a command has ended.
enum class CompletionBy : std::uint8_t {
    interrupt,  ///< the drive sends an interrupt for one or several commands
    poll        ///< a core reads its completion queues whenever it has no other work
};

/// How the driver asks the drive to choose among submission queues (CC.AMS).
enum class QueueArbitration : std::uint8_t {
    round_robin,
    weighted  ///< weighted round robin with urgent priority class
};

/// CPU time for each page of a command's data.
struct PageTimes {
    Ps read{0};
    Ps write{0};
    bool any() const { return read != Ps{} || write != Ps{}; }
    Ps of(HostOp op) const { return op == HostOp::read ? read : op == HostOp::write ? write : Ps{0}; }
};

/// The host: CPU costs, queue pairs, interrupts.
struct HostConfig {
    std::uint32_t queue_pairs = 8;   ///< I/O queue pairs, 1..64; job i of a tenant uses its pairs in turn
    Tenants tenants = Tenants::one;  ///< by_job: each tenant has queue pairs of its own
    std::string regions;             ///< where each workload of the run has its addresses; empty: the whole drive
    std::vector<std::uint8_t> queue_priorities;  ///< by tenant: QPRIO of its submission queues, 0 to 3; missing: 0
    QueueArbitration arbitration = QueueArbitration::round_robin;
    std::vector<std::uint32_t> arbitration_weights{1, 1, 1};  ///< of priorities high, medium and low, 1 to 256 each
    bool streams = false;                ///< the driver enables the Streams directive and sends each write's stream
    std::uint32_t queue_entries = 1024;  ///< entries of each I/O SQ and CQ, 2..65536 (usable depth is one less)
    std::uint32_t admin_entries = 32;    ///< entries of the admin queues, as in Linux
    std::uint32_t page_bytes = 4096;     ///< CC.MPS page: 4096, 8192, ..., 65536
    std::uint32_t buffer_offset =
        0;                    ///< byte offset of data buffers in their first page (multiple of 4): exercises PRP rules
    std::uint32_t cores = 0;  ///< CPU cores that do I/O, at most queue_pairs; 0: one for each queue pair
    Ps submit_time{0};        ///< CPU time of one submission, serial on the core, before the doorbell store
    Ps completion_time{0};    ///< CPU time of one completion, serial on the core
    PageTimes submit_page_time;      ///< for each page, in addition to submit_time
    PageTimes completion_page_time;  ///< for each page, in addition to completion_time
    CompletionBy completion = CompletionBy::interrupt;
    Ps interrupt_time{0};                  ///< CPU time of a run of the interrupt handler, without its completions
    Ps poll_time{100'000};                 ///< CPU time of one look at the completion queues of a core
    Ps interrupt_latency{0};               ///< MSI-X write at the root complex -> handler runs
    std::vector<Ps> reset_at;              ///< controller resets, from the start of I/O
    std::vector<Ps> power_cut_at;          ///< losses of the drive's power, from the start of I/O
    bool power_cut_shutdown = false;       ///< a normal shutdown comes before each of them
    Ps power_off_time{1'000'000'000'000};  ///< time until the power is back, with the link up
    BlockConfig block;                     ///< the I/O scheduler above the driver, if there is one
    bool reset_shutdown = false;           ///< a normal shutdown (CC.SHN) comes before each reset
};

}  // namespace ssdtlm
