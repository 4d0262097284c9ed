// SPDX-License-Identifier: Apache-2.0
// The orders on a channel's bus by name. A new one: one file like bus_data_first.cpp and its line in the build list.
#pragma once

#include <memory>

#include "common/config/policy_registry.h"
#include "controller/ports/bus_order.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm {

struct BusOrderSetup {
    std::uint32_t program_turns = 1;  ///< turns of others that may go past waiting programs
};
/// All orders that are linked into the program. scheduler.bus_order names one, and [scheduler.<name>] has its
/// parameters.
using BusOrders = PolicyRegistry<BusOrder, BusOrderSetup>;

/// Makes the order that config.bus_order names. Throws UserError with the nearest name when there is none.
inline std::unique_ptr<BusOrder> make_bus_order(const SchedulerConfig& config) {
    return BusOrders::instance().make("scheduler.bus_order", config.bus_order, {config.bus_program_turns},
                                      config.policies);
}

/// Serves an order that does not let programs wait for good. Programs go first when they were passed `limit` times;
/// else they go after `others`.
inline BusPick with_programs(const BusWork& work, BusChoice may, std::uint32_t limit, BusPick others) {
    if (may.programs && work.passed >= limit) return BusTurn::programs;
    return others.turn == BusTurn::none && may.programs ? BusTurn::programs : others;
}

}  // namespace ssdtlm
