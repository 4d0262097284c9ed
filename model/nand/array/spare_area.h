// SPDX-License-Identifier: Apache-2.0
// The contents of every page of the flash: one Spare per mapping unit (it stands for the data, unless bytes are kept as
// well) and a PageRecord. Each block has its next page to program, its erase count, and whether its cells hold one bit
// each (SLC mode). Pages of a block are programmed once between erases and in ascending order, as the datasheets of
// MLC, TLC and QLC parts demand, and all in the mode of the first. Any other use panics. There are no bit errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/address/geometry.h"
#include "common/address/scattered_layout.h"
#include "common/address/sequential_layout.h"
#include "common/containers/sparse_array.h"
#include "common/report/error.h"
#include "common/snapshot/snapshot.h"
#include "nand/array/byte_store.h"
#include "nand/array/page_records.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

/// The dies change it when an array operation ends, and preconditioning changes it directly (untimed).
///
/// Memory is used only for differences from the state at start (erased, or lay_out()): each word is the XOR with that
/// state.
class SpareArea {
public:
    explicit SpareArea(const NandGeometry& geometry);
    /// Keeps the bytes of pages that are programmed from now on. Pages that were programmed before have the contents at
    /// start.
    void keep_bytes(const SpareCodec& codec, const BlockBytes& at_start);
    /// Null: no bytes are kept.
    const ByteStore* bytes() const { return bytes_.get(); }

