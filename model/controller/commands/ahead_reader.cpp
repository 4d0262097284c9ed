// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/ahead_reader.h"

#include "common/report/error.h"

namespace ssdtlm {

AheadReader::AheadReader(const CommandServices& services, SpareCodec codec, const ReadAheadConfig& config,
                         std::uint64_t logical_units, const Came& came)
    : services_(services),
      codec_(codec),
      decode_(services.geometry),
      streams_(config, services.extents.unit_bytes, logical_units),
      came_(came),
      jobs_(services.jobs) {
    services_.cache->track_ahead();
}

void AheadReader::want(const Command& c, const SequentialStreams::Range& range) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(wanted_.size()));
        wanted_.emplace_back();
    }
    const std::uint32_t i = free_.back();
    free_.pop_back();
    wanted_[i] = {range, c.whose.without_deadline()};
    const std::uint64_t per_page = services_.geometry.units_per_page(), pages = (range.units + per_page - 1) / per_page;
    services_.cores.run(c.index, services_.costs.map_lookup * range.units + services_.costs.flash_issue * pages,
                        CoreStep::read_issue, Then::to<&AheadReader::look_up>(this, i));
}

void AheadReader::look_up(std::uint64_t i) {
    const Wanted wanted = wanted_[i];
    const auto units = static_cast<std::uint32_t>(wanted.range.units);
    if (places_.size() < units) places_.resize(units);
    const MapExtent extent{Lpa{static_cast<std::uint32_t>(wanted.range.first)}, units, wanted.whose};
    const MapThen then = MapThen::to<&AheadReader::map_answered>(this, i);
    if (services_.map.translate(extent, MapUse::read, places_.data(), then)) then(places_.data());
}

void AheadReader::map_answered(std::uint64_t i, const Ppa* places) {
    const Wanted wanted = wanted_[i];
    free_.push_back(static_cast<std::uint32_t>(i));
    plan(wanted, places);
}

bool AheadReader::is_wanted(Lpa lpa) const {
    return services_.buffer.find(lpa) == WriteBuffer::kNone && services_.cache->find(lpa) == nullptr &&
           !services_.cache->is_filling(lpa);
}

// Neighbours of one page are one read. All are submitted at the same time, so that planes can be joined.
void AheadReader::plan(const Wanted& wanted, const Ppa* places) {
    planned_.clear();
    AheadRead* job = nullptr;
    std::uint32_t page_of_job = 0;
    for (std::uint64_t n = 0; n < wanted.range.units; ++n) {
        const Lpa lpa{static_cast<std::uint32_t>(wanted.range.first + n)};
        const Ppa place = places[n];
        if (!is_place(place) || !is_wanted(lpa)) {
            if (is_place(place))
                services_.map.let_go(services_.geometry.page_of(place).plane, services_.geometry.block_of(place), 1);
            job = nullptr;
            continue;
        }
        const std::uint32_t page = decode_.page_number(place);
        if (job == nullptr || page != page_of_job || job->units == services_.geometry.units_per_page()) {
            job = &start_job(lpa, place, page, wanted.whose);
            page_of_job = page;
            planned_.push_back(job);
        }
        const std::uint32_t unit = job->units++;
        job->slot[unit] = static_cast<std::uint8_t>(decode_.slot_of(place, page));
        job->fill[unit] = services_.cache->begin_ahead(lpa);
        job->txn.data_bytes += services_.extents.unit_bytes;
        bool fresh = false;
        OnItsWay& entry = on_its_way_.insert(idx(lpa), fresh);
        entry.job = job;
        entry.unit = unit;
    }
    for (AheadRead* const ready : planned_) services_.flash.submit(ready->txn);
}

AheadRead& AheadReader::start_job(Lpa lpa, Ppa place, std::uint32_t page, const WorkTag& whose) {
    AheadRead& job = jobs_.acquire();
    set_up(job, FlashOp::read, FlashClass::host_read, decode_.page_of(page), services_.geometry,
           Then::to<&AheadReader::flash_done>(this, job));
    ++under_way_;
    job.first_waiting = job.last_waiting = nullptr;
    job.first_unit = idx(lpa);
    job.units = 0;
    job.wanted = 0;
    job.txn.slc = services_.slc.holds(job.txn.address);
    job.txn.first_byte = static_cast<std::uint32_t>(decode_.slot_of(place, page)) * services_.extents.unit_bytes;
    job.txn.data_bytes = 0;
    job.txn.whose = whose;
    return job;
}

void AheadReader::wait(AheadRead& job, HostRead& part) {
    part.ahead = &job;
    part.waits_behind = nullptr;
    (job.first_waiting == nullptr ? job.first_waiting : job.last_waiting->waits_behind) = &part;
    job.last_waiting = &part;
}

void AheadReader::asked(AheadRead& job, Lpa lpa) {
    const std::uint32_t bit = 1u << (idx(lpa) - job.first_unit);
    if ((job.wanted & bit) == 0) services_.cache->count_ahead_hit();
    job.wanted |= bit;
}

void AheadReader::flash_done(AheadRead& job) {
    const FlashTransaction& txn = job.txn;
    services_.map.let_go(txn.address.plane, services_.geometry.block_of(txn.address), job.units);
    if (__builtin_expect(txn.status.result != FlashResult::ok, 0)) return end(job, false);
    const std::uint64_t unit = services_.extents.unit_bytes, place = services_.dram.place(job.units * unit);
    job.dram_unit = static_cast<std::uint32_t>(place / unit);
    services_.dram.access({place, txn.data_bytes}, Then::to<&AheadReader::dram_done>(this, job));
}

void AheadReader::end(AheadRead& job, bool readable) {
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const Lpa lpa{job.first_unit + i};
        if (OnItsWay* const entry = on_its_way_.find(idx(lpa)); entry != nullptr && entry->job == &job)
            on_its_way_.erase(*entry);
        const bool wanted = (job.wanted >> i & 1u) != 0;
        if (!readable) {
            services_.cache->cancel_ahead(job.fill[i], lpa, wanted);
            continue;
        }
        const std::uint32_t slot = job.slot[i];
        SSDTLM_CHECK(codec_.lpa(job.txn.spare[slot]) == lpa, "a unit that was read ahead is another one");
        services_.cache->end_ahead(job.fill[i],
                                   {lpa, codec_.version(job.txn.spare[slot]), job.dram_unit + i,
                                    job.bytes != nullptr ? job.bytes->page[slot] : UnitBytes{}},
                                   wanted, job.txn.whose.tenant);
    }
    wake(job, readable);
    jobs_.release(job);
    --under_way_;
    // Units that make room may be programmed. A shutdown waits until all work has ended.
    if (services_.buffer.is_wanted() || services_.wait_queues.anybody(WaitQueues::For::flush))
        services_.wait_queues.settle();
}

void AheadReader::wake(AheadRead& job, bool readable) {
    HostRead* next = nullptr;
    for (HostRead* part = job.first_waiting; part != nullptr; part = next) {
        next = part->waits_behind;
        for (std::uint32_t k = 0; readable && k < part->units; ++k) {
            const std::uint32_t i = part->first_unit + k - job.first_unit, slot = job.slot[i];
            part->newer = static_cast<std::uint16_t>(part->newer | 1u << k);
            part->version[k] = codec_.version(job.txn.spare[slot]);
            part->dram_unit[k] = job.dram_unit + i;
            if (job.bytes != nullptr) part->bytes->buffered[k] = {job.bytes->page[slot], {}};
        }
        came_(*part, job.txn, readable);
    }
}

}  // namespace ssdtlm
