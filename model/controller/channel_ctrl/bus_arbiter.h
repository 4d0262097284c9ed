// SPDX-License-Identifier: Apache-2.0
// Whose turn it is on a free bus: keeps what could use it and asks the order (scheduler.bus_order) which kind of work goes
// next. Data of finished reads leaves oldest first. Kernel-free.
#pragma once

#include <cstdint>

#include "controller/ports/bus_order.h"
#include "controller/ports/scheduler_port.h"

namespace ssdtlm {

constexpr std::uint8_t class_bit(FlashClass c) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(c)); }
inline constexpr std::uint8_t kProgramClasses =
    class_bit(FlashClass::host_write) | class_bit(FlashClass::mapping_write) | class_bit(FlashClass::gc_write);

class BusArbiter {
public:
    /// `order` must outlive this.
    explicit BusArbiter(const BusOrder& order) : order_(order) {}

    /// A set of turns.
    static std::uint32_t bit(BusTurn turn) { return 1u << static_cast<unsigned>(turn); }
    /// Who goes next of those not in `tried`: there the scheduler had nothing. `could_start`: something waits for a die
    /// that could take it.
    BusTurn next(std::uint32_t tried, bool could_start) const {
        const BusChoice may{could_start && work_.commands != 0 && (tried & bit(BusTurn::commands)) == 0, work_.data != nullptr,
                            could_start && work_.programs != 0 && (tried & bit(BusTurn::programs)) == 0};
        return may.commands || may.data_out || may.programs ? order_.next(work_, may) : BusTurn::none;
    }
    /// What the scheduler is asked for at a turn that it decides.
    static std::uint8_t classes(BusTurn turn) {
        return turn == BusTurn::commands ? kAllClasses & ~kProgramClasses : kProgramClasses;
    }

    /// A transaction is in the scheduler.
    void queued(FlashOp op) { ++(op == FlashOp::program ? work_.programs : work_.commands); }
    /// `count` of them, joined in one operation, have the bus.
    void started(FlashOp op, std::uint32_t count) {
        if (op == FlashOp::program) {
            work_.programs -= count;
            work_.passed = 0;
        } else {
            work_.commands -= count;
            work_.passed += work_.programs != 0;
        }
    }
    /// A read's page is in its register.
    void data_ready(FlashTransaction& txn) {
        txn.next = nullptr;
        (work_.data == nullptr ? work_.data : data_tail_->next) = &txn;
        data_tail_ = &txn;
    }
    /// The oldest has the bus. Precondition: data_waits().
    FlashTransaction& start_data_out() {
        FlashTransaction& txn = *work_.data;
        work_.data = txn.next;
        work_.passed += work_.programs != 0;
        return txn;
    }

    bool data_waits() const { return work_.data != nullptr; }
    std::uint32_t commands() const { return work_.commands; }
    std::uint32_t programs() const { return work_.programs; }

private:
    BusWork work_;
    FlashTransaction* data_tail_ = nullptr;
    const BusOrder& order_;
};

}  // namespace ssdtlm
