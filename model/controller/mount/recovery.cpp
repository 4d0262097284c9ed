// SPDX-License-Identifier: Apache-2.0
#include "controller/mount/recovery.h"

#include <algorithm>
#include <queue>

#include "controller/checkpoint/checkpoint_layout.h"
#include "controller/ftl/allocation/host_partition.h"
#include "controller/ftl/ftl.h"

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
      image_(ftl.image()),
      notes_(ftl, image_),
      used_(ftl.shape().superblocks()),
      last_of_(ftl.shape().superblocks()),
      suspects_(ftl.own_units()) {
    SSDTLM_CHECK(image_.mapped_units == 0 && image_.last_number == 0, "recovery into an FTL that is in use");
}

/// Visits the pages that were read, in the order of their numbers.
template <class Visit>
void Recovery::for_each_page_in_order(Visit&& visit) const {
    const NandGeometry& g = ftl_.geometry();
    std::vector<PageRecords::Cursor> pages;
    std::vector<BlockId> blocks;
    std::priority_queue<Next, std::vector<Next>, std::greater<Next>> next;
    for (std::uint32_t b = 0; b < g.blocks(); ++b) {
        if (from_[b] == g.pages_per_block) continue;
        PageRecords::Cursor at = image_.flash.records(BlockId{b});
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
    from_.assign(ftl_.geometry().blocks(), 0);
    for (std::uint32_t n = 0; n < ftl_.shape().superblocks(); ++n)
        if (image_.blocks[SuperblockId{n}].state == BlockState::set_apart)
            for (std::uint32_t i = 0; i < ftl_.shape().planes(); ++i)
                from_[idx(ftl_.shape().block(SuperblockId{n}, i))] = ftl_.geometry().pages_per_block;
    find_notes();
    take_pages();
    close_all();
    find_erases(nullptr);
    return put_in_order_;
}

std::uint64_t Recovery::from_checkpoint(const CheckpointBooks& books, const std::vector<std::uint32_t>& from) {
    from_ = from;
    number_ = image_.last_number = books.number;
    take_map(books);
    check_own_units(books);
    find_notes();
    take_notes(number_ + 1);
    for (std::uint32_t n = 0; n < ftl_.shape().superblocks(); ++n) last_of_[n] = books.superblocks[n].last;
    take_pages();
    notes_.require_failures();
    close_all();
    find_erases(&books);
    return put_in_order_;
}

/// As the checkpoint says; what is said in pages of the journal that are gone since stands in others, which were
/// written later.
void Recovery::take_map(const CheckpointBooks& books) {
    notes_.take_checkpoint(books.note_pages, books.failed, [this](const PageAddress& a) { return is_intact(a); });
    const std::uint64_t units = ftl_.units();
    std::uint64_t l = 0;
    for (const PageAddress& a : books.map) {
        const PageContent& words = *image_.flash.content(a);
        for (std::size_t i = 2 * CheckpointLayout::kHeaderWords; i < 2 * words.size() && l < units; ++i, ++l) {
            Ppa p{static_cast<std::uint32_t>(words[i / 2] >> (i % 2 * 32))};
            if (p == kUnmapped) continue;
            if (!image_.entries.is_copy(p)) p = notes_.entry_of(p);
            image_.map.exchange(Lpa{static_cast<std::uint32_t>(l)}, p);
        }
    }
    SSDTLM_CHECK(l == units, "a checkpoint of another number of units");
}

/// The block is the same one still, or the page itself is older than the checkpoint.
bool Recovery::is_intact(const PageAddress& a) const {
    const BlockId b = ftl_.geometry().block_of(a);
    if (from_[idx(b)] != 0) return true;
    return a.page < image_.flash.next_page(b) && image_.flash.content(a) != nullptr &&
           image_.flash.record(a).kind == PageKind::journal && image_.flash.record(a).number <= number_;
}

/// A unit of a feature that was dropped since the checkpoint may be gone. Only the erase of its block shows that.
void Recovery::check_own_units(const CheckpointBooks& books) {
    for (std::uint32_t n = 0; n < suspects_.size(); ++n) {
        suspects_[n] = books.is_dirty(n);
        const Lpa own = ftl_.own_unit(n);
        const Ppa at = image_.map.lookup(own);
        if (!image_.entries.is_copy(at) || is_intact(own, at)) continue;
        image_.map.exchange(own, kUnmapped);
        suspects_[n] = true;
    }
}

bool Recovery::is_intact(Lpa own, Ppa at) const {
    const PageAddress a = ftl_.geometry().page_of(at);
    const BlockId b = ftl_.geometry().block_of(a);
    if (from_[idx(b)] != 0) return true;
    return a.page < image_.flash.next_page(b) && ftl_.codec().lpa(image_.flash.at(at)) == own &&
           image_.flash.record(a).number <= number_;
}

/// What is said about the unit, or the own unit of a feature itself, is newer than the checkpoint.
void Recovery::suspect(Lpa lpa) {
    if (!suspects_.empty()) suspects_[ftl_.own_number(lpa)] = true;
}

void Recovery::find_notes() {
    for_each_page_in_order([this](const PageAddress& a, const PageRecord& record) {
        const PageContent* content = record.kind == PageKind::journal ? image_.flash.content(a) : nullptr;
        if (content != nullptr) notes_.add_page(a, *content);
    });
    notes_.put_in_order();
}

void Recovery::take_notes(std::uint64_t below) {
    put_in_order_ += notes_.take(below, number_, [this](Lpa lpa) { suspect(lpa); });
}

void Recovery::take_pages() {
    for_each_page_in_order([this](const PageAddress& a, const PageRecord& record) {
        take_notes(record.number);
        const SuperblockId b = ftl_.shape().superblock_of(ftl_.geometry().block_of(a));
        image_.last_number = std::max(image_.last_number, record.number);
        last_of_[idx(b)] = std::max(last_of_[idx(b)], record.number);
        const bool has_units = record.kind == PageKind::user || record.kind == PageKind::mapping;
        for (std::uint32_t s = 0; s < ftl_.geometry().units_per_page() && has_units; ++s) {
            const Ppa at = ftl_.geometry().ppa_of(a, s);
            const Lpa lpa = ftl_.codec().lpa(image_.flash.at(at));
            if (idx(lpa) >= ftl_.units()) continue;  // what is padded or torn is nobody's
            image_.map.exchange(lpa, at);
            suspect(lpa);
            ++put_in_order_;
        }
    });
    take_notes(~std::uint64_t{0});
}

/// What was open is not written any more.
void Recovery::close_all() {
    for (std::uint32_t n = 0; n < ftl_.shape().superblocks(); ++n)
        for (std::uint32_t i = 0; i < ftl_.shape().planes(); ++i)
            used_[n] = used_[n] || image_.flash.next_page(ftl_.shape().block(SuperblockId{n}, i)) != 0;
    std::vector<bool> failed(ftl_.shape().superblocks());
    for (const auto& [b, page] : notes_.failed_in()) failed[b] = true;
    const bool enough = image_.blocks.restart(used_, failed);
    for (const auto& feature : image_.features) feature->found_pages({used_, last_of_, image_.flash});
    count_what_is_mapped();
    image_.blocks.retire_empty();
    for (std::uint32_t n = 0; n < ftl_.shape().superblocks(); ++n)
        for (std::uint32_t i = 0;
             i < ftl_.shape().planes() && image_.blocks[SuperblockId{n}].state == BlockState::sealed; ++i)
            if (image_.flash.next_page(ftl_.shape().block(SuperblockId{n}, i)) != ftl_.geometry().pages_per_block)
                image_.blocks[SuperblockId{n}].cut = true;
    seal();
    take_stock_of_failures(enough);
}

std::uint64_t Recovery::from_clean_checkpoint(const CheckpointBooks& books) {
    const SuperblockShape& shape = ftl_.shape();
    from_.assign(ftl_.geometry().blocks(), ftl_.geometry().pages_per_block);
    number_ = image_.last_number = books.number;
    take_map(books);
    check_own_units(books);
    std::vector<std::vector<SuperblockId>> free(shape.groups());
    for (std::uint32_t g = 0; g < shape.groups(); ++g) {
        remember(image_.features, GroupId{g}, books.groups[g].remembered);
        image_.begun.leave(GroupId{g}, books.groups[g].begun);
    }
    for (std::uint32_t n = 0; n < shape.superblocks(); ++n) {
        const SuperblockId b{n};
        const CheckpointBooks::Superblock& was = books.superblocks[n];
        BlockRecord& r = image_.blocks[b];
        r.state = was.state;
        r.stream = was.stream;
        r.write_pointer = was.write_pointer;
        r.cut = was.cut;
        r.bad = was.bad;
        last_of_[n] = was.last;
        if (was.state == BlockState::free || was.state == BlockState::own_free)
            free[idx(shape.group_of(b))].push_back(b);
        // A read-only drive has left what it was collecting as it was.
        const bool begun = image_.begun.of(shape.group_of(b)) == b;
        if (was.state == BlockState::victim && !begun)
            r.state = was.bad ? BlockState::failed : sealed_state_of(was.stream);
        for (std::uint32_t i = 0; i < shape.planes() && was.state != BlockState::set_apart; ++i) {
            const std::uint32_t pages = image_.flash.next_page(shape.block(b, i)),
                                were = books.blocks[idx(shape.block(b, i))].next_page;
            // In a closed block, pages that were never programmed count as handed out.
            SSDTLM_CHECK(pages == were || (was.cut && pages < were),
                         "a block was written or erased behind a checkpoint that says that nothing was");
        }
        image_.blocks.found_erases(b, books.blocks[idx(shape.block(b, 0))].erases);
    }
    for (auto& of_group : free)
        std::sort(of_group.begin(), of_group.end(), [&books](SuperblockId a, SuperblockId b) {
            return books.superblocks[idx(a)].free_turn < books.superblocks[idx(b)].free_turn;
        });
    for (const auto& feature : image_.features) feature->found_records({used_, last_of_, image_.flash}, free);
    image_.blocks.restore(free);
    count_what_is_mapped();
    seal();
    for (std::uint32_t g = 0; g < shape.groups() && shape.planes() != 1; ++g) {
        bool row_begun = false;
        for (const HostPartition* const p : image_.host_partitions)
            row_begun = row_begun || shape.plane_in_group(p->write_pointer(GroupId{g})) != 0;
        const bool own = ftl_.config().gc_frontier == GcFrontier::own;  // else GC goes on in the row
        for (std::uint32_t stream = 0; stream <= image_.partitions.streams(); ++stream)
            image_.partitions.cursor(GroupId{g}, stream)
                .set_ragged(GroupId{g}, (own && shape.plane_in_group(image_.blocks.write_pointer(
                                                    GroupId{g}, BlockState::open_host, stream)) != 0) ||
                                            row_begun);
    }
    take_stock_of_failures(!books.read_only);
    return put_in_order_;
}

/// With a mapping by blocks it has superblocks of its own.
bool Recovery::holds_journal(SuperblockId b) const {
    for (std::uint32_t i = 0; i < ftl_.shape().planes(); ++i) {
        const PageRecords::Cursor pages = image_.flash.records(ftl_.shape().block(b, i));
        if (!pages.at_end()) return pages.record().stream == kGcStream;
    }
    return false;
}

/// With a mapping by blocks: superblocks that have failed and hold data. The others belong to the journal and to GC.
std::vector<SuperblockId> Recovery::failed_logs() const {
    std::vector<SuperblockId> found;
    for (std::uint32_t n = 0; n < ftl_.shape().superblocks() && image_.placement != nullptr; ++n) {
        const SuperblockId b{n};
        if (image_.blocks[b].state != BlockState::failed) continue;
        if (holds_journal(b))
            image_.blocks[b].stream = kGcStream;
        else
            found.push_back(b);
    }
    return found;
}

/// Seals the oldest first, as a policy that looks at age needs it.
void Recovery::seal() {
    std::vector<std::uint32_t> sealed;
    for (std::uint32_t n = 0; n < ftl_.shape().superblocks(); ++n)
        if (image_.blocks[SuperblockId{n}].state == BlockState::sealed) sealed.push_back(n);
    std::stable_sort(sealed.begin(), sealed.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return last_of_[a] < last_of_[b]; });
    std::vector<SuperblockId> of_placement = failed_logs();
    for (const std::uint32_t n : sealed) {
        if (image_.placement != nullptr && !holds_journal(SuperblockId{n}))
            of_placement.push_back(SuperblockId{n});
        else
            image_.policy.sealed(SuperblockId{n}, image_.blocks[SuperblockId{n}].valid, 0);
    }
    if (image_.placement != nullptr) image_.placement->found(of_placement);
}

