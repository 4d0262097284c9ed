// SPDX-License-Identifier: Apache-2.0
// The logical blocks of a hybrid map: where in which data block a mapping unit has its place. Each group of planes has
// the rows of logical units that an ascending write of a fresh drive would give it (allocation/write_partitions.h with
// all dimensions static), and as many of these rows as a superblock has are a logical block. So an ascending write goes
// to all groups in turn, and what the state `sequential` lays out is data blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

/// A page of a logical block. Its place is the page of this number in a data block (superblock.h).
struct LogicalPage {
    GroupId group{};
    std::uint32_t block = 0;  ///< of the group
    std::uint32_t page = 0;

    friend bool operator==(const LogicalPage& a, const LogicalPage& b) {
        return a.group == b.group && a.block == b.block && a.page == b.page;
    }
    friend bool operator!=(const LogicalPage& a, const LogicalPage& b) { return !(a == b); }
};

class LogicalBlocks {
public:
    /// `sequence`: all groups in the order of allocation.
    LogicalBlocks(const NandGeometry& g, const SuperblockShape& shape, const std::vector<GroupId>& sequence,
                  std::uint64_t units)
        : units_(units),
          rows_(static_cast<std::uint32_t>((units + std::uint64_t{shape.planes()} * g.units_per_page() - 1) /
                                           (std::uint64_t{shape.planes()} * g.units_per_page()))),
          rows_per_block_(g.pages_per_block),
          planes_(shape.planes()),
          per_page_(g.units_per_page()),
          by_row_(shape.planes() * g.units_per_page()),
          by_page_(g.units_per_page()),
          by_groups_(shape.groups()),
          by_block_(g.pages_per_block),
          groups_(sequence),
          position_of_(shape.groups()) {
        for (std::uint32_t i = 0; i < groups_.size(); ++i) position_of_[idx(groups_[i])] = i;
    }

    LogicalPage page_of(Lpa lpa) const {
        const std::uint32_t row = by_row_(idx(lpa)), in_row = idx(lpa) - row * planes_ * per_page_;
        const std::uint32_t of_group = by_groups_(row), block = by_block_(of_group);
        return {groups_[row - of_group * static_cast<std::uint32_t>(groups_.size())], block,
                (of_group - block * rows_per_block_) * planes_ + by_page_(in_row)};
    }
    /// The first logical unit of the page; the page's other units follow it.
    Lpa first_unit(const LogicalPage& p) const {
        const std::uint32_t in_block = p.page / planes_;
        const std::uint64_t row =
            (std::uint64_t{p.block} * rows_per_block_ + in_block) * groups_.size() + position_of_[idx(p.group)];
        return Lpa{static_cast<std::uint32_t>((row * planes_ + (p.page - in_block * planes_)) * per_page_)};
    }
    /// Units that exist of the page. Only the last page of the drive may have fewer than fit in.
    std::uint32_t units(const LogicalPage& p) const {
        const std::uint64_t first = idx(first_unit(p));
        return first >= units_ ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(per_page_, units_ - first));
    }
    std::uint32_t slot_of(Lpa lpa) const { return idx(lpa) - by_page_(idx(lpa)) * per_page_; }
    /// Logical blocks of a group, the last of which may be shorter.
    std::uint32_t count(GroupId group) const { return (rows_of(group) + rows_per_block_ - 1) / rows_per_block_; }
    /// Pages of a logical block that have units.
    std::uint32_t pages(GroupId group, std::uint32_t block) const {
        const std::uint32_t rows = std::min(rows_per_block_, rows_of(group) - block * rows_per_block_);
        std::uint32_t n = rows * planes_;
        while (units({group, block, n - 1}) == 0) --n;
        return n;
    }

private:
    std::uint32_t rows_of(GroupId group) const {
        const auto groups = static_cast<std::uint32_t>(groups_.size());
        return rows_ / groups + (position_of_[idx(group)] < rows_ % groups ? 1 : 0);
    }

    const std::uint64_t units_;
    const std::uint32_t rows_, rows_per_block_, planes_, per_page_;
    const FastDivide by_row_, by_page_, by_groups_, by_block_;
    const std::vector<GroupId> groups_;
    std::vector<std::uint32_t> position_of_;
};

}  // namespace ssdtlm
