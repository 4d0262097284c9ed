// SPDX-License-Identifier: Apache-2.0
// What the journal on the flash says after a loss of power, for whoever rebuilds the map (../mount/recovery.h): entries
// of its pages in the order of their numbers, and the pages that a checkpoint has named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "controller/ftl/image.h"
#include "controller/journal/notes.h"

namespace ssdtlm {

class FoundNotes {
public:
    /// Both must outlive it. Nothing was noted in this FTL yet.
    FoundNotes(Ftl& ftl, const FtlImage& image);

    // --- What a checkpoint says, before pages are added ---
    /// Pages that its map names, and superblocks that have failed. `is_intact`: the page is on the flash still. What
    /// was said in the others stands in pages that were written later.
    void take_checkpoint(const std::vector<PageAddress>& pages,
                         const std::vector<std::pair<SuperblockId, std::uint32_t>>& failed,
                         const std::function<bool(const PageAddress&)>& is_intact);
    /// The map's entry for a note in the checkpoint.
    Ppa entry_of(Ppa note) const {
        return image_.entries.note(id_of_.at(image_.entries.page_of(note)), image_.entries.says_lost(note));
    }

    // --- Pages that were read ---
    void add_page(const PageAddress& a, const PageContent& content);
    /// All pages have been added.
    void put_in_order();
    /// Changes the map as all entries say whose numbers are below. `checkpoint`: its number. `newer`: is called for
    /// each unit of which something was said since. Returns the number of entries.
    std::uint64_t take(std::uint64_t below, std::uint64_t checkpoint, const std::function<void(Lpa)>& newer);

    // --- What follows from it ---
    const std::unordered_map<std::uint32_t, Journal::Id>& failed_in() const { return notes_.failed_in; }
    /// Throws CheckFailed if nothing says any more why a superblock has failed.
    void require_failures() const;
    /// The map has this note: its page is needed.
    void count(Ppa note);
    /// All units are counted. `in_use`: is called for each unit of the flash that holds notes that are needed.
    void end_count(const std::function<void(Ppa)>& in_use);

private:
    struct Entry {
        JournalEntry entry;
        Journal::Id page;
    };
    void take_entry(const Entry& e, std::uint64_t checkpoint, const std::function<void(Lpa)>& newer);

    const Ftl& ftl_;
    const FtlImage& image_;
    const Notes::Image notes_;
    std::vector<Journal::Id> id_of_{Journal::kDetached};  // of a page that the checkpoint names
    std::vector<bool> in_checkpoint_;                     // pages, by Id, that it names
    std::vector<Entry> entries_;                          // by number
    std::size_t next_ = 0;
};

}  // namespace ssdtlm
