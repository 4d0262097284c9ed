// SPDX-License-Identifier: Apache-2.0
#include "nand/array/spare_area.h"

#include <algorithm>
#include <string>

namespace ssdtlm {

SpareArea::SpareArea(const NandGeometry& geometry)
    : geometry_(geometry),
      units_per_page_(geometry.units_per_page()),
      units_(static_cast<std::size_t>(geometry.units()), "flash contents",
             SparseArray<std::uint32_t>::Writes::sequential),
      layout_(geometry),
      blocks_(geometry.blocks()),
      records_(geometry.blocks(), geometry.pages_per_block) {
    SSDTLM_CHECK(units_per_page_ >= 1 && units_per_page_ <= kMaxUnitsPerPage, "units per page out of range");
    SSDTLM_CHECK(geometry.units() < idx(kUnmapped), "more mapping units than a Ppa can name");
}

void SpareArea::keep_bytes(const SpareCodec& codec, const BlockBytes& at_start) {
    bytes_ = std::make_unique<ByteStore>(geometry_, codec, at_start);
}

void SpareArea::erase(BlockId b) {
    SSDTLM_CHECK(idx(b) < blocks_.size(), "erase of a block that does not exist");
    if (is_marked_bad(b)) check_usable(b);
    if (!half_erased_.empty()) half_erased_[idx(b)] = false;
    Block& block = blocks_[idx(b)];
    std::size_t at = std::size_t{idx(b)} * geometry_.units_per_block();
    const std::uint32_t first = idx(b) * geometry_.pages_per_block;
    std::uint32_t unit = layout_.unit_of(first);
    for (std::uint32_t page = 0; page < block.next_page; ++page, unit += layout_.stride())
        for (std::uint32_t s = 0; s < units_per_page_; ++s)
            units_.at_write(at++) = idx(kErased) ^ at_start(first + page, unit, s);
    block.next_page = 0;
    ++block.erase_count;
    if (any_slc_) slc_[idx(b)] = false;
    forget_contents(b);
    if (bytes_ != nullptr) bytes_->erase(b);
}

void SpareArea::mark_bad(BlockId b) {
    SSDTLM_CHECK(blocks_[idx(b)].next_page == 0 && blocks_[idx(b)].erase_count == 0,
                 "a mark of the factory on a block that is in use");
    if (!any_marked_) marked_.resize(blocks_.size());
    any_marked_ = any_unusable_ = true;
    marked_[idx(b)] = true;
}

__attribute__((noinline)) void SpareArea::check_usable(BlockId b) const {
    if (is_marked_bad(b))
        panic("SpareArea",
              "block " + std::to_string(idx(b)) + " is programmed or erased, which the factory has marked bad");
    if (is_half_erased(b))
        panic("SpareArea",
              "block " + std::to_string(idx(b)) + " is programmed, whose erase the power cut off; erase it again");
}

void SpareArea::program_ahead(const PageAddress& a, const Spare* units, const PageRecord& record,
                              const UnitBytes* bytes) {
    const BlockId b = geometry_.block_of(a);
    if (a.page == next_page(b)) return program_page(a, units, record, bytes);
    if (a.page < next_page(b) || a.page >= geometry_.pages_per_block) refuse_program(b, a.page);
    set_page(a, units, record, bytes);
    ahead_[page_number(a)] = PageRecord{record.number, record.kind, record.stream, record.erases};
}

/// Counts the pages that were programmed ahead in this block, because the page before them has been programmed.
__attribute__((noinline, cold)) void SpareArea::catch_up(BlockId b) {
    Block& block = blocks_[idx(b)];
    const std::uint64_t first = std::uint64_t{idx(b)} * geometry_.pages_per_block;
    for (auto next = ahead_.find(first + block.next_page);
         next != ahead_.end() && next->first == first + block.next_page && block.next_page < geometry_.pages_per_block;
         next = ahead_.erase(next), ++block.next_page)
        if (keeps_records_) records_.set(idx(b), block.next_page, next->second);
}

__attribute__((noinline, cold)) std::uint32_t SpareArea::behind_ahead(BlockId b) const {
    std::uint32_t page = next_page(b) + 1;
    while (ahead_.count(std::uint64_t{idx(b)} * geometry_.pages_per_block + page) != 0) ++page;
    return page;
}

void SpareArea::state(Snapshot& s) {
    SSDTLM_CHECK(ahead_.empty(), "a snapshot while pages are programmed out of order");
    s.section("flash");
    SSDTLM_CHECK(keeps_records_, "a snapshot of a flash that keeps no records of its pages");
    s(any_slc_, any_marked_, any_unusable_, keeps_map_, units_, slc_, marked_, half_erased_, records_);
    s.fixed(blocks_);
    s.map(contents_);
    if (bytes_ != nullptr) {
        s.section("bytes");
        bytes_->state(s);
    }
    if (!s.reads()) return;
    for (const std::vector<bool>* const of_blocks : {&slc_, &marked_, &half_erased_})
        s.require(of_blocks->empty() || of_blocks->size() == blocks_.size(), "a table of other blocks");
    s.require(any_slc_ == !slc_.empty() && any_marked_ == !marked_.empty() &&
                  any_unusable_ == (any_marked_ || !half_erased_.empty()),
              "a table that is not in use");
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
        s.require(
            blocks_[b].next_page <= (slc(BlockId{b}) ? geometry_.slc_pages_per_block() : geometry_.pages_per_block),
            "more pages than a block has");
        s.require(!is_marked_bad(BlockId{b}) || blocks_[b].next_page == 0,
                  "pages in a block that the factory has marked");
    }
    for (const auto& [page, content] : contents_)
        s.require(page < std::uint64_t{geometry_.blocks()} * geometry_.pages_per_block &&
                      content.size() * sizeof(std::uint64_t) <= geometry_.page_bytes,
                  "contents of a page that there is not");
}

