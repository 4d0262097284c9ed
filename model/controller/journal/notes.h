// SPDX-License-Identifier: Apache-2.0
// Notes in the map for units that were deallocated or lost (../ftl/unit_notes.h); they name pages of the journal. This
// class also decides when a superblock that the journal needs may be erased.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/ftl/books.h"
#include "controller/ftl/ftl_counters.h"
#include "controller/ftl/unit_notes.h"
#include "controller/ftl/victims/open_room.h"
#include "controller/journal/journal.h"

namespace ssdtlm {

class Notes final : public UnitNotes {
public:
    explicit Notes(const NotesSetup& setup);

    const Journal& journal() const { return journal_; }
    /// `callback` is called when there is something new for the journal to write: a full page, or a superblock that has
    /// failed.
    void on_due(std::function<void()> callback) { due_ = std::move(callback); }
    // --- What the core says ---
    void take(Lpa first, std::uint32_t units, bool lost) override;
    Ppa point_to(Lpa lpa, bool lost) override;
    void written_over(Ppa note) override;
    SuperblockId let_go(Ppa note) override;
    void hand_over(Ppa old) override;
    void failed(SuperblockId b) override;
    void look_again() const override {
        if (due_) due_();
    }
    bool renew_page(const PageAddress& a) override;
    std::uint32_t end_of_pages() const override { return journal_.ids(); }
    bool says_failed(SuperblockId b) const override { return failed_in_.count(idx(b)) != 0; }
    std::uint64_t check(std::vector<std::uint32_t> pointed, Findings& found) const override;
    void state(Snapshot& s) override;

    // --- Pages ---
    /// Finds a group that may take a page of the journal and still collect; for a read-only drive, one with room.
    /// `urgent`: it returns the group `out` if that has any page, else one with two free superblocks. False: there is
    /// none.
    bool group_for_page(GroupId& out, bool urgent = false);
    /// Takes a page for the journal in this group, as for moved data. Precondition: journal().next() has returned this
    /// page.
    PageAddress place_page(Journal::Id id, GroupId group);
    /// Called before the open page is written partly filled. Moves what is still true of nearly empty pages into it.
    void gather_pages();
    /// The program has ended. Adds to `freed` the superblocks that this no longer keeps from being erased.
    void page_programmed(Journal::Id id, std::vector<SuperblockId>& freed);
    /// Called in place of page_programmed() when the program failed: journal().next() returns the page again.
    void page_failed(Journal::Id id, std::vector<SuperblockId>& freed);
    /// An erase of this superblock waits for a page of the journal that is not being written yet.
    bool must_be_written_for(SuperblockId b) const;

    /// For each superblock that has failed, the page of the journal that says so.
    const std::unordered_map<std::uint32_t, Journal::Id>& failed_in() const { return failed_in_; }
    struct Image {
        Journal& journal;
        std::unordered_map<std::uint32_t, Journal::Id>& failed_in;
    };
    Image image() { return {journal_, failed_in_}; }

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
    // These are in notes_state.cpp.
    void check_read(Snapshot& s);
    void check_live(Snapshot& s) const;

    const NotesSetup in_;
    Journal journal_;
    std::uint32_t group_ = 0;  // which took a page of it last
    std::function<void()> due_;
    std::unordered_map<std::uint32_t, Journal::Id> failed_in_;
};

/// The notes of an FTL are the journal's.
Notes& notes_of(Ftl& ftl);
const Notes& notes_of(const Ftl& ftl);

}  // namespace ssdtlm
