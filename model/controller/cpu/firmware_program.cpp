// SPDX-License-Identifier: Apache-2.0
// From dirty units to programmed pages: forming programs of a row of pages, taking flash pages, handling completions,
// waking those who waited for durability.
#include <algorithm>
#include <array>

#include "controller/cpu/firmware.h"

namespace ssdtlm {

void Firmware::pump() {
    if (pumping_) return;
    pumping_ = true;
    while (programs_ + row_pages_ <= program_limit_ && form_programs()) {
    }
    pumping_ = false;
}

// A full row (a page of each plane of a group) is formed when the buffer is past its threshold or someone waits; less than
// a row only for a unit that must become durable, or when a command waits for space and nothing under way will give it
// any.
bool Firmware::form_programs() {
    const std::uint32_t queued = buffer_.queued(), full = row_pages_ * units_per_page_;
    if (queued == 0) return false;
    if (!buffer_.demanded()) {
        if (queued < full) {
            if (space_waiters_.empty() || programs_ != 0 || fetching_ != 0) return false;
        } else if (buffer_.dirty() <= flush_threshold_ && space_waiters_.empty()) {
            return false;
        }
    }
    FlashJob *first = nullptr, *last = nullptr;
    std::uint32_t left = std::min(queued, full), pages = 0;
    const std::uint32_t units = left;
    for (; left != 0; ++pages) {
        FlashJob& job = jobs_.acquire(FlashJob::Kind::host_program, agenda_.now());
        job.next = nullptr;
        job.units = static_cast<std::uint8_t>(std::min(left, units_per_page_));
        for (std::uint32_t i = 0; i < job.units; ++i) {
            job.item[i] = buffer_.pop_dirty();
            ftl_.prefetch(buffer_.entry(job.item[i]).lpa);
        }
        left -= job.units;
        job.formed = agenda_.now();
        (first == nullptr ? first : last->next) = &job;
        last = &job;
    }
    programs_ += pages;
    ++issuing_;
    const auto slot = cores_.run(core_of(programs_formed_++),
                                 std::uint64_t{config_.flash_issue} * pages + std::uint64_t{config_.map_update} * units,
                                 agenda_.now(), CoreStep::program_issue);
    for (FlashJob* job = first; job != nullptr; job = job->next) {
        job->core_start = slot.start;
        job->core_end = slot.end;
    }
    if (slot.end == agenda_.now())
        issue_programs(first->index);
    else
        agenda_.post<&Firmware::issue_programs>(slot.end, this, first->index);
    return true;
}

void Firmware::issue_programs(std::uint64_t index) {
    --issuing_;
    FlashJob* left = &jobs_.at(static_cast<std::uint32_t>(index));
    if (stalled_.empty()) left = place(left);
    if (left != nullptr) stalled_.push_back(left);
}

bool Firmware::is_dead(const FlashJob& job) const {
    return std::none_of(job.item.begin(), job.item.begin() + job.units,
                        [this](std::uint32_t i) { return !buffer_.entry(i).dropped; });
}

// Pages are taken only when the programs go to the scheduler, so programs of a block arrive in page order. Returns what
// found no page, null when all did.
FlashJob* Firmware::place(FlashJob* jobs) {
    bool left_over = false;
    while (jobs != nullptr) {
        std::uint32_t wanted = 0;
        FlashJob* job = jobs;
        for (; job != nullptr && !is_dead(*job); job = job->next) {
            ++wanted;
            for (std::uint32_t i = 0; i < job->units; ++i) ftl_.prefetch_old_place(buffer_.entry(job->item[i]).lpa);
        }
        if (wanted == 0) {  // all its units were deallocated meanwhile
            FlashJob& dead = *jobs;
            jobs = dead.next;
            discarded_before_map_ += dead.units;
            dead.txn.timeline.begin(agenda_.now());
            finish_units(dead);
            continue;
        }
        const std::uint32_t pages = ftl_.allocate_host_pages(wanted, row_.data(), left_over);
        if (pages == 0) {
            gc_.check_all();
            return jobs;
        }
        left_over = true;
        const PlaneId plane = row_.front().plane;
        for (std::uint32_t p = 0; p < pages; ++p) {
            FlashJob& placed = *jobs;
            jobs = placed.next;  // the scheduler's from here on
            submit_program(placed, row_[p]);
        }
        if (collecting_) {
            gc_.check(plane);
        } else {  // preconditioning may have left any group at its threshold
            collecting_ = true;
            gc_.check_all();
        }
    }
    return nullptr;
}

void Firmware::submit_program(FlashJob& job, const PageAddress& a) {
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
}

void Firmware::retry_stalled() {
    while (!stalled_.empty()) {
        FlashJob* const jobs = stalled_.front();
        stalled_.pop_front();
        FlashJob* const left = place(jobs);
        if (left == nullptr) continue;
        stalled_.push_front(left);
        return;
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
