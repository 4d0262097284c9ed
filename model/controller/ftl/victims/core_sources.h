// SPDX-License-Identifier: Apache-2.0
// The sources of victims that every FTL has: superblocks that have failed, those that are half emptied, any that helps
// when no superblock is free, and the choice of the victim policy.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/feature.h"
#include "controller/ftl/victims/open_room.h"
#include "controller/ftl/victims/victim_source.h"

namespace ssdtlm {

/// Gives superblocks in which a program has failed and all other programs have ended. While no superblock is free,
/// another one has to be erased first, unless there is room behind what GC wrote last.
class FailedVictims final : public VictimSource {
public:
    FailedVictims(const FeatureSetup& setup, const OpenRoom& room) : in_(setup), room_(room) {}
    SuperblockId take(GroupId group, bool idle) override;
    VictimReason reason() const override { return VictimReason::failed; }
    bool is_counted() const override { return false; }

private:
    const FeatureSetup in_;
    const OpenRoom& room_;
};

/// Gives the victims that preconditioning or the end of collecting has left half emptied. They are the next ones of
/// their groups.
class BegunVictims final : public VictimSource {
public:
    explicit BegunVictims(std::uint32_t groups) : begun_(groups, kNoSuperblock) {}
    /// The group's half emptied victim; kNoSuperblock: it has none.
    SuperblockId of(GroupId group) const { return begun_[idx(group)]; }
    void leave(GroupId group, SuperblockId victim) { begun_[idx(group)] = victim; }
    SuperblockId take(GroupId group, bool) override { return std::exchange(begun_[idx(group)], kNoSuperblock); }
    bool is_counted() const override { return false; }
    void state(Snapshot& s) { s.fixed(begun_); }

private:
    std::vector<SuperblockId> begun_;
};

/// While the group has no free superblock, it gives the emptiest one, if its units have room behind what GC wrote last.
/// When there is no such room the drive becomes read-only.
class ScarceVictims final : public VictimSource {
public:
    ScarceVictims(const FeatureSetup& setup, OpenRoom& room) : in_(setup), room_(room) {}
    SuperblockId take(GroupId group, bool idle) override;
    bool decides_alone(GroupId group) const override;

private:
    void go_on_elsewhere(GroupId group);

    const FeatureSetup in_;
    OpenRoom& room_;
};

class PolicyVictims final : public VictimSource {
public:
    PolicyVictims(const FeatureSetup& setup, const OpenRoom& room) : in_(setup), room_(room) {}
    SuperblockId take(GroupId group, bool idle) override;

private:
    std::uint32_t most_valid(GroupId group) const;

    const FeatureSetup in_;
    const OpenRoom& room_;
};

}  // namespace ssdtlm
