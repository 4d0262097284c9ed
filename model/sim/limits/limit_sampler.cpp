// SPDX-License-Identifier: Apache-2.0
#include "sim/limits/limit_sampler.h"

#include <algorithm>
#include <cmath>

#include "controller/scheduler/clocked/clocked_scheduler.h"

namespace ssdtlm {

namespace {
double& of(WaitShares& shares, WaitKind kind) {
    return shares[static_cast<std::size_t>(kind)];
}
double part(std::uint32_t some, std::uint32_t all) {
    return all == 0 ? 0.0 : static_cast<double>(some) / all;
}
}  // namespace

void LimitSampler::start() {
    looking_ = true;
    look_again();
}

void LimitSampler::stop() {
    if (looking_) system_.agenda.cancel(next_);
    looking_ = false;
}

void LimitSampler::look_again() {
    const Ps until =
        interval_ / 2 + Ps{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(interval_.count())))};
    next_ = system_.agenda.post_cancellable(system_.agenda.now() + until, Then::to<&LimitSampler::look>(this));
}

void LimitSampler::look() {
    if (!system_.host.driver.taking()) {
        looking_ = false;
        all_taken_ = system_.busy();
        return;
    }
    WaitShares now{};
    host(now);
    const SsdController& c = system_.device.controller;
    if (system_.host.driver.powered() && !c.looks_for_map() && c.firmware) device(now);
    if (looks_.size() == kMost) {
        for (std::size_t i = 0; i < kMost / 2; ++i) looks_[i] = looks_[2 * i + 1];
        looks_.resize(kMost / 2);
        interval_ *= 2;
    }
    std::array<float, kWaitKinds>& kept = looks_.emplace_back();
    std::transform(now.begin(), now.end(), kept.begin(), [](double share) { return static_cast<float>(share); });
    look_again();
}

WaitShares LimitSampler::shares() const {
    WaitShares sum{};
    for (const auto& look : looks_)
        for (std::size_t k = 0; k < kWaitKinds; ++k) sum[k] += look[k] / static_cast<double>(looks_.size());
    return sum;
}

void LimitSampler::host(WaitShares& now) const {
    const IoPath& io = system_.host.driver.io();
    const FrontEnd& drive = *system_.device.controller.front_end;
    std::uint32_t busy = 0, slots = 0, windows = 0, flushes = 0;
    double slots_filled = 0, windows_filled = 0;
    const double most = system_.host.driver.drive().queue_entries - 1;
    for (std::uint32_t i = 0; i < io.pairs(); ++i) {
        const IoPath::PairState pair = io.pair_state(i);
        if (pair.outstanding == 0 && !pair.waits_for_slot) continue;
        ++busy;
        slots += pair.waits_for_slot;
        flushes += io.only_flushes(i);
        windows += drive.holds_back(static_cast<std::uint16_t>(i + 1));
        slots_filled += pair.outstanding / most;
        windows_filled += drive.window_filled(static_cast<std::uint16_t>(i + 1));
    }
    of(now, WaitKind::queue_slots) = part(slots, busy);
    of(now, WaitKind::fetch_window) = part(windows, busy);
    of(now, WaitKind::own_flush) = part(flushes, busy);
    of(now, WaitKind::slots_filled) = busy == 0 ? 0.0 : slots_filled / busy;
    of(now, WaitKind::window_filled) = busy == 0 ? 0.0 : windows_filled / busy;
    of(now, WaitKind::fetch_depth) = drive.fetches_wait();
    if (const BlockLayer* const block = system_.host.driver.block()) {
        of(now, WaitKind::block_depth) = block->waits_for_depth();
        of(now, WaitKind::virtual_room) = block->waits_for_virtual_room();
        of(now, WaitKind::io_scheduler) = block->scheduler_waits();
        if (block->scheduler_waits()) {
            const BlockLayer::Holder holder = block->holder();
            of(now, WaitKind::held_by_aggre) = holder == BlockLayer::Holder::aggre;
            of(now, WaitKind::held_by_seq) = holder == BlockLayer::Holder::seq;
            of(now, WaitKind::held_empty) = block->in_drive() == 0;
        }
    }
    of(now, WaitKind::own_time) = system_.host.driver.waits_for_time();
}

double LimitSampler::die_work() const {
    const FlashBackend& flash = system_.device.controller.backend;
    const std::uint32_t dies = system_.config.nand.geometry.dies();
    std::uint32_t with_work = 0;
    for (std::uint32_t d = 0; d < dies; ++d) with_work += flash.running(DieId{d}) + flash.waiting(DieId{d}) != 0;
    return part(with_work, dies);
}

// If planes read independently, a waiting read is for any of them with equal probability. So w waiting reads need a
// share 1 - (1 - 1/p)^w of the idle planes on average.
double LimitSampler::flash_work() const {
    const NandConfig& nand = system_.config.nand;
    if (!nand.independent_plane_read) return die_work();
    const FlashBackend& flash = system_.device.controller.backend;
    const double planes = nand.geometry.planes_per_die;
    double sum = 0;
    for (std::uint32_t d = 0; d < nand.geometry.dies(); ++d) {
        const std::uint32_t running = flash.running(DieId{d}), waiting = flash.waiting(DieId{d});
        sum += (running + (planes - running) * (1 - std::pow(1 - 1 / planes, waiting))) / planes;
    }
    return sum / nand.geometry.dies();
}

void LimitSampler::device(WaitShares& now) const {
    const SsdController& c = system_.device.controller;
    const Firmware& firmware = *c.firmware;
    of(now, WaitKind::read_tags) = system_.link.dma().waits_for_tag() || c.front_end->transfers_wait();
    of(now, WaitKind::tags_idle) =
        of(now, WaitKind::read_tags) != 0 && system_.link.downstream().is_idle(system_.agenda.now());
    of(now, WaitKind::buffer_room) = firmware.wait_queues().anybody_for_room();
    // While the buffer has room, and no command waits for the flash, nothing that holds programs back holds the host.
    const bool awaited = firmware.anybody_waits_for_programs();
    of(now, WaitKind::flush_depth) = awaited ? firmware.destage().choice().held_back() : 0.0;
    of(now, WaitKind::map_dirty) =
        awaited && firmware.dirty_limit() != nullptr && firmware.dirty_limit()->anybody_waits();
    if (awaited && firmware.destage().without_page() != 0) {
        const GcEngine::Held gc = firmware.gc().held();
        of(now, WaitKind::free_blocks) = 1;
        of(now, WaitKind::gc_depth) = part(gc.by_depth, gc.collected);
        of(now, WaitKind::gc_pace) = part(gc.by_pace, gc.collected);
    }
    of(now, WaitKind::flash_work) = flash_work();
    of(now, WaitKind::die_work) = die_work();
    if (const auto* const clocked = dynamic_cast<const ClockedScheduler*>(&c.backend.scheduler())) {
        std::uint32_t deciding = 0;
        const std::uint32_t channels = system_.config.nand.geometry.channels;
        for (std::uint32_t ch = 0; ch < channels; ++ch) deciding += clocked->deciding(static_cast<std::uint16_t>(ch));
        of(now, WaitKind::scheduler) = part(deciding, channels);
    }
}

}  // namespace ssdtlm
