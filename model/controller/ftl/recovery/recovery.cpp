// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/recovery/recovery.h"

#include <algorithm>
#include <queue>

#include "controller/ftl/ftl.h"
#include "controller/ftl/recovery/slc_recovery.h"

namespace ssdtlm {

namespace {
struct Next {
    std::uint64_t number;
    std::uint32_t cursor;
    bool operator>(const Next& o) const { return number != o.number ? number > o.number : cursor > o.cursor; }
};
}  // namespace

Recovery::Recovery(Ftl& ftl)
    : ftl_(ftl),
      used_(ftl.shape_.superblocks()),
      last_of_(ftl.shape_.superblocks()),
      suspects_(ftl.translation_pages_) {
    SSDTLM_CHECK(ftl_.mapped_units_ == 0 && ftl_.last_number_ == 0, "recovery into an FTL that is in use");
}

/// Those that were read, in the order of their numbers.
template <class Visit>
void Recovery::for_each_page_in_order(Visit&& visit) const {
    const NandGeometry& g = ftl_.geometry_;
    std::vector<PageRecords::Cursor> pages;
    std::vector<BlockId> blocks;
    std::priority_queue<Next, std::vector<Next>, std::greater<Next>> next;
    for (std::uint32_t b = 0; b < g.blocks(); ++b) {
        if (from_[b] == g.pages_per_block) continue;
        PageRecords::Cursor at = ftl_.spare_.records(BlockId{b});
        while (!at.at_end() && (at.page() < from_[b] || (!all_ && at.record().number <= number_))) at.next();
        if (at.at_end()) continue;
        next.push({at.record().number, static_cast<std::uint32_t>(pages.size())});
        pages.push_back(at);
        blocks.push_back(BlockId{b});
    }
    while (!next.empty()) {
        const std::uint32_t i = next.top().cursor;
        next.pop();
        PageRecords::Cursor& at = pages[i];
        visit(PageAddress{g.plane_of(blocks[i]), g.block_in_plane(blocks[i]), at.page()}, at.record());
        at.next();
        if (!at.at_end()) next.push({at.record().number, i});
    }
}

std::uint64_t Recovery::from_all_pages() {
    all_ = true;
    suspects_.assign(suspects_.size(), true);
    from_.assign(ftl_.geometry_.blocks(), 0);
    for (std::uint32_t n = 0; n < ftl_.shape_.superblocks(); ++n)
        if (ftl_.blocks_[SuperblockId{n}].state == BlockState::set_apart)
            for (std::uint32_t i = 0; i < ftl_.shape_.planes(); ++i)
                from_[idx(ftl_.shape_.block(SuperblockId{n}, i))] = ftl_.geometry_.pages_per_block;
    find_journal();
    take_pages();
    close_all();
    find_erases(nullptr);
    return put_in_order_;
}

std::uint64_t Recovery::from_checkpoint(const CheckpointBooks& books, const std::vector<std::uint32_t>& from) {
    from_ = from;
    number_ = ftl_.last_number_ = books.number;
    take_map(books);
    check_translation_pages(books);
    find_journal();
    take_entries(number_ + 1);
    for (std::uint32_t n = 0; n < ftl_.shape_.superblocks(); ++n) last_of_[n] = books.superblocks[n].last;
    take_pages();
    for (const auto& [b, page] : ftl_.failed_in_)
        SSDTLM_CHECK(page != Journal::kDetached, "the journal has lost that a superblock has failed");
    close_all();
    find_erases(&books);
    return put_in_order_;
}

/// As the checkpoint says; what is said in pages of the journal that are gone since stands in others, which were
/// written later.
void Recovery::take_map(const CheckpointBooks& books) {
    std::vector<Journal::Id> id_of{Journal::kDetached};
    for (const PageAddress& a : books.journal)
        id_of.push_back(is_intact(a) ? ftl_.journal_.found(a) : Journal::kDetached);
    in_checkpoint_.assign(ftl_.journal_.ids(), true);
    in_checkpoint_[Journal::kDetached] = false;
    for (const auto& [b, page] : books.failed) ftl_.failed_in_[idx(b)] = id_of.at(page);
    const std::uint64_t units = ftl_.logical_units_ + ftl_.translation_pages_;
    std::uint64_t l = 0;
    for (const PageAddress& a : books.map) {
        const PageContent& words = *ftl_.spare_.content(a);
        for (std::size_t i = 2 * CheckpointLayout::kHeaderWords; i < 2 * words.size() && l < units; ++i, ++l) {
            Ppa p{static_cast<std::uint32_t>(words[i / 2] >> (i % 2 * 32))};
            if (p == kUnmapped) continue;
            if (!ftl_.is_copy(p)) p = ftl_.note_in(id_of.at(ftl_.page_of_note(p)), ftl_.is_lost_note(p));
            ftl_.map_.exchange(Lpa{static_cast<std::uint32_t>(l)}, p);
        }
    }
    SSDTLM_CHECK(l == units, "a checkpoint of another number of units");
}

/// The block is the same one still, or the page itself is older than the checkpoint.
bool Recovery::is_intact(const PageAddress& a) const {
    const BlockId b = ftl_.geometry_.block_of(a);
    if (from_[idx(b)] != 0) return true;
    return a.page < ftl_.spare_.next_page(b) && ftl_.spare_.content(a) != nullptr &&
           ftl_.spare_.record(a).kind == PageKind::journal && ftl_.spare_.record(a).number <= number_;
}

/// One that was dropped since may be gone: nothing says so but that its block was erased.
void Recovery::check_translation_pages(const CheckpointBooks& books) {
    for (std::uint32_t page = 0; page < suspects_.size(); ++page) {
        suspects_[page] = books.is_dirty(page);
        const Ppa at = ftl_.translation_place(page);
        if (!ftl_.is_copy(at) || is_intact(page, at)) continue;
        ftl_.map_.exchange(ftl_.lpa_of_translation(page), kUnmapped);
        suspects_[page] = true;
    }
}

bool Recovery::is_intact(std::uint32_t page, Ppa at) const {
    const PageAddress a = ftl_.geometry_.page_of(at);
    const BlockId b = ftl_.geometry_.block_of(a);
    if (from_[idx(b)] != 0) return true;
    return a.page < ftl_.spare_.next_page(b) && ftl_.codec_.lpa(ftl_.spare_.at(at)) == ftl_.lpa_of_translation(page) &&
           ftl_.spare_.record(a).number <= number_;
}

/// What is said about the unit, or the translation page itself, is newer than the checkpoint.
void Recovery::suspect(Lpa lpa) {
    if (suspects_.empty()) return;
    suspects_[ftl_.is_translation(lpa) ? idx(lpa) - ftl_.logical_units_
                                       : idx(lpa) / ftl_.entries_per_translation_page_] = true;
}

void Recovery::find_journal() {
    for_each_page_in_order([this](const PageAddress& a, const PageRecord& record) {
        const PageContent* content = record.kind == PageKind::journal ? ftl_.spare_.content(a) : nullptr;
        if (content == nullptr) return;
        const Journal::Id id = ftl_.journal_.found(a, Journal::decode(*content));
        for (const JournalEntry& e : ftl_.journal_.page(id).entries) entries_.push_back({e, id});
    });
    in_checkpoint_.resize(ftl_.journal_.ids());
    // Of an entry that was noted again there may be two copies: the newer one counts.
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const FoundEntry& a, const FoundEntry& b) { return a.entry.number < b.entry.number; });
}

