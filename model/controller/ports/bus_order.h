// SPDX-License-Identifier: Apache-2.0
// The order on a channel's bus as a policy: it chooses the next user when the bus is free. It is asked once for each
// use of the bus.
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

/// The possible users of the bus.
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

/// The next user.
struct BusPick {
    BusPick(BusTurn kind = BusTurn::none, FlashTransaction* whose = nullptr) : turn(kind), data(whose) {}
    BusTurn turn;
    FlashTransaction* data;  ///< data_out: which of BusWork::data; null: the oldest
};

/// - The answer depends on the arguments alone.
class BusOrder {
public:
    virtual ~BusOrder() = default;
    virtual BusPick next(const BusWork& work, BusChoice may) const = 0;
};

}  // namespace ssdtlm
