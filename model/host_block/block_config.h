// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/policy_registry.h"
#include "host_block/nass/nass_config.h"

namespace ssdtlm {

inline constexpr const char* kNoScheduler = "off";

/// The host's block layer. Without a scheduler there is none: requests go to the driver as they come.
struct BlockConfig {
    std::string scheduler = kNoScheduler;     ///< a name of IoSchedulers
    std::uint32_t queue_depth = 0;            ///< commands in the drive at a time, over all queues; 0: what it takes
    std::uint32_t nr_requests = 0;            ///< requests in scheduler and drive; 0: by the kernel's rule
    std::uint32_t max_sectors = 1280 * 1024;  ///< bytes of a command at most, merged or not
    bool merges = true;                       ///< requests that lie side by side become one
    std::uint32_t plug = 1;                   ///< requests that a submitter gathers before they reach the scheduler
    std::uint32_t vm_queue_depth = 0;         ///< requests of a context below its virtual queue; 0: it has none
    std::vector<std::uint32_t> weights;       ///< by context; those left out: of the job, or 100
    NassConfig nass;
    PolicyTable policies;  ///< parameters of schedulers

    bool on() const { return scheduler != kNoScheduler; }
};

}  // namespace ssdtlm
