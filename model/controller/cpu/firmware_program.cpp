// SPDX-License-Identifier: Apache-2.0
// From dirty units to programmed pages: forming page-sized programs, taking flash pages, handling completions,
// waking those who waited for durability.
#include <algorithm>
#include <array>

#include "controller/cpu/firmware.h"

namespace ssdtlm {

void Firmware::pump() {
    if (pumping_) return;
    pumping_ = true;
    while (programs_ < program_limit_ && form_program()) {
    }
    pumping_ = false;
}

// A full page is formed when the buffer is past its threshold or someone waits; a page in part only for a unit that
// must become durable, or when a command waits for space and nothing under way will give it any.
bool Firmware::form_program() {
    const std::uint32_t queued = buffer_.queued();
    if (queued == 0) return false;
    if (!buffer_.demanded()) {
        if (queued < units_per_page_) {
            if (space_waiters_.empty() || programs_ != 0 || fetching_ != 0) return false;
        } else if (buffer_.dirty() <= flush_threshold_ && space_waiters_.empty()) {
            return false;
        }
    }
    FlashJob& job = jobs_.acquire(FlashJob::Kind::host_program, agenda_.now());
    job.units = static_cast<std::uint8_t>(std::min(queued, units_per_page_));
    for (std::uint32_t i = 0; i < job.units; ++i) {
        job.item[i] = buffer_.pop_dirty();
        ftl_.prefetch(buffer_.entry(job.item[i]).lpa);
    }
    ++programs_;
    job.formed = agenda_.now();
    const auto slot = cores_.run(core_of(programs_formed_++),
                                 config_.flash_issue + std::uint64_t{config_.map_update} * job.units, agenda_.now(),
                                 CoreStep::program_issue);
    job.core_start = slot.start;
    job.core_end = slot.end;
    if (slot.end == agenda_.now())
        issue_program(job.index);
    else
        agenda_.post<&Firmware::issue_program>(slot.end, this, job.index);
    return true;
}

void Firmware::issue_program(std::uint64_t index) {
    FlashJob& job = jobs_.at(static_cast<std::uint32_t>(index));
    if (!stalled_.empty() || !place(job)) stalled_.push_back(&job);
}

// The page is taken only when the program goes to the scheduler, so programs of a block arrive in page order.
bool Firmware::place(FlashJob& job) {
    const bool live = std::any_of(job.item.begin(), job.item.begin() + job.units,
                                  [this](std::uint32_t i) { return !buffer_.entry(i).dropped; });
    if (!live) {  // all deallocated meanwhile
        discarded_before_map_ += job.units;
        job.txn.timeline.begin(agenda_.now());
        finish_units(job);
        return true;
    }
    for (std::uint32_t i = 0; i < job.units; ++i) ftl_.prefetch_old_place(buffer_.entry(job.item[i]).lpa);
    PageAddress a;
    if (!ftl_.allocate_host_page(a)) {
        gc_.check_all();
        return false;
    }
    job.txn.op = FlashOp::program;
    job.txn.cls = FlashClass::host_write;
    job.txn.address = a;
    job.txn.die = geometry_.die_of(a.plane);
    job.txn.data_bytes = geometry_.page_bytes;
    job.txn.client = this;
    job.txn.cookie = handle_of(job);
    job.txn.spare.fill(kPadding);
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const WriteBuffer::Entry& e = buffer_.entry(job.item[i]);
        if (e.dropped) {
            ++discarded_before_map_;
            continue;
        }
        ftl_.map_unit(e.lpa, geometry_.ppa_of(a, i));
        job.txn.spare[i] = codec_.make(e.lpa, e.version);
        ++host_units_mapped_;
    }
    dram_.access(agenda_.now(), job.units * std::uint64_t{geometry_.unit_bytes});  // data leaves the DRAM for the channel
    flash_.submit(job.txn);
    gc_.check(a.plane);
    return true;
}

void Firmware::retry_stalled() {
    while (!stalled_.empty()) {
        FlashJob* job = stalled_.front();
        stalled_.pop_front();
        if (!place(*job)) {
            stalled_.push_front(job);
            return;
        }
    }
}

void Firmware::program_done(std::uint64_t index) {
    FlashJob& job = jobs_.at(static_cast<std::uint32_t>(index));
    ftl_.host_page_programmed(job.txn.address);
    gc_.check(job.txn.address.plane);  // its block may have become a candidate
    finish_units(job);
}

void Firmware::finish_units(FlashJob& job) {
    waiters_.clear();
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const std::uint32_t waiter = buffer_.programmed(job.item[i]);
        if (waiter != WriteBuffer::kNoWaiter) waiters_.push_back(waiter);
    }
    --programs_;
    release_waiters(&job);
    check_flushes(&job);
    jobs_.release(job);
    space_freed();
    pump();
}

void Firmware::check_flushes(const FlashJob* last) {
    while (!flushes_.empty()) {
        CommandState& s = states_[flushes_.front()];
        if (!buffer_.flush_done(s.flush_generation)) return;
        flushes_.pop_front();
        if (last != nullptr)
            charge_path(*s.command->timeline, *last);
        else
            s.command->timeline->charge(Stage::buffer, agenda_.now());
        complete(*s.command);
    }
}

// Charges a command that waited for this program, from the command's last mark to now. Where the command began to
// wait in the middle of the program's flash part, that part is taken from its end: the array time last, before it
// the bus, before it the waits.
void Firmware::charge_path(Timeline& t, const FlashJob& job) const {
    const auto mark = [&t](Stage s, SimTime until) {
        if (until > t.last()) t.charge(s, until);
    };
    const Timeline& flash = job.txn.timeline;
    mark(Stage::buffer, job.formed);
    mark(Stage::firmware_wait, std::min(job.core_start, flash.start()));
    mark(Stage::firmware, std::min(job.core_end, flash.start()));
    mark(Stage::buffer, flash.start());
    if (t.last() == flash.start()) {
        t.append(flash);
    } else if (t.last() < flash.last()) {
        static constexpr std::array<Stage, 9> kBackwards = {
            Stage::array,          Stage::channel,     Stage::scheduler,          Stage::channel_wait, Stage::die_wait_host_write,
            Stage::die_wait_gc, Stage::die_wait_host_read, Stage::die_wait_erase, Stage::die_wait_mapping};
        Ps left = flash.last() - t.last();
        for (const Stage s : kBackwards) {
            const Ps part = std::min(left, flash.of(s));
            t.charge(s, t.last() + part);
            left -= part;
        }
        SSDTLM_CHECK(left == Ps{0}, "flash program has stages that a waiting command cannot be charged with");
    }
    mark(Stage::firmware_wait, job.done_start);
    mark(Stage::firmware, agenda_.now());
}

}  // namespace ssdtlm
