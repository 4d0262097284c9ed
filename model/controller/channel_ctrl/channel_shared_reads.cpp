// SPDX-License-Identifier: Apache-2.0
// Reads that share an array read (scheduler.merge_reads): each is charged for what it waited for itself. Data go out
// for one after the other, each behind a select of its column, and the die is taken until the last one is out.
#include "controller/channel_ctrl/channel_controller.h"

namespace ssdtlm {

/// Call it for a read that has been submitted. Returns true if the array reads its page already, or has read it.
__attribute__((noinline)) bool ChannelController::share_running(FlashTransaction& txn, std::uint32_t die) {
    const SimTime now = agenda_.now();
    txn.shares_read = false;
    if (txn.spare_only) return false;
    const bool others_wait = dies_.waiting(die) != 0;
    FlashTransaction* const running = dies_.active_or_null(die, txn.plane);
    if (running == nullptr) {
        if (others_wait || !dies_.takes_reads(die, txn.plane) || !shared_->take_register(txn, die)) return false;
        has_shared(txn, die);
        FlashTransaction* const only = &txn;
        dies_.occupy(die, txn);
        waits_.busy(txn, die, now);
        waits_.hold_die(&only, 1, die, now);
        waits_.data_ready(now);
        sequences_.column_changes(die);
        arbiter_.data_ready(txn);
        service();
        return true;
    }
    if (running->op != FlashOp::read || !shared_->join_running(*running, txn, die, others_wait)) return false;
    has_shared(txn, die);
    if (shared_->in_register(die, txn.plane))
        waits_.data_ready(now);
    else if (const SimTime busy_from = running->path->last(); busy_from > now)
        txn.path->charge(Stage::channel, busy_from);
    return true;
}

void ChannelController::has_shared(FlashTransaction& txn, std::uint32_t die) {
    txn.shares_read = true;
    sequences_.count_merged();
    waits_.at_once(txn, die);
    txn.path->begins({txn.number, idx(txn.address.plane), !independent_plane_read_});
}

/// Call it for a read that has to wait. Returns true if it need not be queued.
__attribute__((noinline)) bool ChannelController::share_waiting(FlashTransaction& txn, std::uint32_t die) {
    if (txn.op != FlashOp::read || txn.status.retries != 0 || txn.spare_only) return false;
    return txn.shares_read = shared_->join_waiting(txn, die);
}

/// Each read has waited, and waits for the array now.
__attribute__((noinline)) void ChannelController::start_shared(FlashTransaction& first, std::uint32_t die,
                                                               SimTime busy_from) {
    shared_->started(first, die);
    const SimTime now = agenda_.now();
    for (FlashTransaction* txn = first.joined; txn != nullptr; txn = txn->joined) {
        if (now != txn->queued_at)
            waits_.end(*txn, die, asked_at_, now);
        else
            waits_.at_once(*txn, die);
        txn->path->begins({txn->number, idx(txn->address.plane), !independent_plane_read_});
        txn->path->charge(Stage::channel, busy_from);
        sequences_.count_merged();
    }
}

/// The page is in the register for all of them.
__attribute__((noinline)) void ChannelController::shared_ready(FlashTransaction& first, std::uint32_t die) {
    shared_->loaded(die, first.plane);
    for (FlashTransaction* txn = first.joined; txn != nullptr; txn = txn->joined) {
        txn->path->charge(Stage::array, agenda_.now());
        waits_.data_ready(agenda_.now());
    }
}

/// Returns the read whose data are out. If another read shares its page, that read's data wait for the bus now; else
/// the die is free.
__attribute__((noinline)) FlashTransaction& ChannelController::shared_data_ended(const OnfiExtension& onfi) {
    const std::uint32_t plane = onfi.target[0].plane;
    FlashTransaction& over = dies_.active(onfi.die, plane);
    FlashTransaction* const next = over.joined;
    if (next == nullptr) {
        release(onfi.die, plane);
        // A page that was read beside a suspended operation is lost when that operation continues.
        if (!dies_.takes_reads(onfi.die, plane)) shared_->forget(onfi.die, plane);
        return over;
    }
    over.joined = nullptr;
    dies_.hand_over(onfi.die, *next);
    sequences_.column_changes(onfi.die);
    arbiter_.data_ready(*next);
    return over;
}

}  // namespace ssdtlm
