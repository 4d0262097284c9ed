// SPDX-License-Identifier: Apache-2.0
// Who may have a superblock collected. The victim policy is one source, which wins room; others have reasons of their
// own. Victims (victims.h) asks them in turn.
#pragma once

#include <cstdint>

#include "controller/ftl/gc/victim_policy.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

/// When a source is asked, the first one first.
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
    /// The group has something for it that should be collected now. `idle`: the host asks for nothing.
    virtual bool wants(GroupId, bool /*idle*/) const { return false; }
    /// A superblock that is nobody's candidate any more. kNoSuperblock: the next source is asked.
    virtual SuperblockId take(GroupId group, bool idle) = 0;
    /// No source behind it is asked.
    virtual bool decides_alone(GroupId) const { return false; }
    /// Each victim of the group, whoever has given it.
    virtual void chosen(GroupId, SuperblockId /*victim*/, const VictimSource& /*by*/) {}

    /// Why its victims are collected.
    virtual VictimReason reason() const { return VictimReason::space; }
    /// Its victims begin a collection, which is counted; else that was done before, or it is no collection.
    virtual bool is_counted() const { return true; }
    /// What is moved out of its victims goes to a superblock of its own, where data lie that hardly change.
    virtual bool moves_cold() const { return false; }

    // Superblocks that are no candidates of the policy.
    virtual bool owns(SuperblockId) const { return false; }
    /// Of these, the one with the fewest valid units whose erase gives the group a free one. kNoSuperblock: none.
    virtual SuperblockId emptiest(GroupId) const { return kNoSuperblock; }
    /// What emptiest() has said is to be collected.
    virtual void give(SuperblockId) {}
};

}  // namespace ssdtlm