    /// The Spare of a unit; kErased when the page was not programmed since its block's last erase.
    Spare at(Ppa p) const {
        const std::uint32_t page = layout_.page_number(p);
        return Spare{units_[idx(p)] ^ at_start(page, layout_.unit_of(page), idx(p) - page * units_per_page_)};
    }
    [[gnu::always_inline]] void prefetch(Ppa p) const { units_.prefetch(idx(p)); }
    /// Translation pages are programmed with their contents from now on, because these must survive a loss of power.
    /// Call it if the power may be lost.
    void keep_map() { keeps_map_ = true; }
    bool keeps_map() const { return keeps_map_; }
    /// Stops keeping the records of pages, which saves memory. They are only needed to rebuild the map after a loss of
    /// power. Precondition: no page was programmed.
    void drop_records() { keeps_records_ = false; }
    bool keeps_records() const { return keeps_records_; }
    /// Sets the contents of a page that was programmed in no time.
    void set_content(const PageAddress& a, const PageContent& content) { keep(a, content); }
    /// Copies the units of one page to `out` (units_per_page entries).
    void read_page(const PageAddress& a, Spare* out) const { read_page(geometry_.ppa_of(a, 0), out); }
    /// Copies the units of a page that is given by its first slot.
    void read_page(Ppa first_slot, Spare* out) const {
        const std::uint32_t page = layout_.page_number(first_slot), unit = layout_.unit_of(page);
        for (std::uint32_t i = 0; i < units_per_page_; ++i)
            out[i] = Spare{units_[idx(first_slot) + i] ^ at_start(page, unit, i)};
    }
    /// Copies the units of a page, and its bytes if `bytes` is not null and bytes are kept.
    void read_page(const PageAddress& a, Spare* out, UnitBytes* bytes) const {
        const Ppa first_slot = geometry_.ppa_of(a, 0);
        read_page(first_slot, out);
        if (bytes != nullptr) read_bytes(first_slot, out, bytes);
    }
    /// Reads the bytes of a page whose units are `units`, if bytes are kept.
    void read_bytes(Ppa first_slot, const Spare* units, UnitBytes* bytes) const {
        if (bytes_ != nullptr) bytes_->read(first_slot, units, bytes);
    }
    /// Programs one page. `units` has units_per_page entries, none of them kErased (a slot without data is kPadding).
    /// `bytes` has as many; null: preconditioning, or the Spare stands for the data.
    void program_page(const PageAddress& a, const Spare* units, const PageRecord& record = {},
                      const UnitBytes* bytes = nullptr, bool slc = false) {
        const BlockId b = geometry_.block_of(a);
        Block& block = blocks_[idx(b)];
        if (__builtin_expect(a.page != block.next_page || a.page >= geometry_.pages_per_block, 0))
            refuse_program(b, a.page);
        if (__builtin_expect(any_unusable_, 0)) check_usable(b);
        if (__builtin_expect(slc || any_slc_, 0)) set_mode(b, a.page, slc);
        ++block.next_page;
        if (__builtin_expect(keeps_records_, 0)) records_.set(idx(b), a.page, record);
        set_page(a, units, record, bytes);
        if (__builtin_expect(!ahead_.empty(), 0)) catch_up(b);
    }
    /// Programs a page in no time, while programs of earlier pages of its block may still be under way. It can be read
    /// from now on, and counts as programmed when those pages are.
    void program_ahead(const PageAddress& a, const Spare* units, const PageRecord& record, const UnitBytes* bytes);
    /// Programs a page that is given by its first slot.
    void program(Ppa first_slot, const Spare* units) { program_page(geometry_.page_of(first_slot), units); }
    /// The record of a programmed page. It takes longer for a later page of a block. Precondition of record() and
    /// records() (checked): keeps_records().
    PageRecord record(const PageAddress& a) const { return kept_records().at(idx(geometry_.block_of(a)), a.page); }
    /// The programmed pages of a block, in order.
    PageRecords::Cursor records(BlockId b) const { return {kept_records(), idx(b), next_page(b)}; }
    /// The contents of a page that are not user data; null: there are none. They are valid until the page's block is
    /// erased.
    const PageContent* content(const PageAddress& a) const {
        const auto found = contents_.find(page_number(a));
        return found == contents_.end() ? nullptr : &found->second;
    }
    /// The power is lost while this page is being programmed, so it cannot be read any more. If it is a first page, its
    /// block stays in the mode in which the page was being programmed, because its cells have charge.
    void tear(const PageAddress& a, bool slc = false);
    /// A programmed page cannot be read any more, because the power was lost while another page of its cells was being
    /// programmed.
    void spoil(const PageAddress& a);
    /// The power is lost while this block is being erased. Nothing in it can be read any more, and it must be erased
    /// before it is programmed again (checked). Its mode does not change.
    void tear_block(BlockId b);
    void erase(BlockId b);
    /// Programs the units of the layout with version 1. It takes neither time nor memory. Precondition (checked): no
    /// page was ever programmed.
    void lay_out(const SequentialLayout& layout, const SpareCodec& codec);
    /// Does the same for a scattered layout. Units without useful data are padding.
    void lay_out(std::shared_ptr<const ScatteredLayout> layout, const SpareCodec& codec);

    /// Marks a block as bad at the factory. It must not be programmed or erased (checked).
    void mark_bad(BlockId b);
    bool is_marked_bad(BlockId b) const { return any_marked_ && marked_[idx(b)]; }
    /// True: the power cut off the block's last erase.
    bool is_half_erased(BlockId b) const { return any_unusable_ && !half_erased_.empty() && half_erased_[idx(b)]; }
    bool any_marked_bad() const { return any_marked_; }
    std::uint64_t marked_bad() const {
        return static_cast<std::uint64_t>(std::count(marked_.begin(), marked_.end(), true));
    }

