// SPDX-License-Identifier: Apache-2.0
#include "controller/journal/journal_writer.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

JournalWriter::JournalWriter(const FirmwareConfig& costs, const Peers& peers)
    : costs_(costs), geometry_(peers.ftl.geometry()), peers_(peers), notes_(notes_of(peers.ftl)), jobs_(peers.jobs) {
    notes_.on_due([this] { due(); });
}

std::uint64_t JournalWriter::demand() {
    const Journal& journal = notes_.journal();
    const std::uint64_t last = journal.last_pending();
    if (last > demanded_ && journal.unplaced() != 0) {
        demanded_ = last;
        begin(kAnyGroup);
    }
    return last;
}

void JournalWriter::release_when_durable(std::uint32_t command) {
    const std::uint64_t demanded = demand();
    if (notes_.journal().is_durable(demanded)) return peers_.wait_queues.release(command);
    if (given_up_) return peers_.wait_queues.release(command, CommandStatus::write_fault);
    SSDTLM_CHECK(demanded < std::uint64_t{1} << 32, "more pages of the journal than can be waited for");
    peers_.wait_queues.wait(WaitQueues::For::journal,
                            Attempt::to<&JournalWriter::try_release>(this, demanded << 32 | command));
}

bool JournalWriter::try_release(std::uint64_t what) {
    if (!is_durable(what >> 32)) return false;
    const auto command = static_cast<std::uint32_t>(what);
    if (is_lost(what >> 32))
        peers_.wait_queues.release(command, CommandStatus::write_fault);
    else
        peers_.wait_queues.release(command);
    return true;
}

void JournalWriter::demand_for(SuperblockId victim) {
    if (peers_.ftl.media().read_only || !notes_.must_be_written_for(victim)) return;
    const Journal& journal = notes_.journal();
    demanded_ = std::max(demanded_, journal.last_pending());
    // Where cores take no time a page is placed within begin(), which may gather entries into another one: that one is
    // not asked for here.
    for (std::uint64_t more = std::max<std::uint64_t>(journal.unplaced(), urgent_) - urgent_; more != 0; --more) {
        ++urgent_;
        begin(idx(peers_.ftl.shape().group_of(victim)));
    }
}

/// Within a note being taken: the core is told afterwards.
void JournalWriter::due() {
    ++issuing_;
    peers_.agenda.post(peers_.agenda.now(), Then::to<&JournalWriter::begin_due>(this));
}

void JournalWriter::begin_due() {
    --issuing_;
    begin(kAnyGroup);
}

void JournalWriter::begin(std::uint64_t group) {
    ++issuing_;
    peers_.cores.run(group == kAnyGroup ? 0 : group, costs_.flash_issue, CoreStep::journal_issue,
                     Then::to<&JournalWriter::issue>(this, group));
}

void JournalWriter::issue(std::uint64_t group) {
    --issuing_;
    if (group != kAnyGroup) --urgent_;
    if (group != kAnyGroup && !peers_.ftl.media().read_only) {
        if (place_at_once(GroupId{static_cast<std::uint32_t>(group)})) peers_.wait_queues.pages_changed();
        return;
    }
    place();
    peers_.wait_queues.pages_changed();
}

/// Places everything that is to be written, as far as groups take it. A read-only drive gives up what finds no page.
void JournalWriter::place() {
    waits_for_block_ = false;
    while (!given_up_ && next() != Journal::kDetached) {
        GroupId group{};
        if (notes_.group_for_page(group)) {
            place_one(group);
            continue;
        }
        if (peers_.ftl.media().read_only) {
            given_up_ = true;
            peers_.gc.give_up_erases();
            return peers_.wait_queues.settle();
        }
        waits_for_block_ = true;
        peers_.gc.check_all();
        return;
    }
}

Journal::Id JournalWriter::next() const {
    const Journal& journal = notes_.journal();
    return journal.next(journal.last_pending() <= demanded_);
}

/// Places the page in this group, whose erase waits for it. Losses of power may have left the group without a page;
/// then another group takes it.
bool JournalWriter::place_at_once(GroupId group) {
    if (next() == Journal::kDetached) return false;
    if (notes_.group_for_page(group, true)) return place_one(group);
    peers_.ftl.refuse_writes();
    place();
    return true;
}

bool JournalWriter::place_one(GroupId group) {
    Journal::Id id = next();
    if (id == Journal::kDetached) return false;
    if (notes_.journal().page(id).state == Journal::State::open) {
        notes_.gather_pages();
        id = next();
    }
    Job& job = jobs_.acquire();
    job.page = id;
    ++programs_;
    submit(job, group);
    return true;
}

void JournalWriter::submit(Job& job, GroupId group) {
    const PageAddress a = notes_.place_page(job.page, group);
    PageRecord record = peers_.ftl.draw_record(a, PageKind::journal);
    record.content = &notes_.journal().page(job.page).content;
    job.by = this;
    job.formed = job.core_start = job.core_end = job.map_at = peers_.agenda.now();
    peers_.writer.set_up(job, {a, FlashClass::gc_write, FlashCause::journal, record}, CoreStep::journal_done,
                         Then::to<&JournalWriter::program_done>(this, job));
    peers_.writer.add_whole(job);
    peers_.writer.hand_over();
    peers_.gc.check(group);
}

void JournalWriter::program_done(Job& job) {
    const GroupId group = peers_.ftl.shape().group_of(job.txn.address.plane);
    const bool ok = job.txn.status.result == FlashResult::ok;
    freed_.clear();
    if (ok)
        notes_.page_programmed(job.page, freed_);
    else
        notes_.page_failed(job.page, freed_);
    --programs_;
    for (const SuperblockId b : freed_) peers_.gc.let_go(b);
    peers_.gc.check(group);
    if (!ok) {
        // As for other failed programs the group's GC superblock has room, but where losses of power have used it up;
        // what failed need not be moved.
        jobs_.release(job);
        if (peers_.ftl.media().read_only)
            place();
        else
            place_at_once(group);
        return peers_.wait_queues.pages_changed();
    }
    peers_.wait_queues.durable(&job);
    jobs_.release(job);
    peers_.wait_queues.settle();
}

void JournalWriter::check_waiters() const {
    if (given_up_) return;
    const auto require = [](bool ok, const char* what) {
        if (!ok) throw CheckFailed(std::string("journal: ") + what);
    };
    require(next() == Journal::kDetached || issuing_ != 0 || waits_for_block_,
            "a page is to be written, and neither does a core work on it nor does it wait for a free block");
    const bool awaited = peers_.wait_queues.count_for_page() != 0 ||
                         peers_.wait_queues.anybody(WaitQueues::For::flush) ||
                         peers_.wait_queues.anybody(WaitQueues::For::journal);
    require(!waits_for_block_ || !awaited || peers_.gc.active() != 0,
            "waits for a free block, and no group is collected");
}

std::string JournalWriter::dump() const {
    return std::string("journal: ") + (given_up_ ? "given up, " : "") + std::to_string(notes_.journal().unplaced()) +
           " pages to be written or open, " + std::to_string(programs_) + " being written" +
           (waits_for_block_ ? ", waiting for a free block\n" : "\n");
}

}  // namespace ssdtlm
