// SPDX-License-Identifier: Apache-2.0
#include "controller/gc/merge_engine.h"

#include <algorithm>

namespace ssdtlm {

MergeEngine::MergeEngine(const FirmwareConfig& firmware, const FtlConfig& config, const Peers& peers)
    : firmware_(firmware),
      peers_(peers),
      placement_(*peers.ftl.placement()),
      geometry_(peers.ftl.geometry()),
      codec_(peers.ftl.codec()),
      most_pages_(config.gc_max_inflight_pages * peers.ftl.shape().planes()),
      groups_(peers.ftl.shape().groups()),
      reads_(peers.jobs),
      programs_(peers.jobs),
      erases_(peers.jobs) {}

void MergeEngine::check(GroupId group) {
    Group& g = groups_[idx(group)];
    g.asked = true;
    try_erase(group);
    if (g.running || placement_.dead(group) != kNoSuperblock || placement_.erasing(group)) return;
    if (!placement_.demanded(group) || placement_.host_programs(group) != 0 || peers_.ftl.media().read_only) return;
    g.running = true;
    step(group, firmware_.gc_victim, CoreStep::gc_victim, Then::to<&MergeEngine::begin>(this, idx(group)));
}

void MergeEngine::begin(std::uint64_t index) {
    Group& g = groups_[index];
    const GroupId group{static_cast<std::uint32_t>(index)};
    --g.steps;
    if (placement_.demanded(group) && placement_.begin(group)) {
        g.number = ++runs_;
        g.cursor = placement_.run(group).next;
        return pump(group);
    }
    run_ended(group);
}

/// Reads ahead, programs what is complete, and ends the run when nothing is left of it.
void MergeEngine::pump(GroupId group) {
    Group& g = groups_[idx(group)];
    if (__builtin_expect(g.abandoned, 0)) return drop_rows(group);
    while (g.cursor != placement_.run(group).end && g.pages < most_pages_) start_row(group);
    if (!g.rows.empty() && !g.issuing && g.rows.front().reads == 0) {
        const Row& row = g.rows.front();
        const auto units = static_cast<std::uint64_t>(
            std::count_if(row.units.begin(), row.units.end(), [](const Unit& u) { return u.from != kUnmapped; }));
        g.issuing = true;
        const std::uint32_t programs = placement_.reads_rest(group) ? 0 : row.pages;
        step(group, std::uint64_t{firmware_.flash_issue} * programs + firmware_.map_update * units,
             CoreStep::gc_program_issue, Then::to<&MergeEngine::place_row>(this, idx(group)));
        return;
    }
    if (g.cursor != placement_.run(group).end || g.pages != 0) return;
    placement_.end_run(group);
    run_ended(group);
}

void MergeEngine::run_ended(GroupId group) {
    groups_[idx(group)].running = false;
    check(group);
    room_();
}

/// Drops what an abandoned run has read. The run is over when nothing of it is under way.
__attribute__((noinline, cold)) void MergeEngine::drop_rows(GroupId group) {
    Group& g = groups_[idx(group)];
    while (!g.issuing && !g.rows.empty() && g.rows.front().reads == 0) {
        g.pages -= g.rows.front().pages;
        g.rows.pop_front();
        ++g.first_row;
    }
    if (g.pages != 0) return;
    g.abandoned = false;
    placement_.abandon_run(group);
    run_ended(group);
}

void MergeEngine::prepare(FlashJob& job, FlashOp op, FlashClass cls, const PageAddress& a, const Then& then) {
    set_up(job, op, cls, a, geometry_, then);
    job.txn.owner = groups_[idx(group_of(job))].number;
    job.txn.cause = FlashCause::merge;
    job.units = 0;
}

/// Starts to read the pages up to the end of a row, or of the run. A page of flash that has several of their units is
/// read once.
void MergeEngine::start_row(GroupId group) {
    Group& g = groups_[idx(group)];
    const std::uint32_t planes = peers_.ftl.shape().planes(), per_page = geometry_.units_per_page();
    Row row;
    row.pages = std::min(planes - g.cursor % planes, placement_.run(group).end - g.cursor);
    row.units.resize(std::size_t{row.pages} * per_page);
    find_units(group, row);
    std::vector<std::uint32_t> in_order;
    for (std::uint32_t i = 0; i < row.units.size(); ++i)
        if (row.units[i].from != kUnmapped) in_order.push_back(i);
    std::sort(in_order.begin(), in_order.end(),
              [&row](std::uint32_t a, std::uint32_t b) { return idx(row.units[a].from) < idx(row.units[b].from); });
    JobChain<Read> chain;
    Read* job = nullptr;
    for (const std::uint32_t i : in_order) {
        const Ppa from = row.units[i].from;
        const PageAddress a = geometry_.page_of(from);
        if (job == nullptr || job->txn.address.plane != a.plane || job->txn.address.block != a.block ||
            job->txn.address.page != a.page) {
            job = &reads_.acquire();
            prepare(*job, FlashOp::read, FlashClass::gc_read, a, Then::to<&MergeEngine::page_read>(this, *job));
            job->row = g.first_row + g.rows.size();
            chain.add(*job);
            ++row.reads;
        }
        job->in_row[job->units] = i;
        job->slot[job->units++] = static_cast<std::uint8_t>(geometry_.slot_of(from));
        job->txn.first_byte = job->slot[0] * geometry_.unit_bytes;
        job->txn.data_bytes = job->units * geometry_.unit_bytes;
    }
    g.cursor += row.pages;
    g.pages += row.pages;
    const std::uint32_t reads = row.reads;
    g.rows.push_back(std::move(row));
    if (reads != 0)
        step(group, std::uint64_t{firmware_.flash_issue} * reads, CoreStep::gc_read_issue,
             Then::to<&MergeEngine::issue>(this, *chain.first()));
}

/// Where they are now; the host writes no others in the group until the merge is over.
void MergeEngine::find_units(GroupId group, Row& row) const {
    const std::uint32_t per_page = geometry_.units_per_page(),
                        skip = placement_.reads_rest(group) ? placement_.host_slots(group) : 0;
    for (std::uint32_t i = 0; i < row.pages; ++i) {
        const LogicalPage p{group, placement_.run(group).block, groups_[idx(group)].cursor + i};
        const std::uint32_t first = idx(placement_.logical().first_unit(p));
        for (std::uint32_t s = 0; s < placement_.logical().units(p); ++s) {
            const Ppa at = peers_.ftl.lookup(Lpa{first + s});
            if ((skip >> s & 1u) == 0 && idx(at) < geometry_.units()) row.units[i * per_page + s].from = at;
        }
    }
}

void MergeEngine::issue(FlashJob& first) {
    --groups_[idx(group_of(first))].steps;
    for (FlashJob* job = &first; job != nullptr;) {
        FlashJob* const next = job->next;  // a job handed over may be used again at once
        ++groups_[idx(group_of(*job))].in_flight;
        peers_.flash.submit(job->txn);
        job = next;
    }
}

void MergeEngine::programmed(Program& job) {
    --groups_[idx(group_of(job))].in_flight;
    step(group_of(job), firmware_.flash_complete, CoreStep::gc_program_done,
         Then::to<&MergeEngine::program_done>(this, job));
}

void MergeEngine::erased(FlashJob& job) {
    --groups_[idx(group_of(job))].in_flight;
    step(group_of(job), firmware_.flash_complete, CoreStep::gc_erase_done,
         Then::to<&MergeEngine::erase_done>(this, job));
}

void MergeEngine::page_read(Read& job) {
    if (job.txn.status.result != FlashResult::ok) return read_failed(job);
    const std::uint64_t place = peers_.dram.place(job.txn.data_bytes);
    job.dram_unit = static_cast<std::uint32_t>(place / geometry_.unit_bytes);
    peers_.dram.access({place, job.txn.data_bytes}, Then::to<&MergeEngine::read_done>(this, job));
}

void MergeEngine::read_done(Read& job) {
    Row& row = row_of(job);
    if (job.bytes != nullptr) row.bytes.resize(row.units.size());
    for (std::uint32_t i = 0; i < job.units; ++i) {
        Unit& unit = row.units[job.in_row[i]];
        unit.spare = job.txn.spare[job.slot[i]];
        unit.dram_unit = job.dram_unit + i;
        if (job.bytes != nullptr) row.bytes[job.in_row[i]] = job.bytes->page[job.slot[i]];
    }
    end_read(job);
}

/// What it had of units is lost, and padding in the superblock that is merged.
__attribute__((noinline, cold)) void MergeEngine::read_failed(Read& job) {
    Row& row = row_of(job);
    for (std::uint32_t i = 0; i < job.units; ++i)
        peers_.ftl.lose_copy(std::exchange(row.units[job.in_row[i]].from, kUnmapped));
    end_read(job);
}

void MergeEngine::end_read(Read& job) {
    const GroupId group = group_of(job);
    Group& g = groups_[idx(group)];
    --g.in_flight;
    --row_of(job).reads;
    reads_.release(job);
    pump(group);
}

void MergeEngine::place_row(std::uint64_t index) {
    const GroupId group{static_cast<std::uint32_t>(index)};
    Group& g = groups_[index];
    --g.steps;
    Row row = std::move(g.rows.front());
    g.rows.pop_front();
    ++g.first_row;
    g.issuing = false;
    if (__builtin_expect(g.abandoned, 0)) {
        g.pages -= row.pages;
        return pump(group);
    }
    if (placement_.reads_rest(group)) {
        g.rest = std::move(row);
        g.pages = 0;
        return pump(group);
    }
    // What is only padding leaves the DRAM as a unit of zeros.
    if (std::all_of(row.units.begin(), row.units.end(), [](const Unit& u) { return u.from == kUnmapped; }))
        peers_.writer.add_data(geometry_.unit_bytes);
    for (std::uint32_t i = 0; i < row.pages; ++i) place_page(group, row, i);
    peers_.writer.hand_over();
    pump(group);
}

/// What was deallocated meanwhile is padding as well.
void MergeEngine::place_page(GroupId group, Row& row, std::uint32_t page) {
    Program& job = programs_.acquire();
    prepare(job, FlashOp::program, FlashClass::gc_write, placement_.next_page(group),
            Then::to<&MergeEngine::programmed>(this, job));
    job.txn.data_bytes = geometry_.page_bytes;
    job.txn.spare.fill(kPadding);
    job.units = static_cast<std::uint8_t>(geometry_.units_per_page());
    job.txn.record = peers_.ftl.draw_record(job.txn.address);
    for (std::uint32_t s = 0; s < job.units; ++s) {
        job.from[s] = row.units[page * job.units + s].from;
        add_unit(job, row, page * job.units + s, s);
    }
    ++groups_[idx(group)].in_flight;
    peers_.writer.add(job);
}

/// False: it is padding.
bool MergeEngine::add_unit(FlashJob& job, Row& row, std::uint32_t number, std::uint32_t slot) {
    const Unit& unit = row.units[number];
    if (unit.from == kUnmapped) return false;
    peers_.writer.add_data(std::uint64_t{unit.dram_unit} * geometry_.unit_bytes, geometry_.unit_bytes);
    if (!peers_.ftl.move_wanted(codec_.lpa(unit.spare), unit.from)) return false;
    job.txn.spare[slot] = unit.spare;
    if (!row.bytes.empty()) job.bytes->page[slot] = std::move(row.bytes[number]);
    return true;
}

void MergeEngine::join(HostProgram& host) {
    const GroupId group = group_of(host);
    if (!placement_.rest_taken(group)) return;
    Row& row = groups_[idx(group)].rest;
    for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s) {
        if (!add_unit(host, row, s, s)) continue;
        const std::uint32_t i = host.units + host.copies++;
        host.copied_from[i] = row.units[s].from;
        host.slot[i] = static_cast<std::uint8_t>(s);
    }
}