void Recovery::take_entries(std::uint64_t below) {
    for (; next_entry_ != entries_.size() && entries_[next_entry_].entry.number < below; ++next_entry_) {
        ++put_in_order_;
        take_entry(entries_[next_entry_].entry, entries_[next_entry_].page);
    }
}

void Recovery::take_entry(const JournalEntry& e, Journal::Id page) {
    ftl_.last_number_ = std::max(ftl_.last_number_, e.number);
    if (e.note == JournalNote::failed) {
        ftl_.failed_in_[idx(e.first)] = page;
        return;
    }
    for (std::uint32_t i = 0; i < e.units; ++i) {
        const Lpa lpa{idx(e.first) + i};
        const Ppa now = ftl_.map_.lookup(lpa);
        // Of entries that a checkpoint knows it says itself which one counts, unless the page that said so is gone.
        if (e.number <= number_ && (ftl_.is_copy(now) || now == kUnmapped || in_checkpoint_[ftl_.page_of_note(now)]))
            continue;
        // Without an older copy there is nothing to take back, but a lost unit is lost all the same.
        if (e.lost() || now != kUnmapped) ftl_.map_.exchange(lpa, ftl_.note_in(page, e.lost()));
        if (e.number > number_) suspect(lpa);
    }
}

void Recovery::take_pages() {
    for_each_page_in_order([this](const PageAddress& a, const PageRecord& record) {
        take_entries(record.number);
        const SuperblockId b = ftl_.shape_.superblock_of(ftl_.geometry_.block_of(a));
        ftl_.last_number_ = std::max(ftl_.last_number_, record.number);
        last_of_[idx(b)] = std::max(last_of_[idx(b)], record.number);
        const bool has_units = record.kind == PageKind::user || record.kind == PageKind::mapping;
        for (std::uint32_t s = 0; s < ftl_.geometry_.units_per_page() && has_units; ++s) {
            const Ppa at = ftl_.geometry_.ppa_of(a, s);
            const Lpa lpa = ftl_.codec_.lpa(ftl_.spare_.at(at));
            if (idx(lpa) >= ftl_.logical_units_ + ftl_.translation_pages_)
                continue;  // what is padded or torn is nobody's
            ftl_.map_.exchange(lpa, at);
            suspect(lpa);
            ++put_in_order_;
        }
    });
    take_entries(~std::uint64_t{0});
}

