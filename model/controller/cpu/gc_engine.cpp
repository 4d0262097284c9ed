// SPDX-License-Identifier: Apache-2.0
#include "controller/cpu/gc_engine.h"

#include <algorithm>
#include <utility>

namespace ssdtlm {

GcEngine::GcEngine(Agenda& agenda, const FirmwareConfig& firmware, const FtlConfig& config, const NandGeometry& geometry,
                   CorePool& cores, Ftl& ftl, FlashPort& flash, FlashJobPool& jobs)
    : agenda_(agenda),
      firmware_(firmware),
      config_(config),
      geometry_(geometry),
      cores_(cores),
      ftl_(ftl),
      flash_(flash),
      jobs_(jobs),
      codec_(ftl.logical_units()),
      planes_(geometry.planes()) {}

void GcEngine::check(PlaneId plane) {
    Plane& p = planes_[idx(plane)];
    if (p.victim != kNoBlock || stopped_ || !ftl_.gc_soft(plane)) return;
    p.victim = ftl_.select_victim(plane);
    if (p.victim == kNoBlock) return;  // every sealed block is full of valid data: nothing to gain
    ++active_;
    ++victims_;
    last_victim_ = p.victim;
    p.cursor = 0;
    p.inflight = p.reads = 0;
    p.exhausted = p.erase_waits = false;
    step<&GcEngine::begin>(plane, firmware_.gc_victim, idx(plane), CoreStep::gc_victim);
}

void GcEngine::begin(std::uint64_t plane) { pump(PlaneId{static_cast<std::uint32_t>(plane)}); }

void GcEngine::prepare(FlashJob& job, FlashOp op, FlashClass cls, PageAddress address) {
    job.txn.op = op;
    job.txn.cls = cls;
    job.txn.address = address;
    job.txn.die = geometry_.die_of(address.plane);
    job.txn.client = this;
    job.txn.cookie = handle_of(job);
}

void GcEngine::pump(PlaneId plane) {
    Plane& p = planes_[idx(plane)];
    while (!p.exhausted && p.inflight < config_.gc_max_inflight_pages) {
        std::uint32_t mask = 0;
        if (!ftl_.next_valid_page(p.victim, p.cursor, mask)) {
            p.exhausted = true;
            break;
        }
        FlashJob& job = jobs_.acquire(FlashJob::Kind::gc_read, agenda_.now());
        prepare(job, FlashOp::read, FlashClass::gc_read,
                PageAddress{plane, geometry_.block_in_plane(p.victim), p.cursor});
        ++p.cursor;
        job.units = 0;
        for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s)
            if ((mask >> s) & 1u) job.slot[job.units++] = static_cast<std::uint8_t>(s);
        job.txn.data_bytes = job.units * geometry_.unit_bytes;
        ++p.inflight;
        ++p.reads;
        step<&GcEngine::issue>(plane, firmware_.flash_issue, job.index, CoreStep::gc_read_issue);
    }
    if (p.exhausted && p.reads == 0) {
        while (!p.moves.empty()) form_program(plane);
        if (p.inflight == 0) try_erase(plane);
    }
}

void GcEngine::issue(std::uint64_t index) {
    FlashJob& job = jobs_.at(static_cast<std::uint32_t>(index));
    if (job.kind == FlashJob::Kind::gc_program) {
        // The page is taken only now: programs of a block reach the die in page order whatever the cores do.
        const PageAddress a = ftl_.allocate_gc_page(job.txn.address.plane);
        prepare(job, FlashOp::program, FlashClass::gc_write, a);
        job.txn.data_bytes = geometry_.page_bytes;
    }
    flash_.submit(job.txn);
}

void GcEngine::flash_done(FlashTransaction& txn) {
    FlashJob& job = job_of(txn.cookie);
    const PlaneId plane = txn.address.plane;
    if (job.kind == FlashJob::Kind::gc_read)
        read_done(job);
    else if (job.kind == FlashJob::Kind::gc_program)
        step<&GcEngine::program_done>(plane, firmware_.flash_complete, job.index, CoreStep::gc_program_done);
    else
        step<&GcEngine::erase_done>(plane, firmware_.flash_complete, job.index, CoreStep::gc_erase_done);
}