void MergeEngine::joined(const HostProgram& host) {
    for (std::uint32_t i = host.units; i < std::uint32_t{host.units} + host.copies; ++i)
        peers_.ftl.commit_move(codec_.lpa(host.txn.spare[host.slot[i]]), host.copied_from[i],
                               geometry_.ppa_of(host.txn.address, host.slot[i]));
}

void MergeEngine::program_done(Program& job) {
    const GroupId group = group_of(job);
    Group& g = groups_[idx(group)];
    --g.steps;
    if (job.txn.status.result != FlashResult::ok) {
        peers_.ftl.gc_page_failed(job.txn.address);
        g.abandoned = true;
    } else {
        for (std::uint32_t s = 0; s < job.units; ++s)
            if (job.txn.spare[s] != kPadding)
                peers_.ftl.commit_move(codec_.lpa(job.txn.spare[s]), job.from[s], geometry_.ppa_of(job.txn.address, s));
        peers_.ftl.gc_page_programmed(job.txn.address);
    }
    programs_.release(job);
    --g.pages;
    pump(group);
}

void MergeEngine::try_erase(GroupId group) {
    if (placement_.dead(group) == kNoSuperblock || placement_.erasing(group)) return;
    if (!peers_.ftl.erase_allowed(placement_.dead(group))) {
        // The page of the journal that it waits for may have found no place. Then nobody waits for this superblock
        // until it is let go.
        if (peers_.ftl.media().read_only) groups_[idx(group)].asked = false;
        return erase_waits_(placement_.dead(group));
    }
    const SuperblockId b = placement_.begin_erase(group);
    const std::uint32_t planes = peers_.ftl.shape().planes();
    JobChain<FlashJob> chain;
    for (std::uint32_t i = 0; i < planes; ++i) {
        FlashJob& job = erases_.acquire();
        prepare(job, FlashOp::erase, FlashClass::erase, peers_.ftl.shape().page(b, i),
                Then::to<&MergeEngine::erased>(this, job));
        job.txn.data_bytes = 0;
        chain.add(job);
    }
    groups_[idx(group)].erases = planes;
    groups_[idx(group)].erase_failed = false;
    step(group, std::uint64_t{firmware_.flash_issue} * planes, CoreStep::gc_erase_issue,
         Then::to<&MergeEngine::issue>(this, *chain.first()));
}