/// What was open is not written any more.
void Recovery::close_all() {
    for (std::uint32_t n = 0; n < ftl_.shape_.superblocks(); ++n)
        for (std::uint32_t i = 0; i < ftl_.shape_.planes(); ++i)
            used_[n] = used_[n] || ftl_.spare_.next_page(ftl_.shape_.block(SuperblockId{n}, i)) != 0;
    std::vector<bool> failed(ftl_.shape_.superblocks());
    for (const auto& [b, page] : ftl_.failed_in_) failed[b] = true;
    const bool enough = ftl_.blocks_.restart(used_, failed);
    if (ftl_.slc_ != nullptr)
        SlcRecovery(*ftl_.slc_, ftl_.blocks_, ftl_.shape_, ftl_.spare_, last_of_).from_pages(used_);
    count_what_is_mapped();
    ftl_.blocks_.retire_empty();
    for (std::uint32_t n = 0; n < ftl_.shape_.superblocks(); ++n)
        for (std::uint32_t i = 0; i < ftl_.shape_.planes() && ftl_.blocks_[SuperblockId{n}].state == BlockState::sealed;
             ++i)
            if (ftl_.spare_.next_page(ftl_.shape_.block(SuperblockId{n}, i)) != ftl_.geometry_.pages_per_block)
                ftl_.blocks_[SuperblockId{n}].cut = true;
    seal();
    take_stock_of_failures(enough);
}

