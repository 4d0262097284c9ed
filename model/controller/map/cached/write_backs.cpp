// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/write_backs.h"

#include <algorithm>
#include <utility>

#include "controller/map/cached/pages/translation_contents.h"

namespace ssdtlm {

namespace {
/// Entries that are looked at for others that may be written back with the coldest one. Assumed: it bounds the search.
constexpr std::uint32_t kLookedAt = 256;
}  // namespace

WriteBacks::WriteBacks(const CachedMapPeers& peers, CachedMappingTable& table, EntryCheck& check)
    : peers_(peers),
      geometry_(peers.ftl.geometry()),
      by_page_(peers.ftl.config().map.granularity == MapGranularity::page),
      table_(table),
      check_(check),
      read_jobs_(peers.jobs),
      program_jobs_(peers.jobs),
      without_page_(peers.pages.room().pools()) {}

bool WriteBacks::begin(std::uint64_t coldest) {
    std::vector<std::uint32_t> pages;
    choose(pages, coldest);
    if (pages.empty()) return false;
    start(std::move(pages));
    return true;
}

void WriteBacks::write_all(std::function<void()> done) {
    SSDTLM_CHECK(!swept_, "all entries are to be written back while they are being");
    swept_ = std::move(done);
    sweep_ = 0;
    sweep();
}

/// Takes pages of a pool that follow each other, as many as a flash page takes.
void WriteBacks::sweep() {
    if (!swept_) return;
    const std::uint32_t end = peers_.pages.count();
    const std::uint64_t most = 2ull * peers_.ftl.shape().groups();  // assumed: keeps each group of planes busy
    while (sweep_ != end && batches_.size() - free_.size() - waiting_ + programs_ < most) {
        std::vector<std::uint32_t> pages;
        for (; sweep_ != end && pages.size() < geometry_.units_per_page(); ++sweep_) {
            if (table_.dirty_in(sweep_) == 0) continue;
            if (!goes_with(pages, sweep_)) break;
            if (claim(sweep_)) pages.push_back(sweep_);
        }
        if (!pages.empty()) start(std::move(pages));
    }
    if (sweep_ == end && idle() && swept_ && (waiting_ == 0 || peers_.gc.active() == 0))
        std::exchange(swept_, nullptr)();
}

void WriteBacks::start(std::vector<std::uint32_t> pages) {
    if (free_.empty()) {
        batches_.emplace_back();
        free_.push_back(static_cast<std::uint32_t>(batches_.size() - 1));
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Batch b{std::move(pages), 0, peers_.dram.place(geometry_.page_bytes), 0};
    std::vector<std::uint32_t> in_part;
    for (const std::uint32_t page : b.pages) {
        b.leaving += table_.dirty_in(page);
        if (!is_whole(page)) in_part.push_back(page);
    }
    b.reads = static_cast<std::uint32_t>(in_part.size());
    leaving_ += b.leaving;
    reads_ += b.reads;
    batches_[number] = std::move(b);
    if (in_part.empty()) ready(number);
    for (const std::uint32_t page : in_part)
        peers_.cores.run(page, peers_.costs.flash_issue, CoreStep::map_read,
                         Then::to<&WriteBacks::read>(this, std::uint64_t{number} << 32 | page));
}

/// The first one is needed; what else a flash page takes is of others that will be, before long.
void WriteBacks::choose(std::vector<std::uint32_t>& pages, std::uint64_t coldest) {
    std::uint32_t looked_at = 0;
    for (CachedMappingTable::Slot s = table_.coldest();
         s != CachedMappingTable::kNone && pages.size() < geometry_.units_per_page() && looked_at < kLookedAt &&
         (looked_at < coldest || !pages.empty());
         s = table_.next_coldest(s), ++looked_at) {
        const std::uint32_t page = table_.page_of(table_.key(s));
        if (table_.is_dirty(s) && goes_with(pages, page) && claim(page)) pages.push_back(page);
    }
}

/// They may be in one flash page.
bool WriteBacks::goes_with(const std::vector<std::uint32_t>& pages, std::uint32_t page) const {
    const TranslationRoom& room = peers_.pages.room();
    return pages.empty() || room.pool_of(pages.front()) == room.pool_of(page);
}

/// All of its entries are in the table and will be written.
bool WriteBacks::is_whole(std::uint32_t page) const {
    const std::uint64_t n = peers_.pages.entries_each(), first = page * n;
    return by_page_ || table_.dirty_in(page) == std::min(n, peers_.ftl.logical_units() - first);
}

void WriteBacks::read(std::uint64_t what) {
    const auto number = static_cast<std::uint32_t>(what >> 32), page = static_cast<std::uint32_t>(what);
    if (in_dram(page) ||
        !is_place(peers_.pages.place(page))) {  // on its way to the flash; never written, or dropped meanwhile
        --reads_;
        if (--batches_[number].reads == 0) ready(number);
        return;
    }
    ++counters_.reads;
    TranslationRead& job = read_jobs_.acquire();
    start_translation_read(peers_, job, page);
    job.txn.then = Then::to<&WriteBacks::read_done>(this, job);
    job.batch = number;
    peers_.flash.submit(job.txn);
}

void WriteBacks::read_done(TranslationRead& job) {
    end_translation_read(peers_, job, Then::to<&WriteBacks::page_read>(this, job));
}

void WriteBacks::page_read(TranslationRead& job) {
    const std::uint32_t number = job.batch;
    if (check_.has_entries(job)) check_.compare_page(job);
    read_jobs_.release(job);
    --reads_;
    if (--batches_[number].reads == 0) ready(number);
}

void WriteBacks::ready(std::uint32_t number) {
    const Batch& b = batches_[number];
    const std::uint64_t changes = by_page_ ? b.pages.size() : b.leaving;
    peers_.cores.run(number, peers_.costs.flash_issue + peers_.costs.map_update * changes, CoreStep::map_write,
                     Then::to<&WriteBacks::put>(this, number));
}

void WriteBacks::put(std::uint64_t number) {
    const auto batch = static_cast<std::uint32_t>(number);
    without_page_[peers_.pages.room().pool_of(batches_[batch].pages.front())].push_back(batch);
    ++waiting_;
    place_waiting();
    sweep();
}

void WriteBacks::place_waiting() {
    bool any_waits = false;
    for (std::deque<std::uint32_t>& of_pool : without_page_) {
        // Where cores take no time, placing one may put another here, and place it.
        while (!of_pool.empty()) {
            const std::uint32_t number = of_pool.front();
            of_pool.pop_front();
            --waiting_;
            if (!place(number)) {
                of_pool.push_front(number);
                ++waiting_;
                any_waits = true;
                break;
            }
            progress_();
        }
    }
    if (any_waits) peers_.gc.check_all();
}

/// False: there is no flash page.
bool WriteBacks::place(std::uint32_t number) {
    Batch& b = batches_[number];
    // A page that was dropped meanwhile has nothing dirty.
    std::vector<std::uint32_t> pages;
    for (const std::uint32_t page : b.pages)
        if (table_.dirty_in(page) != 0) pages.push_back(page);
    GroupId group{};
    if (!pages.empty() && !peers_.pages.next_group(pages.front(), group)) return false;
    const std::vector<std::uint32_t> begun = std::move(b.pages);
    leaving_ -= b.leaving;
    const std::uint64_t dram = b.dram;
    b = Batch{};
    free_.push_back(number);
    for (const std::uint32_t page : begun) pages_.at(page).begun = false;
    if (!pages.empty()) program(pages, group, dram);
    for (const std::uint32_t page : begun) {
        const auto state = pages_.find(page);
        if (state != pages_.end() && state->second.programs == 0 && !state->second.begun) pages_.erase(state);
        tell(page);
    }
    return true;
}

void WriteBacks::program(const std::vector<std::uint32_t>& pages, GroupId group, std::uint64_t dram) {
    const PageAddress a = peers_.pages.allocate(group);
    Program& job = program_jobs_.acquire();
    job.units = static_cast<std::uint8_t>(pages.size());
    job.again = false;
    for (std::uint32_t i = 0; i < job.units; ++i) {
        job.page[i] = pages[i];
        job.old[i] = kUnmapped;
        job.dram_unit[i] = static_cast<std::uint32_t>(dram / geometry_.unit_bytes) + i;
        ++pages_.at(pages[i]).programs;
    }
    ++programs_;
    submit(job, a);
    peers_.gc.check(group);
}

void WriteBacks::submit(Program& job, const PageAddress& a) {
    Ftl& ftl = peers_.ftl;
    PageRecord record = ftl.draw_record(a, PageKind::mapping);
    const bool keeps = ftl.flash().keeps_map();
    job.content.clear();
    if (keeps) record.content = &job.content;
    peers_.writer.set_up(job,
                         {a, job.again ? FlashClass::gc_write : FlashClass::mapping_write,
                          job.again ? FlashCause::relocation : FlashCause::of_class, record},
                         CoreStep::map_write_done, Then::to<&WriteBacks::program_done>(this, job));
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const std::uint32_t page = job.page[i];
        job.txn.spare[i] = ftl.codec().make(peers_.pages.unit_of(page), 0);
        const Ppa old = peers_.pages.put(page, geometry_.ppa_of(a, i));
        if (!is_place(job.old[i])) ftl.hold_copy(job.old[i] = old);
        capture(page);
        if (__builtin_expect(keeps, 0)) put_entries(job.content, i, ftl, page);
        if (__builtin_expect(job.bytes != nullptr, 0)) job.bytes->page[i] = check_.bytes_of(page);
        peers_.writer.add_data(std::uint64_t{job.dram_unit[i]} * geometry_.unit_bytes, geometry_.unit_bytes);
    }
    counters_.written += job.units;
    peers_.writer.add(job);
    peers_.writer.hand_over();
}

void WriteBacks::capture(std::uint32_t page) {
    const std::uint64_t n = by_page_ ? peers_.pages.entries_each() : 1;
    table_.clean(page, [&](CachedMappingTable::Slot s) {
        ++counters_.entries;
        check_.written(table_.key(s) * n, n);
    });
}

void WriteBacks::program_done(Program& job) {
    if (__builtin_expect(job.txn.status.result != FlashResult::ok, 0)) return program_failed(job);
    if (__builtin_expect(job.again, 0))
        peers_.ftl.gc_page_programmed(job.txn.address);
    else
        peers_.pages.programmed(job.txn.address);
    for (std::uint32_t i = 0; i < job.units; ++i) leave(job, i);
    const PlaneId plane = job.txn.address.plane;
    program_jobs_.release(job);
    --programs_;
    peers_.gc.check(plane);
    units_changed();
    progress_();
    sweep();
}

/// Its page is written, or will not be: the copy before it is of no use any more.
void WriteBacks::leave(const Program& job, std::uint32_t unit) {
    const auto state = pages_.find(job.page[unit]);
    if (--state->second.programs == 0 && !state->second.begun) pages_.erase(state);
    const SuperblockId freed = peers_.ftl.let_go_copy(job.old[unit]);
    if (freed != kNoSuperblock) peers_.gc.let_go(freed);
    tell(job.page[unit]);
}

__attribute__((noinline, cold)) void WriteBacks::program_failed(Program& job) {
    const PageAddress a = job.txn.address;
    for (std::uint32_t i = 0; i < job.units; ++i) peers_.pages.drop(job.page[i]);
    if (job.again)
        peers_.ftl.gc_page_failed(a);
    else
        peers_.pages.failed(a);
    if (!place_failed(job, peers_.ftl.shape().group_of(a.plane))) {
        for (std::uint32_t i = 0; i < job.units; ++i) {
            leave(job, i);
            given_back_(job.page[i]);
        }
        program_jobs_.release(job);
        --programs_;
    }
    peers_.gc.check(a.plane);  // empties the block, if nothing else is being programmed in it
    units_changed();
    progress_();
    sweep();
}

/// Places a failed page where there is always room: in the group's GC superblock, because it need not be moved. A
/// read-only drive looks for another group.
bool WriteBacks::place_failed(Program& job, GroupId group) {
    const bool read_only = peers_.ftl.media().read_only;
    if (read_only && !peers_.pages.next_group(job.page[0], group)) return false;
    job.again = !read_only;
    submit(job, read_only ? peers_.pages.allocate(group) : peers_.ftl.allocate_again(group));
    return true;
}

std::string WriteBacks::dump() const {
    return std::to_string(pages_.size()) + " translation pages are written, " + std::to_string(waiting_) +
           " times some of them wait for a free block";
}

}  // namespace ssdtlm
