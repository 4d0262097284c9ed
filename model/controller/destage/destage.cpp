// SPDX-License-Identifier: Apache-2.0
#include "controller/destage/destage.h"

#include <algorithm>
#include <numeric>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
std::uint32_t length_of(const HostProgram* chain) {
    std::uint32_t n = 0;
    for (; chain != nullptr; chain = next_of(*chain)) ++n;
    return n;
}
}  // namespace

Destage::Destage(const FirmwareConfig& costs, const FtlConfig& config, const Peers& peers)
    : costs_(costs),
      geometry_(peers.ftl.geometry()),
      codec_(peers.ftl.codec()),
      units_per_page_(geometry_.units_per_page()),
      peers_(peers),
      jobs_(peers.jobs),
      choice_(config, peers.ftl, peers.buffer, peers.wait_queues),
      logical_rows_(peers.ftl.placement() != nullptr ? std::make_unique<LogicalRows>(peers.ftl, peers_.buffer, choice_)
                                                     : nullptr),
      row_(choice_.row_pages()),
      without_page_(peers.ftl.partitions().count()),
      reorders_(config.buffer_order == BufferOrder::by_translation_page) {
    peers_.wait_queues.on_settled(Then::to<&Destage::form>(this));
}

void Destage::form() {
    for (std::uint32_t partition = choice_.next(); partition != RowChoice::kNoPartition; partition = choice_.next())
        form_row(partition);
    if (on_wait_) on_wait_();
}

void Destage::form_row(std::uint32_t partition) {
    const SimTime now = peers_.agenda.now();
    JobChain<HostProgram> chain;
    // With log blocks a row is not any units, and those of a group are placed in the order in which they were taken.
    const std::vector<WriteBuffer::Index>* const taken =
        __builtin_expect(logical_rows_ != nullptr, 0) ? &logical_rows_->take(partition) : nullptr;
    const auto units = taken != nullptr ? static_cast<std::uint32_t>(taken->size())
                                        : std::min(peers_.buffer.queued(partition), choice_.row_units());
    std::uint32_t next = 0;
    std::uint32_t pages = 0;
    for (std::uint32_t left = units; left != 0; ++pages) {
        HostProgram& job = jobs_.acquire();
        job.by = this;
        job.units = static_cast<std::uint8_t>(taken != nullptr ? logical_rows_->units_of_page(next)
                                                               : std::min(left, units_per_page_));
        job.copies = 0;
        for (std::uint32_t i = 0; i < job.units; ++i) {
            job.slot[i] = static_cast<std::uint8_t>(taken != nullptr ? logical_rows_->slot_of(next, i) : i);
            job.entry[i] = taken != nullptr ? (*taken)[next++] : peers_.buffer.pop_dirty(partition);
            job.old[i] = kUnmapped;
            peers_.ftl.prefetch(peers_.buffer.unit(job.entry[i]).lpa);
        }
        left -= job.units;
        job.formed = now;
        job.again = false;
        chain.add(job);
    }
    choice_.begun(partition, pages);
    ++issuing_;
    std::uint64_t cycles = std::uint64_t{costs_.flash_issue} * pages + std::uint64_t{costs_.map_update} * units;
    if (__builtin_expect(reorders_, 0)) cycles += reorder_cycles(units);
    const std::uint64_t number = taken != nullptr ? partition : rows_formed_++;
    const auto slot = peers_.cores.reserve(number, cycles, CoreStep::program_issue, CorePort::kNoCommand,
                                           wait_for_entries(number, chain));
    for (HostProgram* job = chain.first(); job != nullptr; job = next_of(*job)) {
        job->core_start = slot.start;
        job->core_end = job->map_at = slot.end;
    }
    peers_.cores.then(slot.end, Then::to<&Destage::issue>(this, *chain.first()));
}

inline Ps Destage::wait_for_entries(std::uint64_t number, const JobChain<HostProgram>& row) const {
    TablePort* const table = peers_.cores.table();
    if (__builtin_expect(table == nullptr, 1)) return {};
    for (const HostProgram* job = row.first(); job != nullptr; job = next_of(*job))
        for (std::uint32_t i = 0; i < job->units; ++i)
            table->want(number, {idx(peers_.buffer.unit(job->entry[i]).lpa), 1}, true);
    return table->wait();
}