std::uint64_t Recovery::from_clean_checkpoint(const CheckpointBooks& books) {
    const SuperblockShape& shape = ftl_.shape_;
    from_.assign(ftl_.geometry_.blocks(), ftl_.geometry_.pages_per_block);
    number_ = ftl_.last_number_ = books.number;
    take_map(books);
    check_translation_pages(books);
    std::vector<std::vector<SuperblockId>> free(shape.groups());
    for (std::uint32_t g = 0; g < shape.groups(); ++g) {
        remember(ftl_.features_, GroupId{g}, books.groups[g].remembered);
        ftl_.begun_.leave(GroupId{g}, books.groups[g].begun);
    }
    for (std::uint32_t n = 0; n < shape.superblocks(); ++n) {
        const SuperblockId b{n};
        const CheckpointBooks::Superblock& was = books.superblocks[n];
        BlockRecord& r = ftl_.blocks_[b];
        r.state = was.state;
        r.stream = was.stream;
        r.write_pointer = was.write_pointer;
        r.cut = was.cut;
        r.bad = was.bad;
        last_of_[n] = was.last;
        if (was.state == BlockState::free || was.state == BlockState::slc_free)
            free[idx(shape.group_of(b))].push_back(b);
        // A read-only drive has left what it was collecting as it was.
        const bool begun = ftl_.begun_.of(shape.group_of(b)) == b;
        if (was.state == BlockState::victim && !begun)
            r.state = was.bad                    ? BlockState::failed
                      : was.stream == kSlcStream ? BlockState::slc_sealed
                                                 : BlockState::sealed;
        for (std::uint32_t i = 0; i < shape.planes() && was.state != BlockState::set_apart; ++i) {
            const std::uint32_t pages = ftl_.spare_.next_page(shape.block(b, i)),
                                were = books.blocks[idx(shape.block(b, i))].next_page;
            // Of one that was closed, pages that were never programmed count as handed out.
            SSDTLM_CHECK(pages == were || (was.cut && pages < were),
                         "a block was written or erased behind a checkpoint that says that nothing was");
        }
        ftl_.blocks_.found_erases(b, books.blocks[idx(shape.block(b, 0))].erases);
    }
    for (auto& of_group : free)
        std::sort(of_group.begin(), of_group.end(), [&books](SuperblockId a, SuperblockId b) {
            return books.superblocks[idx(a)].free_turn < books.superblocks[idx(b)].free_turn;
        });
    if (ftl_.slc_ != nullptr)
        SlcRecovery(*ftl_.slc_, ftl_.blocks_, ftl_.shape_, ftl_.spare_, last_of_).from_records(free);
    ftl_.blocks_.restore(free);
    count_what_is_mapped();
    seal();
    for (std::uint32_t g = 0; g < shape.groups() && shape.planes() != 1; ++g) {
        const std::uint32_t in_slc = ftl_.slc_ != nullptr ? ftl_.slc_->write_pointer(GroupId{g}) : 0;
        const bool own = ftl_.config_.gc_frontier == GcFrontier::own;  // else GC goes on in the row
        for (std::uint32_t stream = 0; stream <= ftl_.lanes_.streams(); ++stream)
            ftl_.lanes_.cursor(GroupId{g}, stream)
                .set_ragged(GroupId{g}, (own && shape.plane_in_group(ftl_.blocks_.write_pointer(
                                                    GroupId{g}, BlockState::open_host, stream)) != 0) ||
                                            shape.plane_in_group(in_slc) != 0);
    }
    take_stock_of_failures(!books.read_only);
    return put_in_order_;
}

/// With a mapping by blocks it has superblocks of its own.
bool Recovery::holds_journal(SuperblockId b) const {
    for (std::uint32_t i = 0; i < ftl_.shape_.planes(); ++i) {
        const PageRecords::Cursor pages = ftl_.spare_.records(ftl_.shape_.block(b, i));
        if (!pages.at_end()) return pages.record().stream == kGcStream;
    }
    return false;
}

/// With a mapping by blocks, of what has failed and holds something. The rest is of the journal, and GC's.
std::vector<SuperblockId> Recovery::failed_logs() const {
    std::vector<SuperblockId> found;
    for (std::uint32_t n = 0; n < ftl_.shape_.superblocks() && ftl_.placement_ != nullptr; ++n) {
        const SuperblockId b{n};
        if (ftl_.blocks_[b].state != BlockState::failed) continue;
        if (holds_journal(b))
            ftl_.blocks_[b].stream = kGcStream;
        else
            found.push_back(b);
    }
    return found;
}

/// The oldest first, which is what a policy that looks at age goes by.
void Recovery::seal() {
    std::vector<std::uint32_t> sealed;
    for (std::uint32_t n = 0; n < ftl_.shape_.superblocks(); ++n)
        if (ftl_.blocks_[SuperblockId{n}].state == BlockState::sealed) sealed.push_back(n);
    std::stable_sort(sealed.begin(), sealed.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return last_of_[a] < last_of_[b]; });
    std::vector<SuperblockId> of_placement = failed_logs();
    for (const std::uint32_t n : sealed) {
        if (ftl_.placement_ != nullptr && !holds_journal(SuperblockId{n}))
            of_placement.push_back(SuperblockId{n});
        else
            ftl_.policy_->sealed(SuperblockId{n}, ftl_.blocks_[SuperblockId{n}].valid, 0);
    }
    if (ftl_.placement_ != nullptr) ftl_.placement_->found(of_placement);
    if (Checkpoints* const checkpoints = ftl_.checkpoints()) {
        for (std::uint32_t n = 0; n < last_of_.size(); ++n)
            checkpoints->in_flight().set_last_of(SuperblockId{n}, last_of_[n]);
        ftl_.last_number_ = std::max(ftl_.last_number_, checkpoints->root_number());
    }
}

