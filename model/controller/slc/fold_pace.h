// SPDX-License-Identifier: Apache-2.0
// How fast the SLC cache is folded while the host writes (slc.fold_rate): each unit that the host writes to a group of
// planes pays for so much of a unit of the cache that folding makes free there. Folding never waits; where it lags
// behind what is paid for, the host's next pages wait for it. What is left over when a victim ends is paid with the
// next one. It is forgotten as soon as the cache is no longer short of free superblocks.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "controller/ftl/superblock.h"
#include "controller/ports/gc_pace.h"

namespace ssdtlm {

class FoldPace final : public SourcePace {
public:
    /// Returns true if the host has to pay for what it writes to the group. `folds`: a superblock is being folded.
    using Owes = std::function<bool(GroupId group, bool folds)>;

    /// `ahead_pages`: pages of a plane that folding may lag behind. Assumed: as many as collection has under way
    /// (gc.max_inflight_pages).
    FoldPace(const SuperblockShape& shape, std::uint32_t percent, std::uint32_t ahead_pages, Owes owes)
        : percent_(percent),
          ahead_(std::uint64_t{ahead_pages} * shape.units() / shape.pages() * shape.planes()),
          owes_(std::move(owes)),
          groups_(shape.groups()) {}

    bool limits() const override { return percent_ != 0; }
    /// A victim begins. When its `valid` units have been moved, all its `units` are free.
    void begun(GroupId group, std::uint32_t valid, std::uint32_t units) override {
        Group& g = groups_[idx(group)];
        g.valid = valid;
        g.units = units;
        g.folds = true;
    }
    void host_wrote(GroupId group, std::uint32_t units, const GcLevel&) override {
        Group& g = groups_[idx(group)];
        g.hundredths = owes_(group, g.folds) ? g.hundredths + std::uint64_t{units} * percent_ : 0;
    }
    bool may_move(GroupId, std::uint64_t, std::uint32_t) const override { return true; }
    bool holds_host(GroupId group, std::uint64_t finished) const override {
        const Group& g = groups_[idx(group)];
        return finished < g.valid && finished * g.units / g.valid + ahead_ <= g.hundredths / 100;
    }
    void ended(GroupId group) override {
        Group& g = groups_[idx(group)];
        g.folds = false;
        g.hundredths -= std::min(g.hundredths, std::uint64_t{100} * g.units);
    }
    void state(Snapshot& s) override {
        for (Group& g : groups_) s(g.hundredths);
    }

private:
    struct Group {
        std::uint64_t hundredths = 0;        // of a unit: to be made free
        std::uint32_t valid = 0, units = 1;  // of the victim
        bool folds = false;                  // a victim is being emptied
    };
    const std::uint32_t percent_;
    const std::uint64_t ahead_;
    const Owes owes_;
    std::vector<Group> groups_;
};

}  // namespace ssdtlm
