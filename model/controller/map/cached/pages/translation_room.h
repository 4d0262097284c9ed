// SPDX-License-Identifier: Apache-2.0
// Which groups of planes a translation page may be written to. Without static dimensions and NVM Sets it may go
// anywhere. With NVM Sets, the pages of a set's range stay in the set; a page that begins in another set's range shares
// no flash page with them. With static dimensions, each share of the groups holds at most its part of the pages, and
// one flash page more: else garbage collection would have no room for the addresses of the share. Some share always
// holds no more than its part, so there is always one that may take some.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/allocation/write_partitions.h"

namespace ssdtlm {

class TranslationRoom {
public:
    /// `partitions` must outlive it. `entries`: map entries in each of the `pages`.
    TranslationRoom(const WritePartitions& partitions, std::uint32_t pages, std::uint32_t entries);

    /// Translation pages of one pool may be in one flash page, and wait for the same groups.
    std::uint32_t pools() const { return static_cast<std::uint32_t>(last_.size()); }
    std::uint32_t pool_of(std::uint32_t page) const {
        return __builtin_expect(pools() == 1, 1) ? 0 : partitions_.share_of(Lpa{page * entries_});
    }
    /// The next group in turn that may take pages of the pool and for which takes(group) is true. False: there is none.
    template <class Takes>
    bool next(std::uint32_t pool, Takes&& takes, GroupId& out) {
        const auto groups = static_cast<std::uint32_t>(partitions_.sequence().size());
        for (std::uint32_t i = 0; i < groups; ++i) {
            last_[pool] = last_[pool] + 1 == groups ? 0 : last_[pool] + 1;
            out = GroupId{last_[pool]};
            if (may_go(pool, out) && takes(out)) return true;
        }
        return false;
    }
    bool may_go(std::uint32_t pool, GroupId group) const {
        const std::uint32_t share = partitions_.share_of(group);
        return (pools() == 1 || share == pool) && held_[share] <= most_[share];
    }
    /// came(): a translation page has its place in the group now. left(): it has it no more.
    void came(GroupId group) { ++held_[partitions_.share_of(group)]; }
    void left(GroupId group) { --held_[partitions_.share_of(group)]; }
    /// Number of translation pages in the share.
    std::uint32_t held(std::uint32_t share) const { return held_[share]; }

    template <class Archive>
    void state(Archive& s) {
        s.fixed(last_);
        s.fixed(held_);
        for (const std::uint32_t group : last_)
            s.require(group < partitions_.sequence().size(), "a turn of a group that there is not");
    }

private:
    const WritePartitions& partitions_;
    const std::uint32_t entries_;
    std::vector<std::uint32_t> last_;         // by pool: the group whose turn it was
    std::vector<std::uint32_t> held_, most_;  // by share
};

}  // namespace ssdtlm
