// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/policy_registry.h"
#include "host_block/nass/nass_config.h"

namespace ssdtlm {

inline constexpr const char* kNoScheduler = "off";

/// The parameters of the host's block layer. Without a scheduler there is no block layer: requests go straight to the
/// driver.
struct BlockConfig {
    std::string scheduler = kNoScheduler;  ///< a name of IoSchedulers
    std::uint32_t queue_depth = 0;  ///< most commands in the drive over all queues; 0: as many as its queues hold
    std::uint32_t nr_requests = 0;  ///< most requests in scheduler and drive; 0: by the kernel's rule
    std::uint32_t max_sectors = 1280 * 1024;  ///< most bytes of a command, merged or not
    bool merges = true;                       ///< requests that lie side by side become one
    std::uint32_t plug = 1;                   ///< requests that a submitter gathers before they reach the scheduler
    std::uint32_t vm_queue_depth = 0;    ///< most requests that have left a context's virtual queue; 0: no such queue
    std::vector<std::uint32_t> weights;  ///< by context; a missing one is the job's weight, or 100
    NassConfig nass;
    PolicyTable policies;  ///< parameters of schedulers

    bool on() const { return scheduler != kNoScheduler; }
};

}  // namespace ssdtlm