    /// The next page to program, 0 .. pages_per_block (full).
    std::uint32_t next_page(BlockId b) const { return blocks_[idx(b)].next_page; }
    /// The next page after the running program of the block's next page. It counts pages that were programmed ahead.
    std::uint32_t next_page_behind(BlockId b) const {
        return __builtin_expect(ahead_.empty(), 1) ? next_page(b) + 1 : behind_ahead(b);
    }
    std::uint32_t erase_count(BlockId b) const { return blocks_[idx(b)].erase_count; }
    /// True: the pages programmed since the block's last erase are in SLC mode.
    bool slc(BlockId b) const { return any_slc_ && slc_[idx(b)]; }
    /// True: a read in this mode can be decoded. A read in the other mode cannot. Erased cells have no mode.
    bool readable(const PageAddress& a, bool slc) const {
        const BlockId b = geometry_.block_of(a);
        return this->slc(b) == slc || a.page >= next_page(b);
    }
    /// True: some block has been in SLC mode.
    bool any_slc() const { return any_slc_; }
    const NandGeometry& geometry() const { return geometry_; }
    /// Reads or writes the contents. An area that reads them must have the same layout and keep bytes as the one that
    /// wrote them.
    void state(Snapshot& s);

private:
    [[gnu::always_inline]] void set_page(const PageAddress& a, const Spare* units, const PageRecord& record,
                                         const UnitBytes* bytes) {
        if (__builtin_expect(record.content != nullptr, 0)) keep(a, *record.content);
        const std::uint32_t page = idx(geometry_.block_of(a)) * geometry_.pages_per_block + a.page,
                            unit = layout_.unit_of(page);
        const std::size_t first = std::size_t{page} * units_per_page_;
        for (std::uint32_t i = 0; i < units_per_page_; ++i)
            units_.at_write(first + i) = idx(units[i]) ^ at_start(page, unit, i);
        if (__builtin_expect(bytes != nullptr, 0) && bytes_ != nullptr)
            bytes_->program(Ppa{static_cast<std::uint32_t>(first)}, units, bytes);
    }
    std::uint32_t behind_ahead(BlockId b) const;
    void catch_up(BlockId b);
    const PageRecords& kept_records() const {
        SSDTLM_CHECK(keeps_records_, "the record of a page of a flash that keeps none");
        return records_;
    }
    struct Block {
        std::uint32_t next_page = 0;
        std::uint32_t erase_count = 0;
    };
    std::uint64_t page_number(const PageAddress& a) const {
        return std::uint64_t{idx(geometry_.block_of(a))} * geometry_.pages_per_block + a.page;
    }
    void keep(const PageAddress& a, const PageContent& content);
    void forget_contents(BlockId b);
    /// Sets the block's mode with its first page, and checks it with the later ones.
    void set_mode(BlockId b, std::uint32_t page, bool slc);
    [[noreturn]] void refuse_program(BlockId b, std::uint32_t page) const;
    void check_usable(BlockId b) const;
    /// The contents of a slot at start. `page`: number of the page; `unit`: layout_.unit_of() the page.
    std::uint32_t at_start(std::uint32_t page, std::uint32_t unit, std::uint32_t slot) const {
        if (__builtin_expect(scattered_ != nullptr, 0)) return scattered_at_start(Ppa{page * units_per_page_ + slot});
        if (__builtin_expect(unit + slot < layout_.units(), 1)) return (unit + slot) | version_1_;
        return unit < layout_.units() ? idx(kPadding) : idx(kErased);
    }

    std::uint32_t scattered_at_start(Ppa p) const;
    void check_unused() const;

    const NandGeometry geometry_;
    const std::uint32_t units_per_page_;
    std::uint32_t version_1_ = 0;  // as the codec places it
    bool any_slc_ = false;         // slc_ is in use
    bool any_marked_ = false;      // marked_ is in use
    bool any_unusable_ = false;    // marked_ or half_erased_ is in use
    bool keeps_map_ = false;
    bool keeps_records_ = true;
    SparseArray<std::uint32_t> units_;  // XOR of the content and the one at start
    SequentialLayout layout_;
    std::shared_ptr<const ScatteredLayout> scattered_;  // replaces layout_; null: there is none
    std::vector<Block> blocks_;
    std::vector<bool> slc_, marked_, half_erased_;  // by block; empty until the first one
    PageRecords records_;
    std::map<std::uint64_t, PageContent> contents_;  // by page_number()
    std::map<std::uint64_t, PageRecord> ahead_;      // by page_number(): of program_ahead(), not yet in order
    std::unique_ptr<ByteStore> bytes_;
};

}  // namespace ssdtlm
