// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/suspend_control.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

SuspendControl::SuspendControl(const SuspendPolicy& policy, const NandConfig& nand)
    : policy_(policy),
      t_program_(nand.t_program),
      t_erase_(nand.t_erase),
      t_program_resume_(nand.t_program_resume),
      t_erase_resume_(nand.t_erase_resume),
      slc_(nand.slc),
      dies_(nand.geometry.dies_per_channel()) {}

Ps SuspendControl::usual_time(const FlashTransaction& txn) const {
    if (txn.slc) return txn.op == FlashOp::erase ? slc_.t_erase : slc_.t_program;
    return txn.op == FlashOp::erase ? t_erase_ : t_program_[txn.address.page % t_program_.size()];
}

void SuspendControl::started(std::uint32_t die, FlashTransaction* const* txns, std::uint32_t count, SimTime begin) {
    Die& d = dies_[die];
    d.state = State::runs;
    d.given_up = false;
    d.count = count;
    Ps longest{};
    for (std::uint32_t i = 0; i < count; ++i) {
        d.txns[i] = txns[i];
        longest = std::max(longest, usual_time(*txns[i]));
    }
    d.work = {txns[0]->op, txns[0]->cls, txns[0]->whose, begin, begin + longest, 0};
}

SimTime SuspendControl::stop_at(std::uint32_t die, SimTime now) const {
    const Die& d = dies_[die];
    if (d.state != State::runs || d.reads_wait == 0 || d.given_up) return kNever;
    return policy_.when(d.work, now);
}

void SuspendControl::stopping(std::uint32_t die, SimTime at) {
    Die& d = dies_[die];
    SSDTLM_CHECK(d.state == State::runs, "suspend of a die at which nothing works");
    d.state = State::stopping;
    d.left = std::max(d.work.ends - at, Ps{0});
    ++d.work.suspends;
}

bool SuspendControl::stopped(std::uint32_t die, SimTime now) {
    Die& d = dies_[die];
    if (d.state != State::stopping) return false;
    d.state = State::suspended;
    d.until = now + policy_.longest(d.work);
    return true;
}

void SuspendControl::goes_on(std::uint32_t die, SimTime begin) {
    Die& d = dies_[die];
    SSDTLM_CHECK(d.state == State::suspended, "resume of a die that is not suspended");
    d.state = State::runs;
    d.work.begun = begin;
    d.work.ends = begin + (d.work.op == FlashOp::erase ? t_erase_resume_ : t_program_resume_) + d.left;
}

}  // namespace ssdtlm
