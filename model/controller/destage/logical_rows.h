// SPDX-License-Identifier: Apache-2.0
// Chooses the units of the write buffer for the next row of pages with a mapping by blocks
// (ftl/mapping/block_placement.h). It takes whole pages that continue the sequential log block, as many as are there up
// to the end of a row. Otherwise it takes any units for the random log blocks. Units whose page may soon be whole are
// left for later while there are enough others. The choice only affects the number of merges: the place of a page is
// decided later, by its contents.
//
// With block mapping a page has units of one logical page only. Pages that continue the replacement block come first,
// the lowest one that is near. Otherwise it is the lowest page, of those near, of the logical block whose unit has
// waited longest.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/destage/row_choice.h"
#include "controller/ftl/ftl.h"
#include "controller/ports/host_program.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class LogicalRows {
public:
    /// All arguments must outlive it. The Ftl must have a BlockPlacement.
    LogicalRows(const Ftl& ftl, WriteBuffer& buffer, const RowChoice& choice);

    /// Takes units out of the partition's queue, in the order of pages: a full row, if there are as many and they are
    /// not of whole pages.
    const std::vector<WriteBuffer::Index>& take(std::uint32_t partition);
    /// units_of_page(): how many of the units taken, from number `from` on, go into one page. slot_of(): the slot of
    /// the unit number `taken`, which is the i-th of its page.
    std::uint32_t units_of_page(std::uint32_t from) const;
    std::uint32_t slot_of(std::uint32_t taken, std::uint32_t i) const {
        return placement_.takes_any_units() ? i : logical_.slot_of(buffer_.unit(taken_[taken]).lpa);
    }
    /// Takes pages for the first of these programs, at most `most`. The programs have units in use. Returns how many
    /// pages; 0: a merge comes first.
    std::uint32_t place(const HostProgram* jobs, std::uint32_t most, PageAddress* out) const;
    /// A program will not be placed, because all of its units were deallocated.
    void forget(const HostProgram& job) const {
        placement_.forget_rest(logical_.page_of(buffer_.unit(job.entry[0]).lpa).group);
    }

private:
    bool is_whole(const LogicalPage& page) const;
    void take_run(LogicalPage page);
    void go_on_behind(LogicalPage page);
    LogicalPage nearest_page(GroupId group, std::uint32_t partition) const;
    void take_page(const LogicalPage& page, std::uint32_t partition);
    std::uint32_t looked_at() const { return 4 * choice_.row_units(); }
    bool is_soon_whole(const LogicalPage& page) const;
    bool page_of(const HostProgram& job, LogicalPage& page) const;
    void take_unit(WriteBuffer::Index i) {
        buffer_.take_dirty(i);
        taken_.push_back(i);
    }

    const Ftl& ftl_;
    WriteBuffer& buffer_;
    const RowChoice& choice_;
    BlockPlacement& placement_;
    const LogicalBlocks& logical_;
    const std::uint32_t per_page_;
    std::vector<LogicalPage> next_;                 // by group: which goes on behind what was taken
    std::vector<WriteBuffer::Index> taken_, left_;  // of the take() at hand
};

}  // namespace ssdtlm
