// SPDX-License-Identifier: Apache-2.0
// A request of the block layer: one or more parts of the workload's requests whose blocks lie side by side. It passes
// through a scheduler and becomes one command of the drive. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// The origin of a request. Schedulers tell contexts apart as they tell processes apart: a context is a job, or a
/// virtual machine with all of its jobs.
struct IoContext {
    std::uint32_t number = 0;    ///< dense, from 0 on
    std::uint32_t weight = 100;  ///< 1 to 1000, as a cgroup's
    IoClass io_class = IoClass::best_effort;
    std::uint8_t level = 4;  ///< priority within the class: 0 first, 7 last; 4 is normal
};

struct BlockRequest {
    HostOp op = HostOp::read;
    bool fua = false;
    bool sync = true;      ///< someone waits for it: a read, or a write of direct I/O; false: a buffered write
    bool barrier = false;  ///< a flush, or a request that nothing may be merged with or pass
    IoContext context;
    std::uint16_t queue = 1;   ///< queue of the driver, from 1 on
    std::uint64_t offset = 0;  ///< bytes
    std::uint32_t bytes = 0;
    SimTime arrived{};         ///< arrival at the scheduler; a merged request keeps its earliest
    std::uint64_t order = 0;   ///< number by arrival, from 1 on; a merged request keeps its first
    std::uint32_t handle = 0;  ///< belongs to the block layer: schedulers do not change it

    std::uint64_t end() const { return offset + bytes; }
    bool is_write() const { return op == HostOp::write; }
};

}  // namespace ssdtlm
