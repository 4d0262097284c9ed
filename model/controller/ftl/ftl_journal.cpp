// SPDX-License-Identifier: Apache-2.0
// What was deallocated or lost: from the map to the journal, and when a superblock may go that the journal needs.
#include <algorithm>
#include <utility>

#include "controller/ftl/ftl.h"
#include "controller/ftl/ftl_check.h"

namespace ssdtlm {

bool Ftl::is_deallocated(Ppa p) const {
    return !is_copy(p) && (p == kUnmapped || (!is_lost_note(p) && page_of_note(p) != Journal::kDetached));
}

std::uint32_t Ftl::trim(Lpa first, std::uint32_t units) {
    const auto is_gone = [&](std::uint32_t i) { return is_deallocated(map_.lookup(Lpa{idx(first) + i})); };
    std::uint32_t from = 0, end = units;
    while (from != end && is_gone(from)) ++from;
    while (end != from && is_gone(end - 1)) --end;
    if (from == end) return 0;
    // One entry for all: what was never written in between had no copy either.
    take_note(Lpa{idx(first) + from}, end - from, false);
    const std::uint64_t before = mapped_units_;
    for (std::uint32_t i = from; i != end; ++i) {
        const Lpa lpa{idx(first) + i};
        if (is_gone(i)) continue;
        const Ppa old = point_to_note(lpa, false);
        if (is_copy(old) || is_lost_note(old)) --mapped_units_;
        if (!is_copy(old) && is_lost_note(old)) --lost_units_;
    }
    counters_.trims += before - mapped_units_;
    return static_cast<std::uint32_t>(before - mapped_units_);
}

void Ftl::take_note(Lpa first, std::uint32_t units, bool lost) {
    add_entry({++last_number_, first, units, lost ? JournalNote::lost : JournalNote::deallocated});
    SSDTLM_CHECK(idx(note_in(journal_.open(), true)) < idx(kLost),
                 "more pages of the journal than the map can point to");
}

void Ftl::add_entry(const JournalEntry& entry) {
    if (journal_.add(entry) && journal_due_) journal_due_();
}

/// To the entry noted last. Returns what the map held.
Ppa Ftl::point_to_note(Lpa lpa, bool lost) {
    const Ppa old = map_.exchange(lpa, note_in(journal_.open(), lost));
    ++journal_.page(journal_.open()).live;
    // The newest copy, or what was noted of the unit before, keeps older copies from coming back until the note is in
    // flash.
    if (is_copy(old)) {
        invalidate(old);
        const SuperblockId b = shape_.superblock_of(old);
        if (journal_.need(b)) ++blocks_[b].superseded;
    } else if (old != kUnmapped) {
        const Journal::Id id = page_of_note(old);
        if (id != Journal::kDetached && id != journal_.open() && journal_.need(id)) hold_page(id);
        drop_note(old);
    }
    return old;
}

void Ftl::hold_page(Journal::Id id) {
    Journal::Page& p = journal_.page(id);
    ++p.holds;
    if (p.state == Journal::State::in_flight || p.state == Journal::State::durable)
        ++blocks_[shape_.superblock_of(geometry_.block_of(p.at))].superseded;
}

SuperblockId Ftl::let_go_page(Journal::Id id) {
    Journal::Page& p = journal_.page(id);
    SSDTLM_CHECK(p.holds > 0, "a page of the journal is let go that nobody holds");
    --p.holds;
    if (p.state != Journal::State::in_flight && p.state != Journal::State::durable) return kNoSuperblock;
    const SuperblockId b = shape_.superblock_of(geometry_.block_of(p.at));
    journal_.forget_if_unused(id);
    return let_go_superblock(b);
}

/// The map points to this page no more, once.
void Ftl::drop_note(Ppa note) {
    const Journal::Id id = page_of_note(note);
    if (id != Journal::kDetached) leave_page(id);
}

void Ftl::leave_page(Journal::Id id) {
    Journal::Page& p = journal_.page(id);
    SSDTLM_CHECK(p.live > 0, "a page of the journal is left that nobody pointed to");
    if (--p.live == 0) journal_page_is_of_no_use(id);
}

void Ftl::journal_page_is_of_no_use(Journal::Id id) {
    const Journal::Page& p = journal_.page(id);
    if (p.state != Journal::State::durable) return;  // it is written all the same: others wait for it
    for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s) invalidate(geometry_.ppa_of(p.at, s));
    journal_.forget_if_unused(id);
}

