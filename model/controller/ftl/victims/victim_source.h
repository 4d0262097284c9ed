// SPDX-License-Identifier: Apache-2.0
// A source of victims may have superblocks collected. The victim policy is one source, which wins room; others have
// reasons of their own. Victims (victims.h) asks them in turn.
#pragma once

#include <cstdint>

#include "controller/ftl/superblock.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/ports/gc_pace.h"

namespace ssdtlm {

/// The order in which sources are asked.
enum class VictimTurn : std::uint8_t {
    failed,       ///< what must be emptied because a program in it has failed
    begun,        ///< what is half emptied
    out_of_turn,  ///< has a reason to collect beside few free superblocks: wants() is asked
    scarce,       ///< decides alone while the group has no free superblock
    instead,      ///< now and then in place of the policy's choice
    by_policy,
    last  ///< has something to give when nobody else has
};

class VictimSource {
public:
    virtual ~VictimSource() = default;
    /// True: the group has something for this source that should be collected now. `idle`: the host asks for nothing.
    virtual bool wants(GroupId, bool /*idle*/) const { return false; }
    /// Gives a superblock, which is then nobody's candidate any more. kNoSuperblock: the next source is asked.
    virtual SuperblockId take(GroupId group, bool idle) = 0;
    /// True: no source behind it is asked.
    virtual bool decides_alone(GroupId) const { return false; }
    /// Called for each victim of the group, whichever source has given it.
    virtual void chosen(GroupId, SuperblockId /*victim*/, const VictimSource& /*by*/) {}

    /// Why its victims are collected.
    virtual VictimReason reason() const { return VictimReason::space; }
    /// How fast its victims are emptied while the host writes. Null: as fast as all others (gc.pace).
    virtual SourcePace* pace() { return nullptr; }
    /// True: its victims begin a collection, which is counted. False: the collection was counted before, or it is none.
    virtual bool is_counted() const { return true; }
    /// True: the data of its victims are moved to a separate superblock for data that hardly change.
    virtual bool moves_cold() const { return false; }

    // Superblocks that are no candidates of the policy.
    virtual bool owns(SuperblockId) const { return false; }
    /// The superblock with the fewest valid units of those it owns whose erase gives the group a free one.
    /// kNoSuperblock: there is none.
    virtual SuperblockId emptiest(GroupId) const { return kNoSuperblock; }
    /// Gives away the superblock that emptiest() returned: it is collected now.
    virtual void give(SuperblockId) {}
};

}  // namespace ssdtlm