/// The cost of a heap of the buffered units, whose depth grows by one when their number doubles.
__attribute__((noinline)) std::uint64_t Destage::reorder_cycles(std::uint32_t units) const {
    std::uint32_t depth = 0;
    for (std::uint32_t held = peers_.buffer.held(); held != 0; held >>= 1) ++depth;
    return std::uint64_t{costs_.reorder} * units * depth;
}

void Destage::issue(HostProgram& row) {
    --issuing_;
    if (__builtin_expect(peers_.map == nullptr, 1) || bring_in(row)) place_or_wait(&row);
}

/// Brings in the map's entries of the row's units, which change when the row is placed. False: they have to be read
/// first.
__attribute__((noinline)) bool Destage::bring_in(HostProgram& row) {
    units_.clear();
    whose_.clear();
    for (const HostProgram* job = &row; job != nullptr; job = next_of(*job))
        for (std::uint32_t i = 0; i < job->units; ++i) {
            const WriteBuffer::Unit unit = peers_.buffer.unit(job->entry[i]);
            units_.push_back(unit.lpa);
            whose_.push_back(unit.whose());
        }
    return peers_.map->bring_in(units_.data(), whose_.data(), static_cast<std::uint32_t>(units_.size()),
                                Then::to<&Destage::brought_in>(this, row));
}

void Destage::brought_in(HostProgram& row) {
    for (HostProgram* job = &row; job != nullptr; job = next_of(*job)) job->map_at = peers_.agenda.now();
    place_or_wait(&row);
    peers_.wait_queues.settle();
}

/// The program will not be placed, so the map's entries of its units are not needed any more.
__attribute__((noinline, cold)) void Destage::done_with_map(const HostProgram& job) const {
    if (peers_.map == nullptr || job.again) return;
    for (std::uint32_t i = 0; i < job.units; ++i) peers_.map->done(peers_.buffer.unit(job.entry[i]).lpa, false);
}

/// The partition of a row. Precondition: its units are still in the buffer.
inline std::uint32_t Destage::partition_of(const HostProgram& job) const {
    const WritePartitions& partitions = peers_.ftl.partitions();
    if (__builtin_expect(partitions.count() == 1, 1)) return 0;
    const WriteBuffer::Unit unit = peers_.buffer.unit(job.entry[0]);
    return partitions.of(unit.lpa, unit.stream);
}

inline void Destage::place_or_wait(HostProgram* left) {
    const std::uint32_t partition = partition_of(*left);
    if (!peers_.wait_queues.anybody_for_page(partition)) left = place(left);
    if (left == nullptr) return;
    without_page_[partition].push_back(left);
    peers_.wait_queues.wait_for_page(partition, Attempt::to<&Destage::place_again>(this, partition));
    if (on_wait_) on_wait_();
}

bool Destage::place_again(std::uint32_t partition) {
    std::deque<HostProgram*>& waiting = without_page_[partition];
    HostProgram* const row = waiting.front();
    waiting.pop_front();
    HostProgram* const left = place(row);
    if (left == nullptr) return true;
    waiting.push_front(left);
    return false;
}

// Asks for what will be looked at when the first of the row is placed. False: all its units were deallocated meanwhile.
inline bool Destage::is_wanted(const HostProgram& job) const {
    bool wanted = false;
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const WriteBuffer::Unit unit = peers_.buffer.unit(job.entry[i]);
        wanted = wanted || !unit.dropped;
        peers_.ftl.prefetch_old_place(unit.lpa);
    }
    return wanted;
}