/// Not `enough`: a group has lost more superblocks than it had spare ones.
void Recovery::take_stock_of_failures(bool enough) {
    image_.media.blocks_retired = std::uint64_t{notes_.failed_in().size()} * ftl_.shape().planes();
    image_.media.available_spare = static_cast<std::uint8_t>(image_.blocks.spares_left());
    if (!enough) {
        image_.media.read_only = true;
        image_.media.available_spare = 0;
        image_.blocks.give_up_reserve();
    }
    for (std::uint32_t g = 0; g < ftl_.shape().groups(); ++g) ftl_.update_able(GroupId{g});
}

/// The first page of a block says in its out-of-band area how often the block was erased, as far as the firmware knew.
/// If the block is erased or its first page is torn, the checkpoint tells its erases at that time. If it held pages
/// then, it was erased at least once more.
void Recovery::find_erases(const CheckpointBooks* books) {
    const SuperblockShape& shape = ftl_.shape();
    for (std::uint32_t group = 0; group < shape.groups(); ++group) {
        std::vector<SuperblockId> unknown;
        std::uint64_t sum = 0, known = 0;
        for (std::uint32_t n = group * shape.blocks_per_group(); n < (group + 1) * shape.blocks_per_group(); ++n) {
            const SuperblockId b{n};
            const BlockState state = image_.blocks[b].state;
            if (state == BlockState::set_apart) continue;
            const bool in_use = state != BlockState::spare && state != BlockState::retired;
            const BlockId first = shape.block(b, 0);
            if (image_.flash.next_page(first) != 0 &&
                image_.flash.at(ftl_.geometry().ppa_of(shape.page(b, 0), 0)) != kTorn) {
                image_.blocks.found_erases(b, image_.flash.record(shape.page(b, 0)).erases);
            } else if (books != nullptr) {
                const CheckpointBooks::Block& was = books->blocks[idx(first)];
                image_.blocks.found_erases(b, was.erases + (was.next_page != 0 ? 1 : 0));
            } else {
                if (in_use) unknown.push_back(b);
                continue;
            }
            if (!in_use) continue;
            sum += image_.blocks.erases(b);
            ++known;
        }
        for (const SuperblockId b : unknown)
            image_.blocks.found_erases(b, static_cast<std::uint32_t>(known == 0 ? 0 : (sum + known / 2) / known));
        erases_supposed_ += static_cast<std::uint32_t>(unknown.size());
    }
}

void Recovery::count_what_is_mapped() {
    const auto in_use = [this](Ppa p) {
        image_.valid.set(p);
        ++image_.blocks[ftl_.shape().superblock_of(p)].valid;
    };
    for (std::uint64_t l = 0; l < ftl_.logical_units(); ++l) {
        const Ppa p = image_.map.lookup(Lpa{static_cast<std::uint32_t>(l)});
        if (p == kUnmapped) continue;
        const bool is_copy = image_.entries.is_copy(p), is_lost = !is_copy && image_.entries.says_lost(p);
        if (is_copy)
            in_use(p);
        else
            notes_.count(p);
        image_.mapped_units += is_copy || is_lost;
        image_.lost_units += is_lost;
    }
    for (std::uint32_t n = 0; n < ftl_.own_units(); ++n)
        if (const Ppa p = image_.map.lookup(ftl_.own_unit(n)); p != kUnmapped) in_use(p);
    notes_.end_count(in_use);
}

}  // namespace ssdtlm
