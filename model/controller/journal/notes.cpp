// SPDX-License-Identifier: Apache-2.0
#include "controller/journal/notes.h"

#include <algorithm>
#include <utility>

#include "controller/ftl/findings.h"
#include "controller/ftl/ftl.h"
#include "controller/ftl/ftl_check.h"

namespace ssdtlm {

Notes::Notes(const NotesSetup& setup)
    : in_(setup), journal_(setup.ftl.geometry().page_bytes, setup.ftl.shape().superblocks()) {}

Notes& notes_of(Ftl& ftl) {
    return dynamic_cast<Notes&>(ftl.notes());
}

const Notes& notes_of(const Ftl& ftl) {
    return dynamic_cast<const Notes&>(ftl.notes());
}

const SuperblockShape& Notes::shape() const {
    return in_.ftl.shape();
}

const NandGeometry& Notes::geometry() const {
    return in_.ftl.geometry();
}

void Notes::take(Lpa first, std::uint32_t units, bool lost) {
    add({in_.books.draw_number(), first, units, lost ? JournalNote::lost : JournalNote::deallocated});
    SSDTLM_CHECK(idx(in_.books.entries().note(journal_.open(), true)) < idx(kLost),
                 "more pages of the journal than the map can point to");
}

void Notes::add(const JournalEntry& entry) {
    if (journal_.add(entry) && due_) due_();
}

Ppa Notes::point_to(Lpa lpa, bool lost) {
    const Ppa old = in_.books.exchange(lpa, in_.books.entries().note(journal_.open(), lost));
    ++journal_.page(journal_.open()).live;
    // The newest copy, or the note of the unit before, keeps older copies from coming back until the new note is in
    // flash.
    if (in_.books.entries().is_copy(old)) {
        in_.books.invalidate(old);
        const SuperblockId b = shape().superblock_of(old);
        if (journal_.need(b)) in_.books.need(b);
    } else if (old != kUnmapped) {
        const Journal::Id id = in_.books.entries().page_of(old);
        if (id != Journal::kDetached && id != journal_.open() && journal_.need(id)) hold(id);
        drop(old);
    }
    return old;
}

void Notes::hold(Journal::Id id) {
    Journal::Page& p = journal_.page(id);
    ++p.holds;
    if (p.state == Journal::State::in_flight || p.state == Journal::State::durable)
        in_.books.need(shape().superblock_of(geometry().block_of(p.at)));
}

SuperblockId Notes::let_go_page(Journal::Id id) {
    Journal::Page& p = journal_.page(id);
    SSDTLM_CHECK(p.holds > 0, "a page of the journal is let go that nobody holds");
    --p.holds;
    if (p.state != Journal::State::in_flight && p.state != Journal::State::durable) return kNoSuperblock;
    const SuperblockId b = shape().superblock_of(geometry().block_of(p.at));
    journal_.forget_if_unused(id);
    return in_.books.let_go(b);
}

/// One entry of the map no longer points to this page.
void Notes::drop(Ppa note) {
    const Journal::Id id = in_.books.entries().page_of(note);
    if (id != Journal::kDetached) leave(id);
}

void Notes::leave(Journal::Id id) {
    Journal::Page& p = journal_.page(id);
    SSDTLM_CHECK(p.live > 0, "a page of the journal is left that nobody pointed to");
    if (--p.live == 0) is_of_no_use(id);
}

void Notes::is_of_no_use(Journal::Id id) {
    const Journal::Page& p = journal_.page(id);
    if (p.state != Journal::State::durable) return;  // it is written all the same: others wait for it
    for (std::uint32_t s = 0; s < geometry().units_per_page(); ++s) in_.books.invalidate(geometry().ppa_of(p.at, s));
    journal_.forget_if_unused(id);
}

__attribute__((noinline, cold)) void Notes::written_over(Ppa note) {
    const Journal::Id id = in_.books.entries().page_of(note);
    if (id == Journal::kDetached) return;
    hold(id);
    drop(note);
}

__attribute__((noinline, cold)) SuperblockId Notes::let_go(Ppa note) {
    const Journal::Id id = in_.books.entries().page_of(note);
    return id == Journal::kDetached ? kNoSuperblock : let_go_page(id);
}

/// Every page that is not in flash yet now needs the old copy or note, because one of them says that it is deallocated.
/// The old entry may itself be a note in such a page.
void Notes::hand_over(Ppa old) {
    const MapEntries& entries = in_.books.entries();
    const Journal::Id older = entries.is_note(old) ? entries.page_of(old) : Journal::kDetached;
    const bool is_copy = entries.is_copy(old);
    for (Journal::Id id = 1; id < journal_.ids() && (is_copy || older != Journal::kDetached); ++id) {
        Journal::Page& p = journal_.page(id);
        if (p.state == Journal::State::unused || p.state == Journal::State::durable || id == older) continue;
        if (is_copy) {
            p.needs.push_back(shape().superblock_of(old));
            in_.books.need(shape().superblock_of(old));
        } else {
            p.needs_pages.push_back(older);
            hold(older);
        }
    }
}

/// Only the flash of the block itself could say it, and that has failed: it is written at once.
void Notes::failed(SuperblockId b) {
    add({in_.books.draw_number(), Lpa{idx(b)}, 1, JournalNote::failed});
    point_to_failed(b);
    journal_.hurry();
    look_again();
}

/// Makes the failed superblock point to the entry noted last.
void Notes::point_to_failed(SuperblockId b) {
    const Journal::Id open = journal_.open();
    ++journal_.page(open).live;
    const auto [at, fresh] = failed_in_.try_emplace(idx(b), open);
    if (fresh) return;
    const Journal::Id older = std::exchange(at->second, open);
    if (journal_.need(older)) hold(older);
    leave(older);
}

bool Notes::takes_page(GroupId group) const {
    // With a mapping by blocks it has superblocks of its own; one free one is for a merge.
    if (in_.ftl.placement() != nullptr)
        return in_.blocks.open_block(group, BlockState::open_gc) != kNoSuperblock || in_.blocks.free_blocks(group) > 1;
    // Nothing is collected any more in a drive that is read-only: what there is may be used up.
    return in_.ftl.media().read_only ? in_.blocks.free_blocks(group) != 0 || in_.room.units(group) != 0
                                     : !in_.ftl.gc_hard(group);
}

bool Notes::group_for_page(GroupId& out, bool urgent) {
    if (urgent) {
        if (in_.blocks.free_blocks(out) != 0 || in_.room.units(out) != 0) return true;
        // The last free one of another group is for what is moved there.
        for (std::uint32_t i = 0; i < shape().groups(); ++i)
            if (in_.blocks.free_blocks(GroupId{i}) > in_.blocks.free_blocks(out)) out = GroupId{i};
        return in_.blocks.free_blocks(out) > 1;
    }
    if (__builtin_expect(in_.ftl.partitions().shares() != 1, 0)) return group_with_room(out);
    for (std::uint32_t i = 0; i < shape().groups(); ++i) {
        group_ = (group_ + 1) % shape().groups();
        out = GroupId{group_};
        if (takes_page(out)) return true;
    }
    return false;
}

/// What was deallocated in one partition gives no room in another. So each group takes its share. When all have theirs,
/// the group in which most was deallocated takes more. A group that has no block just now is waited for.
bool Notes::group_with_room(GroupId& out) {
    std::vector<std::uint32_t> pages(shape().groups());
    for (Journal::Id id = 1; id < journal_.ids(); ++id) {
        const Journal::Page& p = journal_.page(id);
        if (p.state == Journal::State::in_flight || p.state == Journal::State::durable)
            ++pages[idx(shape().group_of(p.at.plane))];
    }
    const std::uint32_t share = most_journal_pages(in_.ftl.config(), geometry());
    const bool all_have_it = !in_.ftl.media().read_only &&
                             std::all_of(pages.begin(), pages.end(), [share](std::uint32_t n) { return n >= share; });
    std::uint64_t fewest = ~std::uint64_t{0};
    for (std::uint32_t i = 1; i <= shape().groups(); ++i) {
        const GroupId group{(group_ + i) % shape().groups()};
        if (!takes_page(group) || (pages[idx(group)] >= share && !all_have_it && !in_.ftl.media().read_only)) continue;
        std::uint64_t valid = 0;
        for (std::uint32_t b = 0; b < shape().blocks_per_group() && all_have_it; ++b)
            valid += in_.blocks[SuperblockId{idx(group) * shape().blocks_per_group() + b}].valid;
        if (valid >= fewest) continue;
        fewest = valid;
        out = group;
    }
    if (fewest == ~std::uint64_t{0}) return false;
    group_ = idx(out);
    return true;
}

void Notes::gather_pages() {
    for (;;) {
        const Journal::Page& open = journal_.page(journal_.open());
        if (open.state != Journal::State::open) return;
        Journal::Id emptiest = Journal::kDetached;
        std::size_t fewest = journal_.entries_per_page() - open.entries.size() + 1;
        for (Journal::Id id = 1; id < journal_.ids(); ++id) {
            const Journal::Page& p = journal_.page(id);
            const std::size_t most_true = std::min<std::size_t>(p.live, p.entries.size());
            if (p.state != Journal::State::durable || !p.entries_known || most_true == 0 || most_true >= fewest)
                continue;
            fewest = most_true;
            emptiest = id;
        }
        if (emptiest == Journal::kDetached) return;
        renew_page(PageAddress{journal_.page(emptiest).at});
    }
}

PageAddress Notes::place_page(Journal::Id id, GroupId group) {
    const PageAddress a = in_.ftl.allocate_gc_page(group);
    journal_.place(id, a);
    for (std::uint32_t s = 0; s < geometry().units_per_page(); ++s) in_.books.validate(geometry().ppa_of(a, s));
    in_.blocks[shape().superblock_of(geometry().block_of(a))].superseded += journal_.page(id).holds;
    return a;
}

void Notes::page_programmed(Journal::Id id, std::vector<SuperblockId>& freed) {
    const Journal::Page& p = journal_.page(id);
    ++in_.counters.journal_pages;
    const auto free = [&freed](SuperblockId b) {
        if (b != kNoSuperblock) freed.push_back(b);
    };
    for (const SuperblockId b : p.needs) free(in_.books.let_go(b));
    for (const Journal::Id older : p.needs_pages) free(let_go_page(older));
    journal_.durable(id);
    in_.ftl.page_ended(p.at, PageEnd::programmed);
    if (p.live == 0) is_of_no_use(id);
}

void Notes::page_failed(Journal::Id id, std::vector<SuperblockId>& freed) {
    const Journal::Page& p = journal_.page(id);
    ++in_.counters.journal_pages;
    for (std::uint32_t s = 0; s < geometry().units_per_page(); ++s) in_.books.invalidate(geometry().ppa_of(p.at, s));
    const SuperblockId b = shape().superblock_of(geometry().block_of(p.at));
    for (std::uint32_t i = 0; i < p.holds; ++i)
        if (in_.books.let_go(b) != kNoSuperblock) freed.push_back(b);
    journal_.displace(id);
    in_.ftl.page_ended(p.at, PageEnd::failed);
}

bool Notes::must_be_written_for(SuperblockId b) const {
    for (Journal::Id id = 1; id < journal_.ids(); ++id) {
        const Journal::Page& p = journal_.page(id);
        if (p.state != Journal::State::open && p.state != Journal::State::full) continue;
        if (std::find(p.needs.begin(), p.needs.end(), b) != p.needs.end()) return true;
        for (const Journal::Id older : p.needs_pages) {
            const Journal::Page& o = journal_.page(older);
            const bool placed = o.state == Journal::State::in_flight || o.state == Journal::State::durable;
            if (placed && shape().superblock_of(geometry().block_of(o.at)) == b) return true;
        }
    }
    return false;
}

bool Notes::renew_page(const PageAddress& a) {
    const Journal::Id id = journal_.at(a);
    if (id == Journal::kDetached) return false;
    // The last entry of a unit is the one that counts.
    const Journal::Page& page = journal_.page(id);
    // A checkpoint named this page only by its place, so its entries are read here.
    std::vector<JournalEntry> entries =
        page.entries_known ? page.entries : Journal::decode(*in_.ftl.flash().content(a));
    std::sort(entries.begin(), entries.end(),
              [](const JournalEntry& x, const JournalEntry& y) { return x.number > y.number; });
    for (const JournalEntry& e : entries) {
        if (e.note == JournalNote::failed) {
            if (failed_in_.at(idx(e.first)) != id) continue;
            add(e);
            point_to_failed(SuperblockId{idx(e.first)});
            continue;
        }
        bool noted = false;
        for (std::uint32_t i = 0; i < e.units; ++i) {
            const Lpa lpa{idx(e.first) + i};
            if (in_.books.entry(lpa) != in_.books.entries().note(id, e.lost())) continue;
            if (!noted) {
                add(e);
                noted = true;
            }
            point_to(lpa, e.lost());
        }
    }
    return true;
}

std::uint64_t Notes::check(std::vector<std::uint32_t> pointed, Findings& found) const {
    for (const auto& [b, page] : failed_in_) {
        const BlockState state = in_.blocks[SuperblockId{b}].state;
        found.require(in_.blocks[SuperblockId{b}].bad &&
                          (state == BlockState::failed || state == BlockState::victim || state == BlockState::retired),
                      "state of a superblock that the journal says has failed,", b, static_cast<std::uint64_t>(state),
                      static_cast<std::uint64_t>(BlockState::failed));
        if (page < pointed.size()) ++pointed[page];
    }
    std::uint64_t of_journal = 0;
    for (Journal::Id id = 1; id < journal_.ids(); ++id) {
        const Journal::Page& p = journal_.page(id);
        found.require(p.live == pointed[id], "units that point to page of the journal", id, p.live, pointed[id]);
        const bool placed = p.state == Journal::State::in_flight || p.state == Journal::State::durable;
        const bool is_used = p.state == Journal::State::in_flight || (placed && p.live != 0);
        for (std::uint32_t s = 0; s < geometry().units_per_page() && is_used; ++s, ++of_journal)
            found.require(in_.books.is_valid(geometry().ppa_of(p.at, s)), "valid unit of page of the journal", id, 0,
                          1);
    }
    return of_journal;
}

}  // namespace ssdtlm