// Pages are taken only when the programs go to the scheduler, so programs of a block arrive in page order. Returns what
// found no page, null when all did.
HostProgram* Destage::place(HostProgram* jobs) {
    Ftl& ftl = peers_.ftl;
    bool left_over = false;
    while (jobs != nullptr) {
        std::uint32_t wanted = 0;
        for (const HostProgram* job = jobs; job != nullptr && is_wanted(*job); job = next_of(*job)) ++wanted;
        if (wanted == 0) {
            HostProgram& dead = *jobs;
            jobs = next_of(dead);
            if (!dead.again) units_discarded_ += dead.units;
            if (__builtin_expect(logical_rows_ != nullptr, 0)) logical_rows_->forget(dead);
            done_with_map(dead);
            dead.txn.timeline.begin(peers_.agenda.now());
            finish(dead, false);
            continue;
        }
        const std::uint32_t pages = __builtin_expect(logical_rows_ != nullptr, 0)
                                        ? logical_rows_->place(jobs, wanted, row_.data())
                                        : ftl.allocate_host_pages(wanted, row_.data(), left_over, partition_of(*jobs));
        if (pages == 0) {
            if (ftl.media().read_only) {
                give_up(jobs);
                return nullptr;
            }
            peers_.gc.check_all();
            return jobs;
        }
        left_over = true;
        const PlaneId plane = row_.front().plane;
        const std::uint64_t mapped = units_mapped_;
        for (std::uint32_t p = 0; p < pages; ++p) {
            HostProgram& placed = *jobs;
            jobs = next_of(placed);  // the scheduler's from here on
            submit(placed, row_[p], false);
        }
        peers_.writer.hand_over();
        if (collecting_) {
            peers_.gc.host_wrote(plane, static_cast<std::uint32_t>(units_mapped_ - mapped));
        } else {  // preconditioning may have left any group at its threshold
            collecting_ = true;
            peers_.gc.check_all();
        }
    }
    return nullptr;
}

/// `of_gc`: the page is one of those that garbage collection counts.
void Destage::submit(HostProgram& job, const PageAddress& a, bool of_gc) {
    peers_.writer.set_up(job,
                         {a, of_gc ? FlashClass::gc_write : FlashClass::host_write,
                          of_gc ? FlashCause::relocation : FlashCause::of_class, peers_.ftl.draw_record(a)},
                         CoreStep::program_done, Then::to<&Destage::program_done>(this, job));
    job.txn.slc = peers_.ftl.is_slc(a);
    std::uint8_t stream = 0;  // of all units
    bool first = true;
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const WriteBuffer::Unit unit = peers_.buffer.unit(job.entry[i]);
        if (unit.dropped) {
            units_discarded_ += !job.again;
            continue;
        }
        stream = first || stream == unit.stream ? unit.stream : std::uint8_t{0};
        if (first) job.txn.whose = unit.whose();
        first = false;
        const std::uint32_t slot = job.slot[i];
        job.txn.spare[slot] = codec_.make(unit.lpa, unit.version);
        peers_.writer.add_data(std::uint64_t{unit.dram_unit} * geometry_.unit_bytes, geometry_.unit_bytes);
        if (__builtin_expect(peers_.bytes != nullptr, 0)) peers_.bytes->place(job, slot, job.entry[i]);
        if (__builtin_expect(job.again, 0)) {
            peers_.ftl.map_again(unit.lpa, geometry_.ppa_of(a, slot));
            continue;
        }
        job.old[i] = peers_.ftl.map_unit(unit.lpa, geometry_.ppa_of(a, slot));
        peers_.ftl.hold_copy(job.old[i]);
        ++units_mapped_;
    }
    peers_.jobs.caused_by(job.txn.whose);
    job.txn.whose.stream = stream;
    if (__builtin_expect(peers_.merges != nullptr, 0)) peers_.merges->join(job);
    peers_.writer.add(job);
    if (__builtin_expect(peers_.map != nullptr, 0)) tell_map(job);
}

/// Tells the map what the program has changed. The map may answer with a program of its own, at once if cores take no
/// time.
__attribute__((noinline)) void Destage::tell_map(const HostProgram& job) const {
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const WriteBuffer::Unit unit = peers_.buffer.unit(job.entry[i]);
        if (!job.again)
            peers_.map->done(unit.lpa, !unit.dropped);
        else if (!unit.dropped)
            peers_.map->changed(unit.lpa);
    }
}