/// Not `enough`: a group has lost more superblocks than it had spare ones.
void Recovery::take_stock_of_failures(bool enough) {
    ftl_.media_.blocks_retired = std::uint64_t{ftl_.failed_in_.size()} * ftl_.shape_.planes();
    ftl_.update_spare();
    if (!enough) {
        ftl_.media_.read_only = true;
        ftl_.media_.available_spare = 0;
        ftl_.blocks_.give_up_reserve();
    }
    for (std::uint32_t g = 0; g < ftl_.shape_.groups(); ++g) ftl_.update_able(GroupId{g});
}

/// The first page of a block says in its out-of-band area how often the block was erased, as the firmware knew it. Of
/// one that is erased, or whose first page is torn, a checkpoint says how often it was by then; if it held pages then,
/// it was erased once more at least.
void Recovery::find_erases(const CheckpointBooks* books) {
    const SuperblockShape& shape = ftl_.shape_;
    for (std::uint32_t group = 0; group < shape.groups(); ++group) {
        std::vector<SuperblockId> unknown;
        std::uint64_t sum = 0, known = 0;
        for (std::uint32_t n = group * shape.blocks_per_group(); n < (group + 1) * shape.blocks_per_group(); ++n) {
            const SuperblockId b{n};
            const BlockState state = ftl_.blocks_[b].state;
            if (state == BlockState::set_apart) continue;
            const bool in_use = state != BlockState::spare && state != BlockState::retired;
            const BlockId first = shape.block(b, 0);
            if (ftl_.spare_.next_page(first) != 0 &&
                ftl_.spare_.at(ftl_.geometry_.ppa_of(shape.page(b, 0), 0)) != kTorn) {
                ftl_.blocks_.found_erases(b, ftl_.spare_.record(shape.page(b, 0)).erases);
            } else if (books != nullptr) {
                const CheckpointBooks::Block& was = books->blocks[idx(first)];
                ftl_.blocks_.found_erases(b, was.erases + (was.next_page != 0 ? 1 : 0));
            } else {
                if (in_use) unknown.push_back(b);
                continue;
            }
            if (!in_use) continue;
            sum += ftl_.blocks_.erases(b);
            ++known;
        }
        for (const SuperblockId b : unknown)
            ftl_.blocks_.found_erases(b, static_cast<std::uint32_t>(known == 0 ? 0 : (sum + known / 2) / known));
        erases_supposed_ += static_cast<std::uint32_t>(unknown.size());
    }
}

void Recovery::count_what_is_mapped() {
    Journal& journal = ftl_.journal_;
    const auto in_use = [this](Ppa p) {
        ftl_.valid_.set(p);
        ++ftl_.blocks_[ftl_.shape_.superblock_of(p)].valid;
        return ftl_.shape_.group_of(ftl_.shape_.superblock_of(p));
    };
    for (std::uint64_t l = 0; l < ftl_.logical_units_; ++l) {
        const Ppa p = ftl_.map_.lookup(Lpa{static_cast<std::uint32_t>(l)});
        if (p == kUnmapped) continue;
        const bool is_copy = ftl_.is_copy(p), is_lost = !is_copy && ftl_.is_lost_note(p);
        SSDTLM_CHECK(is_copy || ftl_.page_of_note(p) != Journal::kDetached,
                     "the journal has lost that a unit has no copy");
        if (is_copy)
            in_use(p);
        else
            ++journal.page(ftl_.page_of_note(p)).live;
        ftl_.mapped_units_ += is_copy || is_lost;
        ftl_.lost_units_ += is_lost;
    }
    for (std::uint32_t page = 0; page < ftl_.translation_pages_; ++page)
        if (const Ppa p = ftl_.translation_place(page); p != kUnmapped) ftl_.translation_room_.came(in_use(p));
    for (const auto& [b, page] : ftl_.failed_in_) ++journal.page(page).live;
    for (Journal::Id id = 1; id < journal.ids(); ++id) {
        const Journal::Page& page = journal.page(id);
        for (std::uint32_t s = 0; s < ftl_.geometry_.units_per_page() && page.live != 0; ++s)
            in_use(ftl_.geometry_.ppa_of(page.at, s));
        if (page.live == 0) journal.forget_if_unused(id);
    }
}

}  // namespace ssdtlm
