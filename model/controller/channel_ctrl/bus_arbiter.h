// SPDX-License-Identifier: Apache-2.0
// Whose turn it is on a free bus: short commands (reads, erases) of idle dies first, so that their array time overlaps
// what follows; then data out of finished reads, oldest first; then programs, with their long data in. Programs that were
// passed kProgramTurns times go first. Kernel-free.
#pragma once

#include <cstdint>

#include "controller/ports/scheduler_port.h"

namespace ssdtlm {

constexpr std::uint8_t class_bit(FlashClass c) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(c)); }
inline constexpr std::uint8_t kProgramClasses =
    class_bit(FlashClass::host_write) | class_bit(FlashClass::mapping_write) | class_bit(FlashClass::gc_write);

class BusArbiter {
public:
    /// Bus turns (reads' commands and data-outs) that may pass a waiting program. Assumed: keeps a die's wait for its
    /// data below some tens of page transfers.
    static constexpr std::uint32_t kProgramTurns = 32;

    /// In order of precedence.
    enum class Turn : std::uint8_t { due_programs, shorts, data_out, programs, none };

    /// The first turn from `from` on that has work. `could_start`: something waits for a die that could take it.
    Turn next(Turn from, bool could_start) const {
        const bool programs = could_start && programs_ != 0;
        if (from <= Turn::due_programs && programs && passed_ >= kProgramTurns) return Turn::due_programs;
        if (from <= Turn::shorts && could_start && shorts_ != 0) return Turn::shorts;
        if (from <= Turn::data_out && data_head_ != nullptr) return Turn::data_out;
        return from <= Turn::programs && programs ? Turn::programs : Turn::none;
    }
    static Turn after(Turn turn) { return static_cast<Turn>(static_cast<std::uint8_t>(turn) + 1); }
    /// What the scheduler is asked for at a turn that it decides.
    static std::uint8_t classes(Turn turn) {
        return turn == Turn::shorts ? kAllClasses & ~kProgramClasses : kProgramClasses;
    }

    /// A transaction is in the scheduler.
    void queued(FlashOp op) { ++(op == FlashOp::program ? programs_ : shorts_); }
    /// `count` of them, joined in one operation, have the bus.
    void started(FlashOp op, std::uint32_t count) {
        if (op == FlashOp::program) {
            programs_ -= count;
            passed_ = 0;
        } else {
            shorts_ -= count;
            passed_ += programs_ != 0;
        }
    }
    /// A read's page is in its register.
    void data_ready(FlashTransaction& txn) {
        txn.next = nullptr;
        (data_head_ == nullptr ? data_head_ : data_tail_->next) = &txn;
        data_tail_ = &txn;
    }
    /// The oldest has the bus. Precondition: data_waits().
    FlashTransaction& start_data_out() {
        FlashTransaction& txn = *data_head_;
        data_head_ = txn.next;
        passed_ += programs_ != 0;
        return txn;
    }

    bool data_waits() const { return data_head_ != nullptr; }
    std::uint32_t shorts() const { return shorts_; }
    std::uint32_t programs() const { return programs_; }

private:
    FlashTransaction* data_head_ = nullptr;  // finished reads, oldest first
    FlashTransaction* data_tail_ = nullptr;
    std::uint32_t shorts_ = 0;    // reads and erases in the scheduler
    std::uint32_t programs_ = 0;
    std::uint32_t passed_ = 0;    // turns that went past waiting programs
};

}  // namespace ssdtlm