void Destage::program_done(HostProgram& job) {
    if (__builtin_expect(job.txn.status.result != FlashResult::ok, 0)) return program_failed(job);
    if (__builtin_expect(job.copies != 0, 0)) peers_.merges->joined(job);
    if (__builtin_expect(job.txn.cls == FlashClass::gc_write, 0))
        peers_.ftl.gc_page_programmed(job.txn.address);
    else
        peers_.ftl.host_page_programmed(job.txn.address);
    peers_.gc.check(job.txn.address.plane);  // its block may have become a candidate
    finish(job);
}

// Reads find the units in the buffer until they are in flash. The time of the failed program is charged to waiting
// commands as stage `buffer`.
__attribute__((noinline, cold)) void Destage::program_failed(HostProgram& job) {
    const PageAddress a = job.txn.address;
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const WriteBuffer::Unit unit = peers_.buffer.unit(job.entry[i]);
        if (!unit.dropped) peers_.ftl.unmap_failed(unit.lpa, geometry_.ppa_of(a, job.slot[i]));
    }
    if (job.txn.cls == FlashClass::gc_write)
        peers_.ftl.gc_page_failed(a);
    else
        peers_.ftl.host_page_failed(a);
    job.again = true;
    job.copies = 0;
    job.next = nullptr;
    if (!is_wanted(job)) {
        // It is placed at once, before others. A program that waits for a page may wait for an erase, which the older
        // copies delay.
        place(&job);
    } else if (peers_.ftl.media().read_only) {
        place_or_wait(&job);
    } else {
        submit(job, peers_.ftl.allocate_again(peers_.ftl.shape().group_of(a.plane)), true);
        peers_.writer.hand_over();
    }
    peers_.gc.check(a.plane);  // empties the block, if nothing else is being programmed in it
    peers_.wait_queues.pages_changed();
}

// A read-only drive has no page left. Writes that were acknowledged to the host are then lost; a read of them reports
// it.
__attribute__((noinline, cold)) void Destage::give_up(HostProgram* jobs) {
    while (jobs != nullptr) {
        HostProgram& job = *jobs;
        const std::uint32_t partition = partition_of(job);
        jobs = next_of(job);
        done_with_map(job);
        if (logical_rows_ != nullptr) logical_rows_->forget(job);
        for (std::uint32_t i = 0; i < job.units; ++i) {
            const WriteBuffer::Unit unit = peers_.buffer.unit(job.entry[i]);
            if (!unit.dropped) lose(unit.lpa);
            let_go_old(job, i);
            if (!job.again) ++(unit.dropped ? units_discarded_ : units_given_up_);
            const std::uint32_t waiter = peers_.buffer.give_up(job.entry[i]);
            if (waiter != WriteBuffer::kNoWaiter) peers_.wait_queues.release(waiter, CommandStatus::write_fault);
        }
        choice_.ended(partition);
        jobs_.release(job);
    }
    peers_.wait_queues.settle();
}

__attribute__((noinline, cold)) void Destage::lose(Lpa lpa) const {
    peers_.ftl.lose(lpa);
    if (peers_.map != nullptr) peers_.map->changed(lpa);
}

void Destage::let_go_old(const HostProgram& job, std::uint32_t unit) {
    SuperblockId free = kNoSuperblock;
    if (__builtin_expect(job.again, 0) && peers_.buffer.unit(job.entry[unit]).dropped)
        free = peers_.ftl.hand_over_copy(job.old[unit]);
    else
        free = peers_.ftl.let_go_copy(job.old[unit]);
    if (free != kNoSuperblock) peers_.gc.let_go(free);
}

/// Before it leaves the buffer.
__attribute__((noinline)) void Destage::keep_in_cache(const HostProgram& job, std::uint32_t unit) const {
    const WriteBuffer::Index entry = job.entry[unit];
    const WriteBuffer::Unit u = peers_.buffer.unit(entry);
    if (u.dropped || peers_.buffer.find(u.lpa) != entry) return;
    peers_.cache->keep(
        {u.lpa, u.version, u.dram_unit, job.bytes != nullptr ? job.bytes->page[job.slot[unit]] : UnitBytes{}}, entry,
        u.tenant);
}

