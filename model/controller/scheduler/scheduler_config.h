// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "common/config/policy_registry.h"

namespace ssdtlm {

struct SchedulerConfig {
    std::string policy = "read_first";                 ///< registered policy
    PolicyTable policies;                              ///< parameters of policies
    std::string implementation = "tlm";                ///< tlm, tlm_clocked, rtl, compare
    std::string rtl_module = "transaction_scheduler";  ///< the Verilated block
    std::uint64_t clock_hz = 400'000'000;              ///< of the clocked implementations
    std::uint32_t queue_depth = 256;  ///< requests that a clocked channel scheduler holds; more wait in order
    bool compare_cycles = true;       ///< compare: the number of cycles must be equal too
    std::uint32_t starvation_limit =
        64;  ///< grants on a die that may overtake a waiting class before it goes first; 0: unlimited
    std::uint32_t look_ahead =
        1024;  ///< requests of a queue that a grant looks at for a multi-plane partner or an idle plane
    /// Grants that may pass a class of a die which could start. With more, a scheduler that is not proven counts as
    /// starving the class; 0: any number.
    std::uint64_t overtake_bound = 10'000;
    std::string bus_order = "commands_first";  ///< registered order on a channel's bus
    std::uint32_t bus_program_turns = 32;      ///< bus turns that may pass a waiting program before it goes first
    std::string suspend = "never";             ///< registered policy of suspending programs and erases
    bool merge_reads = false;                  ///< reads of one page share a read of the array
    bool multi_plane = true;  ///< join waiting same-die, same-class, same-page-number work of other planes
};

}  // namespace ssdtlm
