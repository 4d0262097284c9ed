// SPDX-License-Identifier: Apache-2.0
// Which groups of planes a logical address may be written to. Static dimensions (Hu et al., "Exploring and exploiting the
// multilevel parallelism inside SSDs", 2013) come from the address: it names the channel, way, die or plane where a fresh drive would
// have it after one ascending write. The others are chosen as pages are written. A lane is what one value of the static
// dimensions leaves to choose from: with none there is one lane, with all of them each group is one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"
#include "controller/ftl/allocation/plane_order.h"
#include "controller/ftl/superblock.h"
#include "controller/ports/lane_port.h"

namespace ssdtlm {

/// "none", and the 15 other choices among C, W, D and P, in this order.
std::vector<std::string> static_dimensions();

class Lanes final : public LanePort {
public:
    /// `rows`: a row_sequence() of this shape. `fixed`: of static_dimensions().
    Lanes(const std::string& fixed, const std::vector<PlaneId>& rows, const NandGeometry& geometry, const SuperblockShape& shape);

    std::uint32_t count() const override { return static_cast<std::uint32_t>(cursors_.size()); }
    std::uint32_t of(Lpa lpa) const override { return count() == 1 ? 0 : lane_of_position_[position_of(idx(lpa))]; }
    std::uint32_t of(GroupId group) const { return lane_of_group_[idx(group)]; }
    /// All groups in the order of allocation.
    const std::vector<GroupId>& sequence() const { return sequence_; }
    const std::vector<GroupId>& groups(std::uint32_t lane) const { return cursors_[lane].sequence(); }
    GroupCursor& cursor(std::uint32_t lane) { return cursors_[lane]; }
    GroupCursor& cursor(GroupId group) { return cursors_[of(group)]; }
    std::uint32_t ragged_count() const;

    /// As if so many rows had been written one after another from the first group on.
    void move_to(std::uint64_t rows);
    /// The x-th logical unit of the lane, ascending from 0.
    std::uint64_t nth(std::uint32_t lane, std::uint64_t x) const;

private:
    std::uint32_t position_of(std::uint32_t unit) const {
        const std::uint32_t row = by_row_(unit);
        return row - by_groups_(row) * static_cast<std::uint32_t>(sequence_.size());
    }

    std::vector<GroupId> sequence_;
    std::uint32_t units_per_row_;
    FastDivide by_row_;
    FastDivide by_groups_;
    std::vector<std::uint32_t> lane_of_group_;
    std::vector<std::uint32_t> lane_of_position_;           // in the sequence
    std::vector<std::vector<std::uint32_t>> positions_of_;  // by lane
    std::vector<GroupCursor> cursors_;                      // by lane
};

}  // namespace ssdtlm