__attribute__((noinline)) void SpareArea::set_mode(BlockId b, std::uint32_t page, bool slc) {
    if (slc && page >= geometry_.slc_pages_per_block()) refuse_program(b, page);
    if (page != 0) {
        SSDTLM_CHECK(this->slc(b) == slc, "a page programmed in another mode than its block's first page");
        return;
    }
    if (!slc) return;  // the mode is as the erase left it
    if (!any_slc_) slc_.resize(blocks_.size());
    any_slc_ = true;
    slc_[idx(b)] = true;
}

__attribute__((noinline, cold)) void SpareArea::keep(const PageAddress& a, const PageContent& content) {
    SSDTLM_CHECK(content.size() * sizeof(std::uint64_t) <= geometry_.page_bytes, "more in a page than its size");
    contents_[page_number(a)] = content;
}

void SpareArea::check_unused() const {
    for (const Block& b : blocks_)
        SSDTLM_CHECK(b.next_page == 0 && b.erase_count == 0, "lay-out of flash that is in use");
}

void SpareArea::lay_out(std::shared_ptr<const ScatteredLayout> layout, const SpareCodec& codec) {
    check_unused();
    scattered_ = std::move(layout);
    version_1_ = idx(codec.make(Lpa{0}, 1));
    for (std::uint32_t b = 0; b < blocks_.size(); ++b)
        if (!scattered_->is_erased(BlockId{b})) blocks_[b].next_page = geometry_.pages_per_block;
}

__attribute__((noinline)) std::uint32_t SpareArea::scattered_at_start(Ppa p) const {
    const std::uint32_t unit = scattered_->unit_at(p);
    if (unit == ScatteredLayout::kNotProgrammed) return idx(kErased);
    return unit == ScatteredLayout::kNothing ? idx(kPadding) : unit | version_1_;
}

void SpareArea::lay_out(const SequentialLayout& layout, const SpareCodec& codec) {
    check_unused();
    layout_ = layout;
    version_1_ = idx(codec.make(Lpa{0}, 1));
    for (std::uint32_t p = 0; p < geometry_.planes(); ++p) {
        std::uint32_t pages = layout.pages_in(PlaneId{p});
        for (std::uint32_t n = 0; pages != 0; ++n) {
            Block& b = blocks_[idx(geometry_.block_id(PlaneId{p}, n))];
            b.next_page = std::min(pages, geometry_.pages_per_block);
            pages -= b.next_page;
        }
    }
}

void SpareArea::tear(const PageAddress& a, bool slc) {
    const std::vector<Spare> torn(units_per_page_, kTorn);
    program_page(a, torn.data(),
                 a.page == 0 || !keeps_records_ ? PageRecord{} : record(PageAddress{a.plane, a.block, a.page - 1}),
                 nullptr, slc);
}

void SpareArea::spoil(const PageAddress& a) {
    SSDTLM_CHECK(a.page < next_page(geometry_.block_of(a)), "a page is spoiled that was not programmed");
    const std::uint32_t page = static_cast<std::uint32_t>(page_number(a)), unit = layout_.unit_of(page);
    for (std::uint32_t i = 0; i < units_per_page_; ++i)
        units_.at_write(std::size_t{page} * units_per_page_ + i) = idx(kTorn) ^ at_start(page, unit, i);
    contents_.erase(page_number(a));
}

void SpareArea::tear_block(BlockId b) {
    const Block& block = blocks_[idx(b)];
    std::size_t at = std::size_t{idx(b)} * geometry_.units_per_block();
    const std::uint32_t first = idx(b) * geometry_.pages_per_block;
    std::uint32_t unit = layout_.unit_of(first);
    for (std::uint32_t page = 0; page < block.next_page; ++page, unit += layout_.stride())
        for (std::uint32_t s = 0; s < units_per_page_; ++s)
            units_.at_write(at++) = idx(kTorn) ^ at_start(first + page, unit, s);
    forget_contents(b);
    if (bytes_ != nullptr) bytes_->erase(b);
    if (block.next_page == 0) return;  // the cells of an empty block stay erased
    half_erased_.resize(blocks_.size());
    half_erased_[idx(b)] = any_unusable_ = true;
}

void SpareArea::forget_contents(BlockId b) {
    if (contents_.empty()) return;
    const std::uint64_t first = std::uint64_t{idx(b)} * geometry_.pages_per_block;
    contents_.erase(contents_.lower_bound(first), contents_.lower_bound(first + geometry_.pages_per_block));
}

void SpareArea::refuse_program(BlockId b, std::uint32_t page) const {
    const PlaneId plane = geometry_.plane_of(b);
    const std::uint32_t next = next_page(b);
    std::string what = "die " + std::to_string(idx(geometry_.die_of(plane))) + " plane " +
                       std::to_string(geometry_.plane_in_die(plane)) + " block " +
                       std::to_string(geometry_.block_in_plane(b)) + ": program of page " + std::to_string(page);
    if (page >= geometry_.pages_per_block)
        what += ", which does not exist; pages 0 to " + std::to_string(geometry_.pages_per_block - 1);
    else if (page == next)
        what += ", which does not exist in SLC mode; " + std::to_string(geometry_.slc_pages_per_block()) + " pages do";
    else if (page < next)
        what += ", which is not erased; a page is programmed once between erases, next is page " + std::to_string(next);
    else
        what +=
            " out of order; pages of a block are programmed in ascending order, next is page " + std::to_string(next);
    panic("SpareArea", what);
}

}  // namespace ssdtlm
