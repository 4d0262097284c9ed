// SPDX-License-Identifier: Apache-2.0
// The map from flash alone. Every page says in its out-of-band area when it took its place, every entry of the journal when
// its units were deallocated or lost: gone through in that order, what comes last about a unit is true.
#include <algorithm>
#include <queue>
#include <vector>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

namespace {
struct Next {
    std::uint64_t number;
    std::uint32_t block;
    bool operator>(const Next& o) const { return number != o.number ? number > o.number : block > o.block; }
};

struct FoundEntry {
    JournalEntry entry;
    Journal::Id page;
};
}  // namespace

/// All pages that are on the flash, in the order of their numbers.
template <class Visit>
void Ftl::for_each_page_in_order(Visit&& visit) const {
    std::vector<PageRecords::Cursor> pages;
    std::priority_queue<Next, std::vector<Next>, std::greater<Next>> next;
    for (std::uint32_t b = 0; b < geometry_.blocks(); ++b) {
        pages.push_back(spare_.records(BlockId{b}));
        if (!pages[b].at_end()) next.push({pages[b].record().number, b});
    }
    while (!next.empty()) {
        const std::uint32_t b = next.top().block;
        next.pop();
        PageRecords::Cursor& at = pages[b];
        visit(PageAddress{geometry_.plane_of(BlockId{b}), geometry_.block_in_plane(BlockId{b}), at.page()}, at.record());
        at.next();
        if (!at.at_end()) next.push({at.record().number, b});
    }
}

void Ftl::recover() {
    SSDTLM_CHECK(mapped_units_ == 0 && last_number_ == 0, "recovery into an FTL that is in use");
    // Entries are older than the pages that hold them.
    std::vector<FoundEntry> entries;
    for_each_page_in_order([this, &entries](const PageAddress& a, const PageRecord& record) {
        const PageContent* content = record.kind == PageKind::journal ? spare_.content(a) : nullptr;
        if (content == nullptr) return;
        const Journal::Id id = journal_.found(a, Journal::decode(*content));
        for (const JournalEntry& e : journal_.page(id).entries) entries.push_back({e, id});
    });
    // Of an entry that was noted again there may be two copies: the newer one counts.
    std::stable_sort(entries.begin(), entries.end(),
                     [](const FoundEntry& a, const FoundEntry& b) { return a.entry.number < b.entry.number; });
    std::size_t next = 0;
    const auto take_entries = [&](std::uint64_t below) {
        for (; next != entries.size() && entries[next].entry.number < below; ++next) {
            const auto& [e, id] = entries[next];
            last_number_ = std::max(last_number_, e.number);
            if (e.note == JournalNote::failed) {
                failed_in_[idx(e.first)] = id;
                continue;
            }
            for (std::uint32_t i = 0; i < e.units; ++i) {
                const Lpa lpa{idx(e.first) + i};
                // Without an older copy there is nothing to take back, but a lost unit is lost all the same.
                if (e.lost() || map_.lookup(lpa) != kUnmapped) map_.exchange(lpa, note_in(id, e.lost()));
            }
        }
    };
    std::vector<bool> used(shape_.superblocks());
    std::vector<std::uint64_t> last_of(shape_.superblocks());
    for_each_page_in_order([&](const PageAddress& a, const PageRecord& record) {
        take_entries(record.number);
        const SuperblockId b = shape_.superblock_of(geometry_.block_of(a));
        used[idx(b)] = true;
        last_number_ = std::max(last_number_, record.number);
        last_of[idx(b)] = std::max(last_of[idx(b)], record.number);
        for (std::uint32_t s = 0; s < geometry_.units_per_page() && record.kind == PageKind::user; ++s) {
            const Ppa at = geometry_.ppa_of(a, s);
            const Lpa lpa = codec_.lpa(spare_.at(at));
            if (idx(lpa) < logical_units_) map_.exchange(lpa, at);  // what is padded or torn is nobody's
        }
    });
    take_entries(~std::uint64_t{0});
    std::vector<bool> failed(shape_.superblocks());
    for (const auto& [b, page] : failed_in_) failed[b] = true;
    const bool enough = blocks_.restart(used, failed);
    count_what_is_mapped();
    blocks_.retire_empty();
    // The oldest first, which is what a policy that looks at age goes by.
    std::vector<std::uint32_t> sealed;
    for (std::uint32_t n = 0; n < shape_.superblocks(); ++n)
        if (used[n] && !failed[n]) sealed.push_back(n);
    std::stable_sort(sealed.begin(), sealed.end(), [&last_of](std::uint32_t a, std::uint32_t b) { return last_of[a] < last_of[b]; });
    for (const std::uint32_t n : sealed) {
        const SuperblockId b{n};
        for (std::uint32_t i = 0; i < shape_.planes(); ++i)
            blocks_[b].cut = blocks_[b].cut || spare_.next_page(shape_.block(b, i)) != geometry_.pages_per_block;
        policy_->sealed(b, blocks_[b].valid, 0);
    }
    take_stock_of_failures(enough);
    for (std::uint32_t g = 0; g < shape_.groups(); ++g) cursor_.set_able(GroupId{g}, blocks_.can_take_host_page(GroupId{g}));
}

/// Not `enough`: a group has lost more superblocks than it had spare ones.
void Ftl::take_stock_of_failures(bool enough) {
    media_.blocks_retired = std::uint64_t{failed_in_.size()} * shape_.planes();
    update_spare();
    if (enough) return;
    media_.read_only = true;
    media_.available_spare = 0;
    blocks_.give_up_reserve();
}

void Ftl::go_on_from(const FtlCounters& earlier, const MediaHealth& health) {
    counters_ = earlier;
    media_.program_failures = health.program_failures;
    media_.erase_failures = health.erase_failures;
    media_.units_lost = health.units_lost;
}

void Ftl::count_what_is_mapped() {
    const auto in_use = [this](Ppa p) {
        valid_.set(p);
        ++blocks_[shape_.superblock_of(p)].valid;
    };
    for (std::uint64_t l = 0; l < logical_units_; ++l) {
        const Ppa p = map_.lookup(Lpa{static_cast<std::uint32_t>(l)});
        if (p == kUnmapped) continue;
        if (is_copy(p))
            in_use(p);
        else
            ++journal_.page(page_of_note(p)).live;
        mapped_units_ += is_copy(p) || is_lost_note(p);
        lost_units_ += !is_copy(p) && is_lost_note(p);
    }
    for (const auto& [b, page] : failed_in_) ++journal_.page(page).live;
    for (Journal::Id id = 1; id < journal_.ids(); ++id) {
        const Journal::Page& page = journal_.page(id);
        for (std::uint32_t s = 0; s < geometry_.units_per_page() && page.live != 0; ++s) in_use(geometry_.ppa_of(page.at, s));
        if (page.live == 0) journal_.forget_if_unused(id);
    }
}

}  // namespace ssdtlm