void GcEngine::read_done(FlashJob& job) {
    const PlaneId plane = job.txn.address.plane;
    Plane& p = planes_[idx(plane)];
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const Spare spare = job.txn.spare[job.slot[i]];
        const Ppa from = geometry_.ppa_of(job.txn.address, job.slot[i]);
        // The host may have rewritten or deallocated the unit since the page was chosen.
        if (spare != kPadding && spare != kErased && ftl_.lookup(codec_.lpa(spare)) == from)
            p.moves.push_back({spare, from});
    }
    jobs_.release(job);
    --p.inflight;
    --p.reads;
    while (p.moves.size() >= geometry_.units_per_page()) form_program(plane);
    pump(plane);
}

void GcEngine::form_program(PlaneId plane) {
    Plane& p = planes_[idx(plane)];
    FlashJob& job = jobs_.acquire(FlashJob::Kind::gc_program, agenda_.now());
    job.txn.address.plane = plane;
    job.txn.spare.fill(kPadding);
    // Oldest first keeps the victim's order.
    job.units = static_cast<std::uint8_t>(std::min<std::size_t>(geometry_.units_per_page(), p.moves.size()));
    for (std::uint32_t i = 0; i < job.units; ++i) {
        job.txn.spare[i] = p.moves[i].spare;
        job.item[i] = idx(p.moves[i].from);
    }
    p.moves.erase(p.moves.begin(), p.moves.begin() + job.units);
    ++p.inflight;
    step<&GcEngine::issue>(plane, std::uint64_t{firmware_.flash_issue} + std::uint64_t{firmware_.map_update} * job.units,
                           job.index, CoreStep::gc_program_issue);
}

void GcEngine::program_done(std::uint64_t index) {
    FlashJob& job = jobs_.at(static_cast<std::uint32_t>(index));
    const PlaneId plane = job.txn.address.plane;
    for (std::uint32_t i = 0; i < job.units; ++i)
        ftl_.commit_move(codec_.lpa(job.txn.spare[i]), Ppa{job.item[i]}, geometry_.ppa_of(job.txn.address, i));
    ftl_.gc_page_programmed(job.txn.address);
    jobs_.release(job);
    --planes_[idx(plane)].inflight;
    pump(plane);
}

void GcEngine::try_erase(PlaneId plane) {
    Plane& p = planes_[idx(plane)];
    if (!ftl_.erase_allowed(p.victim)) {
        p.erase_waits = true;
        return;
    }
    p.erase_waits = false;
    FlashJob& job = jobs_.acquire(FlashJob::Kind::erase, agenda_.now());
    prepare(job, FlashOp::erase, FlashClass::erase, PageAddress{plane, geometry_.block_in_plane(p.victim), 0});
    job.txn.data_bytes = 0;
    ++p.inflight;
    step<&GcEngine::issue>(plane, firmware_.flash_issue, job.index, CoreStep::gc_erase_issue);
}

void GcEngine::erase_done(std::uint64_t index) {
    FlashJob& job = jobs_.at(static_cast<std::uint32_t>(index));
    const PlaneId plane = job.txn.address.plane;
    jobs_.release(job);
    Plane& p = planes_[idx(plane)];
    ftl_.block_erased(p.victim);
    p.victim = kNoBlock;
    --p.inflight;
    --active_;
    if (block_freed_) block_freed_();
    check(plane);
}

std::string GcEngine::dump() const {
    std::string s = "gc: " + std::to_string(active_) + " planes active\n";
    for (std::size_t i = 0; i < planes_.size(); ++i) {
        const Plane& p = planes_[i];
        if (p.victim == kNoBlock) continue;
        s += "  plane " + std::to_string(i) + ": victim " + std::to_string(idx(p.victim)) + " page " + std::to_string(p.cursor) +
             ", in flight " + std::to_string(p.inflight) + ", waiting moves " + std::to_string(p.moves.size()) +
             (p.erase_waits ? ", erase waits for reads" : "") + "\n";
    }
    return s;
}

}  // namespace ssdtlm
