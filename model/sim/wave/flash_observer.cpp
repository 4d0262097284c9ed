// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/flash_observer.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {

FlashObserver::FlashObserver(const NandConfig& nand, const EccConfig& ecc)
    : geometry_(nand.geometry),
      ecc_(ecc),
      cache_program_(nand.cache_program),
      busy_delay_(OnfiBusTiming(nand).busy_delay()),
      dies_(nand.geometry.dies()) {}

void FlashObserver::submit(const FlashTransaction& txn, std::uint64_t number, SimTime now) {
    FlashWork work;
    work.number = number;
    work.owner = txn.owner;
    work.cls = txn.cls;
    work.cause = txn.cause;
    work.op = txn.op;
    work.plane = static_cast<std::uint8_t>(geometry_.plane_in_die(txn.address.plane));
    work.block = txn.address.block;
    work.page = txn.op == FlashOp::erase ? 0 : txn.address.page;
    work.submitted = now;
    dies_[idx(txn.die)].waiting.push_back(work);
    for (FlashListener* l : listeners_)
        l->submitted(geometry_.channel_of(txn.die), geometry_.die_in_channel(txn.die), work, now);
}

/// Takes the oldest waiting transaction for that page. Two reads of one page may differ only in their class, when host
/// and garbage collection read it at one time. Then the two may be exchanged.
FlashWork FlashObserver::take(Die& die, FlashOp op, const OnfiTarget& target) {
    const auto found = std::find_if(die.waiting.begin(), die.waiting.end(), [&](const FlashWork& w) {
        return w.op == op && w.plane == target.plane && w.block == target.block && w.page == target.page &&
               w.retry == target.retry;
    });
    SSDTLM_CHECK(found != die.waiting.end(), "a sequence is on a bus that nobody submitted");
    const FlashWork work = *found;
    die.waiting.erase(found);
    return work;
}

void FlashObserver::count_passed(BusSequence& s) const {
    for (std::uint32_t d = 0; d < geometry_.dies_per_channel(); ++d)
        for (const FlashWork& w : dies_[s.channel * geometry_.dies_per_channel() + d].waiting) {
            if (w.op == FlashOp::read || w.number > s.work[0].number) continue;
            ++s.passed;
            s.passed_gc += d == s.die && w.cls == FlashClass::gc_write && w.cause == FlashCause::of_class;
        }
}

/// Observes a suspend or a resume.
void FlashObserver::control(std::uint32_t channel, FlashOp op, std::uint32_t die, SimTime from, SimTime to) {
    Die& d = dies_[channel * geometry_.dies_per_channel() + die];
    if (onfi_operation(op).effect == ArrayEffect::resumes) {
        for (std::uint32_t p = 0; p < kMaxPlanes; ++p)
            if ((d.aside >> p & 1u) != 0) d.running[p] = d.set_aside[p];
        d.slow = std::exchange(d.aside, 0);
    } else {
        d.stopping = true;
    }
    std::array<FlashWork, kMaxPlanes> work{};
    BusSequence s;
    s.channel = channel;
    s.die = die;
    s.op = op;
    s.planes = d.slow;
    s.work = work.data();
    for (std::uint32_t p = 0; p < kMaxPlanes; ++p)
        if ((d.slow >> p & 1u) != 0) work[s.count++] = d.running[p];
    s.cls = work[0].cls;
    s.cause = work[0].cause;
    s.begin = from;
    s.end = to;
    s.busy_from = to + busy_delay_;
    for (FlashListener* l : listeners_) l->control(s);
}

void FlashObserver::begin(std::uint32_t channel, FlashOp op, std::uint32_t die, std::uint32_t count,
                          const OnfiTarget* targets, SimTime from, SimTime to) {
    const ArrayEffect effect = onfi_operation(op).effect;
    if (effect == ArrayEffect::suspends || effect == ArrayEffect::resumes) return control(channel, op, die, from, to);
    Die& d = dies_[channel * geometry_.dies_per_channel() + die];
    std::array<FlashWork, kMaxPlanes> work{};
    BusSequence s;
    s.channel = channel;
    s.die = die;
    s.op = op;
    s.count = count;
    s.work = work.data();
    s.data_bytes = targets[0].data_bytes;
    s.spare_only = targets[0].spare_only;
    s.begin = from;
    s.end = to;
    s.busy_from = to + busy_delay_;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t plane = targets[i].plane;
        s.planes |= 1u << plane;
        if (op != FlashOp::read_out) d.running[plane] = take(d, op, targets[i]);
        work[i] = d.running[plane];
    }
    s.cls = work[0].cls;
    s.cause = work[0].cause;
    if (cache_program_ && op == FlashOp::program) {
        begun_work_ = work;
        begun_ = s;
        begun_.work = begun_work_.data();
        return;
    }
    if (op == FlashOp::program || op == FlashOp::erase) d.slow = s.planes;
    if (op == FlashOp::read) count_passed(s);
    for (FlashListener* l : listeners_) l->sequence(s);
}

void FlashObserver::accepted(std::uint32_t channel, std::uint32_t die, BusSequence::Cached times) {
    Die& d = dies_[channel * geometry_.dies_per_channel() + die];
    times.array_from = std::max(times.array_from, begun_.busy_from);
    times.before = std::exchange(d.slow, begun_.planes);
    times.before_to = std::exchange(d.array_to, times.array_to);
    d.passed_on += times.before != 0;
    begun_.cached = &times;
    for (FlashListener* l : listeners_) l->sequence(begun_);
    begun_.cached = nullptr;
}

void FlashObserver::end(std::uint32_t channel, FlashOp op, std::uint32_t die, std::uint32_t count,
                        const OnfiTarget* targets, SimTime now) {
    Die& d = dies_[channel * geometry_.dies_per_channel() + die];
    const ArrayEffect effect = onfi_operation(op).effect;
    if (effect == ArrayEffect::resumes) return;
    if (effect == ArrayEffect::suspends) {
        if (!std::exchange(d.stopping, false))
            return;  // the operation ended before the array could stop, and another one may run by now
        d.set_aside = d.running;
        d.aside = std::exchange(d.slow, 0);
        for (FlashListener* l : listeners_) l->suspended(channel, die, d.aside, now);
        return;
    }
    if (op == FlashOp::program && d.passed_on != 0) {
        --d.passed_on;
        return;
    }
    std::uint32_t planes = 0;
    for (std::uint32_t i = 0; i < count; ++i) planes |= 1u << targets[i].plane;
    if (op == FlashOp::program || op == FlashOp::erase) {
        d.slow = 0;
        d.stopping = false;
    }
    for (FlashListener* l : listeners_) {
        if (op == FlashOp::read_out)
            l->data_done(channel, die, targets[0].plane, now);
        else
            l->array_done(channel, die, planes, now);
    }
    if (op != FlashOp::read_out || ecc_.corrects(targets[0].status.bits) || ecc_.gives_up(targets[0].retry)) return;
    FlashWork again = d.running[targets[0].plane];
    again.submitted = now;
    ++again.retry;
    d.waiting.push_back(again);
    for (FlashListener* l : listeners_) l->submitted(channel, die, again, now);
}

void FlashObserver::power_lost(SimTime now) {
    dies_.assign(dies_.size(), Die{});
    for (FlashListener* l : listeners_) l->power_lost(now);
}

}  // namespace ssdtlm
