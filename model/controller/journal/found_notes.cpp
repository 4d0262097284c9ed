// SPDX-License-Identifier: Apache-2.0
#include "controller/journal/found_notes.h"

#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

FoundNotes::FoundNotes(Ftl& ftl, const FtlImage& image) : ftl_(ftl), image_(image), notes_(notes_of(ftl).image()) {}

void FoundNotes::take_checkpoint(const std::vector<PageAddress>& pages,
                                 const std::vector<std::pair<SuperblockId, std::uint32_t>>& failed,
                                 const std::function<bool(const PageAddress&)>& is_intact) {
    for (const PageAddress& a : pages) id_of_.push_back(is_intact(a) ? notes_.journal.found(a) : Journal::kDetached);
    in_checkpoint_.assign(notes_.journal.ids(), true);
    in_checkpoint_[Journal::kDetached] = false;
    for (const auto& [b, page] : failed) notes_.failed_in[idx(b)] = id_of_.at(page);
}

void FoundNotes::add_page(const PageAddress& a, const PageContent& content) {
    const Journal::Id id = notes_.journal.found(a, Journal::decode(content));
    for (const JournalEntry& e : notes_.journal.page(id).entries) entries_.push_back({e, id});
}

/// An entry that was noted again may be there twice: the newer one counts.
void FoundNotes::put_in_order() {
    in_checkpoint_.resize(notes_.journal.ids());
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.entry.number < b.entry.number; });
}

std::uint64_t FoundNotes::take(std::uint64_t below, std::uint64_t checkpoint, const std::function<void(Lpa)>& newer) {
    const std::size_t first = next_;
    for (; next_ != entries_.size() && entries_[next_].entry.number < below; ++next_)
        take_entry(entries_[next_], checkpoint, newer);
    return next_ - first;
}

void FoundNotes::take_entry(const Entry& found, std::uint64_t checkpoint, const std::function<void(Lpa)>& newer) {
    const JournalEntry& e = found.entry;
    image_.last_number = std::max(image_.last_number, e.number);
    if (e.note == JournalNote::failed) {
        notes_.failed_in[idx(e.first)] = found.page;
        return;
    }
    for (std::uint32_t i = 0; i < e.units; ++i) {
        const Lpa lpa{idx(e.first) + i};
        const Ppa now = image_.map.lookup(lpa);
        // For entries that a checkpoint knows, the map of the checkpoint says which one counts, unless the journal page
        // is gone.
        if (e.number <= checkpoint &&
            (image_.entries.is_copy(now) || now == kUnmapped || in_checkpoint_[image_.entries.page_of(now)]))
            continue;
        // Without an older copy there is nothing to take back, but a lost unit is lost all the same.
        if (e.lost() || now != kUnmapped) image_.map.exchange(lpa, image_.entries.note(found.page, e.lost()));
        if (e.number > checkpoint) newer(lpa);
    }
}

void FoundNotes::require_failures() const {
    for (const auto& [b, page] : notes_.failed_in)
        SSDTLM_CHECK(page != Journal::kDetached, "the journal has lost that a superblock has failed");
}

void FoundNotes::count(Ppa note) {
    const Journal::Id id = image_.entries.page_of(note);
    SSDTLM_CHECK(id != Journal::kDetached, "the journal has lost that a unit has no copy");
    ++notes_.journal.page(id).live;
}

void FoundNotes::end_count(const std::function<void(Ppa)>& in_use) {
    for (const auto& [b, page] : notes_.failed_in) ++notes_.journal.page(page).live;
    for (Journal::Id id = 1; id < notes_.journal.ids(); ++id) {
        const Journal::Page& page = notes_.journal.page(id);
        for (std::uint32_t s = 0; s < ftl_.geometry().units_per_page() && page.live != 0; ++s)
            in_use(ftl_.geometry().ppa_of(page.at, s));
        if (page.live == 0) notes_.journal.forget_if_unused(id);
    }
}

}  // namespace ssdtlm