void MergeEngine::erase_done(FlashJob& job) {
    const GroupId group = group_of(job);
    const SuperblockId b = peers_.ftl.shape().superblock_of(geometry_.block_of(job.txn.address));
    Group& g = groups_[idx(group)];
    --g.steps;
    g.erase_failed = g.erase_failed || job.txn.status.result != FlashResult::ok;
    erases_.release(job);
    if (--g.erases != 0) return;
    if (g.erase_failed)
        peers_.ftl.superblock_not_erased(b);
    else
        peers_.ftl.superblock_erased(b);
    placement_.erase_ended(group);
    check(group);
    room_();
}

std::uint32_t MergeEngine::active() const {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) n += busy(GroupId{i});
    return n;
}

void MergeEngine::check_waiters() const {
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        const Group& g = groups_[i];
        const GroupId group{i};
        const auto require = [&](bool ok, const char* what) {
            if (!ok) throw CheckFailed("merges: group " + std::to_string(i) + " " + what + "\n" + dump());
        };
        if (g.steps + g.in_flight != 0) continue;  // comes back
        require(!g.running, "has a merge with nothing under way");
        require(!placement_.erasing(group), "has an erase that is not under way");
        if (placement_.dead(group) != kNoSuperblock) {
            require(!g.asked || !peers_.ftl.erase_allowed(placement_.dead(group)),
                    "has a superblock that may be erased, and is not");
            continue;
        }
        require(!placement_.demanded(group) || placement_.host_programs(group) != 0 || peers_.ftl.media().read_only,
                "has a merge to begin, and nothing holds it up");
    }
}

std::string MergeEngine::dump() const {
    std::string s;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        if (!busy(GroupId{i})) continue;
        const Group& g = groups_[i];
        s += "merges: group " + std::to_string(i) + ": " + placement_.dump(GroupId{i}) + "; " +
             (g.running ? "under way, " : "") + "page " + std::to_string(g.cursor) + " to read, " +
             std::to_string(g.rows.size()) + " rows read, " + std::to_string(g.in_flight) + " operations, " +
             std::to_string(g.steps) + " core steps\n";
    }
    return s;
}

}  // namespace ssdtlm
