// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/suspender.h"

#include <algorithm>

namespace ssdtlm {

/// Leaves out dies whose policy puts other requests first: the suspended operation continues there.
Suspender::Question Suspender::reads_beside(SimTime now) {
    std::uint64_t wanted = 0;
    for (std::uint32_t die = 0; die < dies(); ++die) wanted |= std::uint64_t{wants_reads(die, now)} << die;
    Question question{dies_.beside(wanted, kUrgent)};
    question.query.now = now;
    std::uint64_t idle = question.query.idle_dies;
    for (const std::uint64_t plane : question.query.idle_read_planes) idle |= plane;
    question.any = idle != 0;
    return question;
}

void Suspender::give_up(const GrantQuery& refused) {
    for (std::uint32_t die = 0; die < dies(); ++die)
        if ((refused.idle_dies >> die & 1u) != 0) SuspendControl::give_up(die);
}

OnfiPayload* Suspender::next(SimTime now, SimTime& again_at) {
    again_at = kNever;
    for (std::uint32_t die = 0; die < dies(); ++die) {
        if (may_go_on(die, now)) {
            if (dies_.anything_runs(die)) continue;
            return &resume(die, now);
        }
        const SimTime at = stop_at(die, now);
        if (at <= now) return &suspend(die, now);
        again_at = std::min(again_at, at);
    }
    return nullptr;
}

OnfiPayload& Suspender::suspend(std::uint32_t die, SimTime now) {
    const FlashTransaction& first = *work(die)[0];
    OnfiPayload& payload = sequences_.control(
        first.op == FlashOp::erase ? FlashOp::erase_suspend : FlashOp::program_suspend, die, first, now);
    dies_.set_register_free(die, false);
    stopping(die, payload.onfi.bus_end + sequences_.busy_delay());
    return payload;
}

OnfiPayload& Suspender::resume(std::uint32_t die, SimTime now) {
    FlashTransaction* const* const txns = work(die);
    OnfiPayload& payload = sequences_.control(
        txns[0]->op == FlashOp::erase ? FlashOp::erase_resume : FlashOp::program_resume, die, *txns[0], now);
    goes_on(die, payload.onfi.bus_end + sequences_.busy_delay());
    dies_.take_back(die, txns, count(die));
    waits_.take_back(txns, count(die), die, now, sequences_.bus_free_at());
    return payload;
}

bool Suspender::stopped(const OnfiExtension& onfi, SimTime now) {
    if (!SuspendControl::stopped(onfi.die, now)) return false;
    waits_.set_aside(work(onfi.die), count(onfi.die), onfi.die, now);
    dies_.set_aside(onfi.die);
    return true;
}

}  // namespace ssdtlm
