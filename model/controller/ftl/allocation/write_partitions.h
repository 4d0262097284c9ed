// SPDX-License-Identifier: Apache-2.0
// Which groups of planes a logical address may be written to. Static dimensions (Hu et al., "Exploring and exploiting
// the multilevel parallelism inside SSDs", 2013) come from the address: it names the channel, way, die or plane where a
// fresh drive would have it after one ascending write. The other dimensions are chosen as pages are written. A share is
// the set of groups among which one value of the static dimensions leaves the choice. Without static dimensions the
// only share is all groups; with all four, each group is a share. With NVM Sets (nvm_sets.h) each set is a share, and
// gets a range of the addresses. Each write stream that has superblocks of its own is written beside the others. A
// partition is one stream in one share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"
#include "controller/ftl/allocation/nvm_sets.h"
#include "controller/ftl/allocation/plane_order.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

/// All choices among C, W, D and P: "none" and the 15 others, in this order.
std::vector<std::string> static_dimensions();

class WritePartitions {
public:
    /// `rows`: a row_sequence() of this shape. `fixed`: one of static_dimensions(). `streams`: the streams with
    /// superblocks of their own, beside stream 0 for all others. `sets`: NVM Sets of `logical_units`, or none; with
    /// sets, `fixed` is "none".
    WritePartitions(const std::string& fixed, const std::vector<PlaneId>& rows, const NandGeometry& geometry,
                    const SuperblockShape& shape, std::uint32_t streams = 0, const NvmSets& sets = {},
                    std::uint64_t logical_units = 0);

    std::uint32_t shares() const { return shares_; }
    std::uint32_t streams() const { return streams_; }
    std::uint32_t share_of(Lpa lpa) const {
        if (shares_ == 1) return 0;
        return ranges_.empty() ? share_of_position_[position_of(idx(lpa))] : share_of_range(idx(lpa));
    }
    /// True: each share has a range of the addresses.
    bool has_ranges() const { return !ranges_.empty(); }
    std::uint32_t share_of(GroupId group) const { return share_of_group_[idx(group)]; }

    std::uint32_t count() const { return count_; }
    /// The partition of a unit that this stream writes; below count().
    std::uint32_t of(Lpa lpa, std::uint8_t stream = 0) const { return stream_of(stream) * shares_ + share_of(lpa); }
    std::uint32_t of(GroupId group, std::uint32_t stream = 0) const { return stream * shares_ + share_of(group); }
    /// The stream's number for partitions, below streams() + 1. Streams without superblocks of their own go with 0.
    std::uint32_t stream_of(std::uint8_t stream) const { return stream > streams_ ? 0 : stream; }
    std::uint32_t stream_of_partition(std::uint32_t partition) const { return streams_ == 0 ? 0 : partition / shares_; }
    /// All groups in the order of allocation.
    const std::vector<GroupId>& sequence() const { return sequence_; }
    const std::vector<GroupId>& groups(std::uint32_t partition) const { return cursors_[partition].sequence(); }
    GroupCursor& cursor(std::uint32_t partition) { return cursors_[partition]; }
    GroupCursor& cursor(GroupId group, std::uint32_t stream) { return cursors_[of(group, stream)]; }
    std::uint32_t ragged_count() const;

    /// Moves all cursors as if this many rows had been written one after another from the first group on.
    void move_to(std::uint64_t rows);
    /// The x-th logical unit of the share, in ascending order, from 0.
    std::uint64_t nth(std::uint32_t share, std::uint64_t x) const;
    /// How many of the share's first units include all its units below `units`. Without ranges it counts whole rounds
    /// of all groups, so the last of them may lie at or above `units`: whoever draws among them must check.
    std::uint64_t first_units(std::uint32_t share, std::uint64_t units) const;
    template <class Archive>
    void state(Archive& s) {
        s.fixed(cursors_);
    }
    bool any_held(std::uint32_t partition) const { return cursors_[partition].any_held(); }
    bool able(GroupId group, std::uint32_t stream) const { return cursors_[of(group, stream)].able(group); }

private:
    std::uint32_t position_of(std::uint32_t unit) const {
        const std::uint32_t row = by_row_(unit);
        return row - by_groups_(row) * static_cast<std::uint32_t>(sequence_.size());
    }
    std::uint32_t share_of_range(std::uint32_t unit) const;

    std::vector<GroupId> sequence_;
    std::uint32_t units_per_row_;
    FastDivide by_row_;
    FastDivide by_groups_;
    const std::uint32_t streams_;
    std::uint32_t shares_ = 1, count_ = 1;
    std::vector<std::uint32_t> share_of_group_;
    std::vector<std::uint32_t> share_of_position_;          // in the sequence
    std::vector<std::vector<std::uint32_t>> positions_of_;  // by share
    std::vector<std::uint64_t>
        ranges_;  // by share: its first address, and the end; empty: the address is a place in the sequence
    std::vector<GroupCursor> cursors_;  // by partition
};

}  // namespace ssdtlm