void Destage::finish(HostProgram& job, bool placed) {
    const std::uint32_t partition = partition_of(job);
    for (std::uint32_t i = 0; i < job.units; ++i) {
        let_go_old(job, i);
        if (__builtin_expect(peers_.cache != nullptr, 0) && placed) keep_in_cache(job, i);
        const std::uint32_t waiter = peers_.buffer.programmed(job.entry[i]);
        if (__builtin_expect(waiter == WriteBuffer::kNoWaiter, 1)) continue;
        if (__builtin_expect(placed && job.txn.spare[job.slot[i]] != kPadding, 1))
            peers_.wait_queues.release(waiter);
        else
            peers_.journal.release_when_durable(waiter);  // deallocated meanwhile
    }
    choice_.ended(partition);
    peers_.wait_queues.durable(&job);
    jobs_.release(job);
    peers_.wait_queues.settle();
}

std::uint32_t Destage::without_page(std::uint32_t partition) const {
    const auto& rows = without_page_[partition];
    return std::accumulate(rows.begin(), rows.end(), 0u,
                           [](std::uint32_t n, const HostProgram* row) { return n + length_of(row); });
}

std::uint32_t Destage::without_page() const {
    std::uint32_t n = 0;
    for (std::uint32_t partition = 0; partition < without_page_.size(); ++partition) n += without_page(partition);
    return n;
}

/// True: a flush, a command with FUA or a durable deallocation waits for the program. A command that needs room waits
/// for it too, when no other program will make any.
bool Destage::is_awaited(const ProgramJob& program, std::uint32_t held) const {
    if (peers_.wait_queues.anybody(WaitQueues::For::flush) || peers_.wait_queues.anybody(WaitQueues::For::journal))
        return true;
    const auto& job = static_cast<const HostProgram&>(program);
    for (std::uint32_t i = 0; i < job.units; ++i)
        if (peers_.buffer.is_awaited(job.entry[i])) return true;
    const bool room_is_wanted = peers_.wait_queues.anybody_for_room() || peers_.buffer.is_wanted();
    return room_is_wanted && programs() == held + without_page();
}

bool Destage::under_way() const {
    return programs() > without_page() || (without_page() != 0 && peers_.gc.active() != 0);
}

void Destage::check_waiters() const {
    const auto require = [](bool ok, const std::string& what) {
        if (!ok) throw CheckFailed("destage: " + what);
    };
    // Programs end by themselves once they have a page: the flash or a core holds them.
    const std::uint32_t waiting = without_page();
    require(
        waiting + issuing_ <= programs(),
        std::to_string(waiting) + " programs wait for a page and cores form others, of " + std::to_string(programs()));
    require(waiting == 0 || peers_.wait_queues.count_for_page() != 0,
            std::to_string(waiting) + " programs are counted as waiting for a page, and nobody waits for one");
    const WritePartitions& partitions = peers_.ftl.partitions();
    for (std::uint32_t partition = 0; partition < partitions.count() && partitions.count() > 1; ++partition) {
        if (without_page_[partition].empty() || choice_.programs(partition) > without_page(partition)) continue;
        const auto& groups = partitions.groups(partition);
        require(std::any_of(groups.begin(), groups.end(), [this](GroupId g) { return peers_.gc.collects(g); }),
                std::to_string(without_page(partition)) + " programs wait for a page of partition " +
                    std::to_string(partition) + ", none of whose groups is collected");
    }
    for (std::uint32_t partition = 0; partition < partitions.count() && logical_rows_ != nullptr; ++partition)
        require(
            !without_page_[partition].empty() || !peers_.ftl.placement()->rest_at_hand(partitions.groups(partition)[0]),
            "units were read for a page of partition " + std::to_string(partition) + ", of which no program waits");
    choice_.check();
}

std::string Destage::dump() const {
    return "destage: " + std::to_string(programs()) + " programs in flight, " + std::to_string(without_page()) +
           " without a free page\n";
}

}  // namespace ssdtlm
