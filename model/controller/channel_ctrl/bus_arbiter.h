// SPDX-License-Identifier: Apache-2.0
// Chooses the next user of a free bus. It records the possible users and asks the order (scheduler.bus_order) which
// goes next. Kernel-free.
#pragma once

#include <cstdint>

#include "controller/ports/bus_order.h"
#include "controller/ports/scheduler_port.h"

namespace ssdtlm {

class BusArbiter {
public:
    /// `order` must outlive this.
    explicit BusArbiter(const BusOrder& order) : order_(order) {}

    /// The bit of a turn in a set of turns.
    static std::uint32_t bit(BusTurn turn) { return 1u << static_cast<unsigned>(turn); }
    /// Returns the next user. Turns in `tried` are left out, because the scheduler had nothing for them. With
    /// `could_start`, a request waits for a die that could take it.
    BusPick next(std::uint32_t tried, bool could_start) const {
        const BusChoice may{could_start && work_.commands != 0 && (tried & bit(BusTurn::commands)) == 0,
                            work_.data != nullptr,
                            could_start && work_.programs != 0 && (tried & bit(BusTurn::programs)) == 0};
        return may.commands || may.data_out || may.programs ? order_.next(work_, may) : BusPick{};
    }
    /// The classes to ask the scheduler for at a turn that it decides.
    static ClassSet classes(BusTurn turn) {
        return turn == BusTurn::commands ? kAllClasses & ~kProgramClasses : kProgramClasses;
    }

    /// A transaction has come into the scheduler.
    void queued(FlashOp op) { ++(op == FlashOp::program ? work_.programs : work_.commands); }
    /// `count` transactions, joined in one operation, have the bus.
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
    /// The picked data have the bus. Null: the oldest. Precondition: data_waits().
    FlashTransaction& start_data_out(FlashTransaction* picked) {
        FlashTransaction& oldest = *work_.data;
        work_.passed += work_.programs != 0;
        if (__builtin_expect(picked != nullptr && picked != &oldest, 0)) return take_from_behind(*picked);
        work_.data = oldest.next;
        return oldest;
    }

    bool data_waits() const { return work_.data != nullptr; }
    std::uint32_t commands() const { return work_.commands; }
    std::uint32_t programs() const { return work_.programs; }

private:
    __attribute__((noinline)) FlashTransaction& take_from_behind(FlashTransaction& picked) {
        FlashTransaction* before = work_.data;
        while (before->next != &picked) {
            before = before->next;
            SSDTLM_CHECK(before != nullptr, "the order on the bus picked data that does not wait for it");
        }
        before->next = picked.next;
        if (data_tail_ == &picked) data_tail_ = before;
        return picked;
    }

    BusWork work_;
    FlashTransaction* data_tail_ = nullptr;
    const BusOrder& order_;
};

}  // namespace ssdtlm
