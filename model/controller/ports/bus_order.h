// SPDX-License-Identifier: Apache-2.0
// The order on a channel's bus as a policy: what goes next when the bus is free. Asked once per use of the bus.
#pragma once

#include <cstdint>

#include "controller/ports/flash.h"

namespace ssdtlm {

/// Kinds of work that can use a free bus.
enum class BusTurn : std::uint8_t {
    commands,  ///< commands of reads and erases for dies that can start them: short
    data_out,  ///< data of a read whose page is in its register: long
    programs,  ///< commands of programs with their data in: long
    none
};

/// What could use the bus.
struct BusWork {
    std::uint32_t commands = 0;        ///< reads and erases in the scheduler
    std::uint32_t programs = 0;        ///< programs in the scheduler
    std::uint32_t passed = 0;          ///< turns that went past waiting programs since the last one began
    FlashTransaction* data = nullptr;  ///< finished reads, oldest first, linked by `next`
};

/// Which kinds are worth a turn now: what waits in the scheduler counts only while some die could start it.
struct BusChoice {
    bool commands = false;
    bool data_out = false;
    bool programs = false;
};

/// What goes next.
struct BusPick {
    BusPick(BusTurn kind = BusTurn::none, FlashTransaction* whose = nullptr) : turn(kind), data(whose) {}
    BusTurn turn;
    FlashTransaction* data;  ///< data_out: which of BusWork::data; null: the oldest
};

/// Contract (tb/unit/scheduler/bus_order_test.cpp holds every registered order to it):
/// - Returns a kind that may be chosen; none only if none may. Data that it names is in BusWork::data.
/// - A function of its arguments alone.
/// - Programs get the bus after a bounded number of turns of the others. (Those hold dies, and come to an end.)
class BusOrder {
public:
    virtual ~BusOrder() = default;
    virtual BusPick next(const BusWork& work, BusChoice may) const = 0;
};

}  // namespace ssdtlm
