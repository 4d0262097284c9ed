// SPDX-License-Identifier: Apache-2.0
// A request of the block layer: one or more requests of the workload whose blocks lie side by side, on their way
// through a scheduler to one command of the drive. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// The origin of a request, as schedulers tell processes apart: a job, or a virtual machine with all of its jobs.
struct IoContext {
    std::uint32_t number = 0;    ///< dense, from 0 on
    std::uint32_t weight = 100;  ///< 1 to 1000, as a cgroup's
    IoClass io_class = IoClass::best_effort;
    std::uint8_t level = 4;  ///< in its class: 0 first, 7 last; 4 is normal
};

struct BlockRequest {
    HostOp op = HostOp::read;
    bool fua = false;
    bool sync = true;      ///< someone waits for it: reads, and writes of direct I/O; false: buffered writes
    bool barrier = false;  ///< a flush, or a request that nothing may be merged with or pass
    IoContext context;
    std::uint16_t queue = 1;   ///< of the driver, from 1 on
    std::uint64_t offset = 0;  ///< bytes
    std::uint32_t bytes = 0;
    SimTime arrived{};         ///< at the scheduler; of a merged one the earliest
    std::uint64_t order = 0;   ///< by arrival, from 1 on; a merged one keeps its first
    std::uint32_t handle = 0;  ///< of the block layer: schedulers hand it back untouched

    std::uint64_t end() const { return offset + bytes; }
    bool is_write() const { return op == HostOp::write; }
};

}  // namespace ssdtlm
