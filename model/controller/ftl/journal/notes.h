// SPDX-License-Identifier: Apache-2.0
// What was deallocated or lost: notes in the map, which name pages of the journal, and when a superblock may go that
// the journal needs.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/ftl/books.h"
#include "controller/ftl/ftl_counters.h"
#include "controller/ftl/gc/open_room.h"
#include "controller/ftl/journal/journal.h"

namespace ssdtlm {

class Ftl;

class Notes {
public:
    /// All must outlive it.
    struct Peers {
        Ftl& ftl;
        Books& books;
        BlockManager& blocks;
        FtlCounters& counters;
        const OpenRoom& room;
    };
    explicit Notes(const Peers& peers);

    const Journal& journal() const { return journal_; }
    /// Called when something of the journal is to be written that was not before: a full page, or that a superblock has
    /// failed.
    void on_due(std::function<void()> callback) { due_ = std::move(callback); }
    /// The drive has become read-only: pages need not wait for collections any more.
    void look_again() const {
        if (due_) due_();
    }

    // --- Entries ---
    /// One entry for all these units.
    void take(Lpa first, std::uint32_t units, bool lost);
    /// The map says of this unit, which the entry taken last names, that it has no copy. Returns the entry of the map
    /// that was there.
    Ppa point_to(Lpa lpa, bool lost);
    /// A copy of the unit has its place: until it is programmed the note is needed.
    void written_over(Ppa note);
    /// That copy is programmed. The superblock that may be erased now, as far as this goes; kNoSuperblock: none.
    SuperblockId let_go(Ppa note);
    /// The copy or note stays until each page that is not in flash yet is there.
    void hand_over(Ppa old);
    /// The superblock has failed: that is written at once.
    void failed(SuperblockId b);

    // --- Pages ---
    /// A group that may take a page of the journal and still collect; of a read-only drive one with room. `urgent`:
    /// `out` if it has any page, else one with two free superblocks. False: none.
    bool group_for_page(GroupId& out, bool urgent = false);
    /// Like a moved page, into this group. Precondition: journal().next() has said this page.
    PageAddress place_page(Journal::Id id, GroupId group);
    /// Before the open page is written partly filled: it takes what is still true of pages that are nearly empty.
    void gather_pages();
    /// The program is finished. Adds the superblocks that may be erased now, as far as this goes.
    void page_programmed(Journal::Id id, std::vector<SuperblockId>& freed);
    /// Instead of it: journal().next() says it again.
    void page_failed(Journal::Id id, std::vector<SuperblockId>& freed);
    /// An erase of this superblock waits for a page of the journal that is not being written yet.
    bool must_be_written_for(SuperblockId b) const;
    /// GC comes across a page: what is still true of it is noted again. False: it is no page of the journal that is of
    /// use.
    bool renew_page(const PageAddress& a);

    /// Superblocks that have failed: the page of the journal that says so.
    const std::unordered_map<std::uint32_t, Journal::Id>& failed_in() const { return failed_in_; }
    struct Image {
        Journal& journal;
        std::uint32_t& journal_group;
        std::unordered_map<std::uint32_t, Journal::Id>& failed_in;
    };
    Image image() { return {journal_, group_, failed_in_}; }

private:
    const SuperblockShape& shape() const;
    const NandGeometry& geometry() const;
    void add(const JournalEntry& entry);
    void hold(Journal::Id id);
    SuperblockId let_go_page(Journal::Id id);
    void drop(Ppa note);
    void leave(Journal::Id id);
    void is_of_no_use(Journal::Id id);
    void point_to_failed(SuperblockId b);
    bool takes_page(GroupId group) const;
    bool group_with_room(GroupId& out);

    const Peers in_;
    Journal journal_;
    std::uint32_t group_ = 0;  // which took a page of it last
    std::function<void()> due_;
    std::unordered_map<std::uint32_t, Journal::Id> failed_in_;
};

}  // namespace ssdtlm