/// A copy of the unit has its place: until it is programmed the note is needed.
__attribute__((noinline, cold)) void Ftl::write_over_note(Ppa note) {
    if (is_lost_note(note))
        --lost_units_;
    else
        ++mapped_units_;
    const Journal::Id id = page_of_note(note);
    if (id == Journal::kDetached) return;
    hold_page(id);
    drop_note(note);
}

__attribute__((noinline, cold)) SuperblockId Ftl::let_go_note(Ppa note) {
    const Journal::Id id = page_of_note(note);
    return id == Journal::kDetached ? kNoSuperblock : let_go_page(id);
}

/// To each page that is not in flash yet: one of them says it, unless it is there. What was in the place of the copy
/// may be such a record itself.
SuperblockId Ftl::hand_over_copy(Ppa old) {
    const Journal::Id older = is_copy(old) || old == kUnmapped ? Journal::kDetached : page_of_note(old);
    for (Journal::Id id = 1; id < journal_.ids() && (is_copy(old) || older != Journal::kDetached); ++id) {
        Journal::Page& p = journal_.page(id);
        if (p.state == Journal::State::unused || p.state == Journal::State::durable || id == older) continue;
        if (is_copy(old)) {
            p.needs.push_back(shape_.superblock_of(old));
            hold_copy(old);
        } else {
            p.needs_pages.push_back(older);
            hold_page(older);
        }
    }
    return let_go_copy(old);
}

/// Only the flash of the block itself could say it, and that has failed: it is written at once.
void Ftl::note_failed(SuperblockId b) {
    add_entry({++last_number_, Lpa{idx(b)}, 1, JournalNote::failed});
    point_to_failed(b);
    journal_.hurry();
    if (journal_due_) journal_due_();
}

/// To the entry noted last.
void Ftl::point_to_failed(SuperblockId b) {
    const Journal::Id open = journal_.open();
    ++journal_.page(open).live;
    const auto [at, fresh] = failed_in_.try_emplace(idx(b), open);
    if (fresh) return;
    const Journal::Id older = std::exchange(at->second, open);
    if (journal_.need(older)) hold_page(older);
    leave_page(older);
}

bool Ftl::takes_journal(GroupId group) const {
    // With a mapping by blocks it has superblocks of its own; one free one is for a merge.
    if (placement_ != nullptr)
        return blocks_.open_block(group, BlockState::open_gc) != kNoSuperblock || blocks_.free_blocks(group) > 1;
    // Nothing is collected any more in a drive that is read-only: what there is may be used up.
    return media_.read_only ? blocks_.free_blocks(group) != 0 || open_room_.units(group) != 0 : !gc_hard(group);
}

bool Ftl::group_for_journal(GroupId& out, bool urgent) {
    if (urgent) {
        if (blocks_.free_blocks(out) != 0 || open_room_.units(out) != 0) return true;
        // The last free one of another group is for what is moved there.
        for (std::uint32_t i = 0; i < shape_.groups(); ++i)
            if (blocks_.free_blocks(GroupId{i}) > blocks_.free_blocks(out)) out = GroupId{i};
        return blocks_.free_blocks(out) > 1;
    }
    if (__builtin_expect(lanes_.shares() != 1, 0)) return group_with_room_for_journal(out);
    for (std::uint32_t i = 0; i < shape_.groups(); ++i) {
        journal_group_ = (journal_group_ + 1) % shape_.groups();
        out = GroupId{journal_group_};
        if (takes_journal(out)) return true;
    }
    return false;
}

/// What was deallocated in one lane gives no room in another. So each group takes its share; when all have it, the one
/// where most was deallocated takes more. One that has no block just now is waited for.
bool Ftl::group_with_room_for_journal(GroupId& out) {
    std::vector<std::uint32_t> pages(shape_.groups());
    for (Journal::Id id = 1; id < journal_.ids(); ++id) {
        const Journal::Page& p = journal_.page(id);
        if (p.state == Journal::State::in_flight || p.state == Journal::State::durable)
            ++pages[idx(shape_.group_of(p.at.plane))];
    }
    const std::uint32_t share = most_journal_pages(config_, geometry_);
    const bool all_have_it =
        !media_.read_only && std::all_of(pages.begin(), pages.end(), [share](std::uint32_t n) { return n >= share; });
    std::uint64_t fewest = ~std::uint64_t{0};
    for (std::uint32_t i = 1; i <= shape_.groups(); ++i) {
        const GroupId group{(journal_group_ + i) % shape_.groups()};
        if (!takes_journal(group) || (pages[idx(group)] >= share && !all_have_it && !media_.read_only)) continue;
        std::uint64_t valid = 0;
        for (std::uint32_t b = 0; b < shape_.blocks_per_group() && all_have_it; ++b)
            valid += blocks_[SuperblockId{idx(group) * shape_.blocks_per_group() + b}].valid;
        if (valid >= fewest) continue;
        fewest = valid;
        out = group;
    }
    if (fewest == ~std::uint64_t{0}) return false;
    journal_group_ = idx(out);
    return true;
}

