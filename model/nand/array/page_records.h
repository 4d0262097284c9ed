// SPDX-License-Identifier: Apache-2.0
// The PageRecord of every page, in two bytes each. Pages of a block are programmed in order and their numbers ascend,
// so a page stores the difference to the number of the page before. Kernel-free.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/containers/sparse_array.h"
#include "common/report/error.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

/// In a block, only pages that were set since its first page was set last are valid. Pages that were never set have
/// number 0, user data and stream 0.
class PageRecords {
public:
    PageRecords(std::uint32_t blocks, std::uint32_t pages_per_block)
        : pages_per_block_(pages_per_block),
          blocks_(blocks),
          pages_(std::size_t{blocks} * pages_per_block, "page records",
                 SparseArray<std::uint16_t>::Writes::sequential) {}

    /// Precondition (checked): pages of a block are set one after the other, with ascending numbers, all of one stream.
    void set(std::uint32_t block, std::uint32_t page, const PageRecord& record) {
        Block& b = blocks_[block];
        if (page == 0) b = Block{0, record.erases, record.stream};
        SSDTLM_CHECK(record.number >= b.last && record.stream == b.stream,
                     "page record out of order, or of another stream than its block's");
        const std::uint64_t above = record.number - b.last;
        b.last = record.number;
        const std::size_t at = std::size_t{block} * pages_per_block_ + page;
        if (__builtin_expect(above >= kFar, 0)) far_[at] = above;
        const auto step = static_cast<std::uint16_t>(above < kFar ? above : kFar);
        pages_.at_write(at) = static_cast<std::uint16_t>(step << kKindBits | static_cast<std::uint16_t>(record.kind));
    }
    /// Visits the first pages of a block, one after the other.
    class Cursor {
    public:
        Cursor(const PageRecords& records, std::uint32_t block, std::uint32_t pages)
            : records_(&records), block_(block), pages_(pages), record_(records.first(block)) {}
        bool at_end() const { return page_ == pages_; }
        std::uint32_t page() const { return page_; }
        const PageRecord& record() const { return record_; }
        void next() {
            if (++page_ != pages_) records_->step(block_, page_, record_);
        }

    private:
        const PageRecords* records_;
        std::uint32_t block_, pages_;
        std::uint32_t page_ = 0;
        PageRecord record_;
    };
    PageRecord at(std::uint32_t block, std::uint32_t page) const {
        Cursor cursor(*this, block, page + 1);
        while (cursor.page() != page) cursor.next();
        return cursor.record();
    }
    template <class Archive>
    void state(Archive& s) {
        for (Block& b : blocks_) s(b.last, b.erases, b.stream);
        s(pages_);
        s.map(far_);
        for (std::size_t at = 0; s.reads() && at < blocks_.size() * pages_per_block_; ++at) {
            const std::uint16_t entry = pages_[at];
            s.require((entry & ((1u << kKindBits) - 1)) < static_cast<unsigned>(PageKind::count),
                      "a page of a kind that there is not");
            s.require(entry >> kKindBits != kFar || far_.count(at) != 0, "a page without its number");
        }
    }

private:
    static constexpr unsigned kKindBits = 3;
    static constexpr std::uint64_t kFar = (1u << (16 - kKindBits)) - 1;  // the step is in far_
    static_assert(static_cast<unsigned>(PageKind::count) <= 1u << kKindBits);
    struct Block {
        std::uint64_t last = 0;  // number of the page set last
        std::uint32_t erases = 0;
        std::uint8_t stream = 0;
    };
    PageRecord first(std::uint32_t block) const {
        PageRecord r{0, PageKind::user, blocks_[block].stream, blocks_[block].erases};
        step(block, 0, r);
        return r;
    }
    /// Turns the record of the page before into this page's.
    void step(std::uint32_t block, std::uint32_t page, PageRecord& r) const {
        const std::size_t at = std::size_t{block} * pages_per_block_ + page;
        const std::uint16_t entry = pages_[at];
        const std::uint64_t above = entry >> kKindBits;
        r.number += above == kFar ? far_.at(at) : above;
        r.kind = static_cast<PageKind>(entry & ((1u << kKindBits) - 1));
    }

    const std::uint32_t pages_per_block_;
    std::vector<Block> blocks_;
    SparseArray<std::uint16_t> pages_;
    std::unordered_map<std::size_t, std::uint64_t> far_;  // old entries stay, until they are replaced or for good
};

}  // namespace ssdtlm
