// SPDX-License-Identifier: Apache-2.0
// What every page of the flash holds: one Spare per mapping unit (it stands for the data), and per block the next
// page to program and the erase count. Pages of a block are programmed once between erases and in ascending order,
// as the datasheets of MLC, TLC and QLC parts demand; anything else panics. No data bytes, no bit errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

/// Changed by the dies when an array operation ends, and directly (untimed) by preconditioning.
class SpareArea {
public:
    explicit SpareArea(const NandGeometry& geometry);
    ~SpareArea();
    SpareArea(const SpareArea&) = delete;
    SpareArea& operator=(const SpareArea&) = delete;

    /// kErased when the page was not programmed since its block's last erase.
    Spare at(Ppa p) const { return Spare{~units_[idx(p)]}; }
    void prefetch(Ppa p) const { __builtin_prefetch(units_ + idx(p)); }
    /// Copies the units of one page to `out` (units_per_page entries).
    void read_page(const PageAddress& a, Spare* out) const { read_page(geometry_.ppa_of(a, 0), out); }
    /// Same, by the first slot of the page.
    void read_page(Ppa first_slot, Spare* out) const {
        const std::uint32_t* from = units_ + idx(first_slot);
        for (std::uint32_t i = 0; i < units_per_page_; ++i) out[i] = Spare{~from[i]};
    }
    /// Programs one page; `units` has units_per_page entries, none kErased (a slot without data is kPadding).
    void program_page(const PageAddress& a, const Spare* units) {
        const BlockId b = geometry_.block_of(a);
        Block& block = blocks_[idx(b)];
        if (__builtin_expect(a.page != block.next_page || a.page >= geometry_.pages_per_block, 0))
            refuse_program(b, a.page);
        ++block.next_page;
        std::uint32_t* to = units_ + idx(geometry_.ppa_of(a, 0));
        for (std::uint32_t i = 0; i < units_per_page_; ++i) to[i] = ~idx(units[i]);
    }
    /// Same, by the first slot of the page.
    void program(Ppa first_slot, const Spare* units) { program_page(geometry_.page_of(first_slot), units); }
    void erase(BlockId b);

    /// Next page to program, 0 .. pages_per_block (full).
    std::uint32_t next_page(BlockId b) const { return blocks_[idx(b)].next_page; }
    std::uint32_t erase_count(BlockId b) const { return blocks_[idx(b)].erase_count; }
    const NandGeometry& geometry() const { return geometry_; }

private:
    struct Block {
        std::uint32_t next_page = 0;
        std::uint32_t erase_count = 0;
    };
    [[noreturn]] void refuse_program(BlockId b, std::uint32_t page) const;

    const NandGeometry geometry_;
    const std::uint32_t units_per_page_;
    std::uint32_t* units_ = nullptr;  // complement of the value: fresh zero pages of the kernel are erased flash
    std::size_t bytes_ = 0;
    std::vector<Block> blocks_;
};

}  // namespace ssdtlm
