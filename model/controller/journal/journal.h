// SPDX-License-Identifier: Apache-2.0
// The facts that the flash does not tell by itself: which units were deallocated or lost, and which superblocks have
// failed. They are entries in pages, each written once. For a unit without a copy, the map holds the journal page that
// says so. A page is needed as long as the map, or a failed superblock, points to it. This class keeps the tables; Ftl
// and JournalWriter decide when and where a page is written.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/address/geometry.h"
#include "common/snapshot/snapshot.h"
#include "controller/ftl/mapping/map_entry.h"
#include "controller/ftl/superblock.h"
#include "controller/ftl/unit_notes.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

enum class JournalNote : std::uint8_t {
    deallocated,
    lost,   ///< cannot be read
    failed  ///< no units but a superblock, which is not to be used any more
};

/// Neighbouring units that had no copy when `number` was drawn. Copies with a lower number do not count; those with a
/// higher one do.
struct JournalEntry {
    std::uint64_t number = 0;
    Lpa first{};  ///< failed: number of the superblock
    std::uint32_t units = 0;
    JournalNote note = JournalNote::deallocated;
    bool lost() const { return note == JournalNote::lost; }
};

class Journal {
public:
    using Id = NotePage;
    static constexpr Id kDetached = kDetachedNote;
    static constexpr std::uint32_t kEntryBytes = kNoteBytes;

    enum class State : std::uint8_t { unused, open, full, in_flight, durable };
    struct Page {
        State state = State::unused;
        std::uint32_t live = 0;     ///< units for which the map points to it, and superblocks that it says have failed
        std::uint32_t holds = 0;    ///< newer copies of its units that are being programmed, and pages that need it
        std::uint64_t turn = 0;     ///< pages are numbered as they are opened, from 1
        PageAddress at;             ///< in flight and durable
        bool hurries = false;       ///< is to be written though it is open
        bool entries_known = true;  ///< else they are in flash only
        std::vector<JournalEntry> entries;
        // Not erased until this page is durable:
        std::vector<SuperblockId> needs;  ///< each counts in BlockRecord::superseded
        std::vector<Id> needs_pages;      ///< each counts in their `holds`
        PageContent content;              ///< in flight
    };

    Journal(std::uint32_t page_bytes, std::uint32_t superblocks)
        : per_page_(page_bytes / kEntryBytes), pages_(1), is_needed_(superblocks) {}

    // --- Taking note ---
    /// Adds an entry to the open page. If none is open, one is opened. True: the page is full now, and waits to be
    /// written.
    bool add(const JournalEntry& entry);
    /// The page that the last add() went to.
    Id open() const { return open_; }
    /// The open page is to be written now.
    void hurry() { pages_[open_].hurries = true; }
    /// The open page needs this superblock's contents as they are. True: it did not know that before.
    bool need(SuperblockId b);
    /// The open page needs this older page. True: it was not told of the same page just before.
    bool need(Id page);
    std::uint32_t entries_per_page() const { return per_page_; }
    Page& page(Id id) { return pages_[id]; }
    const Page& page(Id id) const { return pages_[id]; }
    Id ids() const { return static_cast<Id>(pages_.size()); }

    // --- Being written ---
    /// The next page to be written: a full one, or the open one if it hurries or `open_too`. kDetached: there is none.
    Id next(bool open_too) const;
    /// The page is not open any more, and is written to `at`.
    void place(Id id, const PageAddress& at);
    /// The page's program has failed. It is the next to be written.
    void displace(Id id);
    void durable(Id id);
    /// Forgets a durable page that nobody points to or waits for any more.
    void forget_if_unused(Id id);
    /// The durable page at this place; kDetached: there is none.
    Id at(const PageAddress& a) const;

    // --- Who waits for it ---
    /// Turn of the newest page that has entries and is not durable yet; 0: there is none.
    std::uint64_t last_pending() const { return pending_.empty() ? 0 : *pending_.rbegin(); }
    /// True: all pages up to this turn are in flash.
    bool is_durable(std::uint64_t turn) const { return pending_.empty() || *pending_.begin() > turn; }
    /// Pages that have no place yet: full ones and the open one.
    std::size_t unplaced() const { return full_.size() + (open_is_open() ? 1 : 0); }
    bool any_full() const { return !full_.empty(); }

    // --- After the power was off ---
    static std::vector<JournalEntry> decode(const PageContent& content);
    /// Adds a page that was found in flash. The caller counts its live units.
    Id found(const PageAddress& at, std::vector<JournalEntry> entries);
    /// Adds a page that a checkpoint names and that was not read.
    Id found(const PageAddress& at);
    /// Precondition (checked): no page of the journal is being written.
    void state(Snapshot& s);

private:
    void check_read(Snapshot& s) const;
    bool open_is_open() const { return open_ != kDetached && pages_[open_].state == State::open; }
    Id take();
    static PageContent encode(const std::vector<JournalEntry>& entries);
    static std::uint64_t key(const PageAddress& a) {
        return std::uint64_t{idx(a.plane)} << 48 | std::uint64_t{a.block} << 16 | a.page;
    }

    const std::uint32_t per_page_;
    std::deque<Page> pages_;  // by Id; grows only: references stay
    std::vector<Id> unused_;
    Id open_ = kDetached;
    std::vector<bool> is_needed_;           // by the open page, of superblocks:
    std::vector<SuperblockId> all_needed_;  // these
    std::deque<Id> full_;
    std::set<std::uint64_t> pending_;
    std::uint64_t turns_ = 0;
    std::unordered_map<std::uint64_t, Id> by_place_;  // durable ones
};

}  // namespace ssdtlm