void Ftl::gather_journal_pages() {
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
        renew_journal_page(PageAddress{journal_.page(emptiest).at});
    }
}

PageAddress Ftl::place_journal_page(Journal::Id id, GroupId group) {
    const PageAddress a = allocate_gc_page(group);
    journal_.place(id, a);
    for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s) validate(geometry_.ppa_of(a, s));
    blocks_[shape_.superblock_of(geometry_.block_of(a))].superseded += journal_.page(id).holds;
    return a;
}

void Ftl::journal_page_programmed(Journal::Id id, std::vector<SuperblockId>& freed) {
    const Journal::Page& p = journal_.page(id);
    ++counters_.journal_pages;
    const auto let_go = [&freed](SuperblockId b) {
        if (b != kNoSuperblock) freed.push_back(b);
    };
    for (const SuperblockId b : p.needs) let_go(let_go_superblock(b));
    for (const Journal::Id older : p.needs_pages) let_go(let_go_page(older));
    journal_.durable(id);
    page_programmed(p.at);
    if (p.live == 0) journal_page_is_of_no_use(id);
}

void Ftl::journal_page_failed(Journal::Id id, std::vector<SuperblockId>& freed) {
    const Journal::Page& p = journal_.page(id);
    ++counters_.journal_pages;
    for (std::uint32_t s = 0; s < geometry_.units_per_page(); ++s) invalidate(geometry_.ppa_of(p.at, s));
    const SuperblockId b = shape_.superblock_of(geometry_.block_of(p.at));
    for (std::uint32_t i = 0; i < p.holds; ++i)
        if (let_go_superblock(b) != kNoSuperblock) freed.push_back(b);
    journal_.displace(id);
    close_failed(p.at);
}

bool Ftl::journal_must_be_written_for(SuperblockId b) const {
    for (Journal::Id id = 1; id < journal_.ids(); ++id) {
        const Journal::Page& p = journal_.page(id);
        if (p.state != Journal::State::open && p.state != Journal::State::full) continue;
        if (std::find(p.needs.begin(), p.needs.end(), b) != p.needs.end()) return true;
        for (const Journal::Id older : p.needs_pages) {
            const Journal::Page& o = journal_.page(older);
            const bool placed = o.state == Journal::State::in_flight || o.state == Journal::State::durable;
            if (placed && shape_.superblock_of(geometry_.block_of(o.at)) == b) return true;
        }
    }
    return false;
}

bool Ftl::renew_journal_page(const PageAddress& a) {
    const Journal::Id id = journal_.at(a);
    if (id == Journal::kDetached) return false;
    // The last entry of a unit is the one that counts.
    const Journal::Page& page = journal_.page(id);
    // Of a page that a checkpoint has named only its place is known; it has been read now.
    std::vector<JournalEntry> entries = page.entries_known ? page.entries : Journal::decode(*spare_.content(a));
    std::sort(entries.begin(), entries.end(),
              [](const JournalEntry& x, const JournalEntry& y) { return x.number > y.number; });
    for (const JournalEntry& e : entries) {
        if (e.note == JournalNote::failed) {
            if (failed_in_.at(idx(e.first)) != id) continue;
            add_entry(e);
            point_to_failed(SuperblockId{idx(e.first)});
            continue;
        }
        bool noted = false;
        for (std::uint32_t i = 0; i < e.units; ++i) {
            const Lpa lpa{idx(e.first) + i};
            if (map_.lookup(lpa) != note_in(id, e.lost())) continue;
            if (!noted) {
                add_entry(e);
                noted = true;
            }
            point_to_note(lpa, e.lost());
        }
    }
    return true;
}

}  // namespace ssdtlm
