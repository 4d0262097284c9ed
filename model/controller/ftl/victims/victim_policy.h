// SPDX-License-Identifier: Apache-2.0
// Victim selection: which full block of a group garbage collection empties next. When it runs and how fast is not
// decided here.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/policy_registry.h"
#include "common/snapshot/snapshot.h"
#include "controller/ftl/superblock.h"
#include "controller/ftl/victims/choice_law.h"

namespace ssdtlm {

/// Why a victim was chosen.
enum class VictimReason : std::uint8_t {
    space,   ///< free blocks are few
    wear,    ///< static wear levelling
    failed,  ///< a program in it has failed
    fold,    ///< it is one of the SLC cache
    refresh  ///< it has been read too often
};

/// One policy serves all groups of the device. The contract:
/// - A block is a candidate from sealed() until select() returns it or removed() is called for it. It is sealed again
///   only after an erase.
/// - invalidated() tells each time that a unit of a candidate lost its meaning. It is on the path of every host write,
///   so it must be O(1). A policy that needs the valid counts remembers them from here and from sealed().
/// - choose(group) returns a candidate of this group with at least `reclaim_units` invalid units and at most
///   `most_valid` valid ones. It must return one if there is one; the block is no candidate any more. Else it returns
///   kNoSuperblock. (A page can only be won back whole, so collecting less than a page of invalid units would win
///   nothing, forever.) Only a policy that is set to do so (random, least_invalid_pages = 0) returns others too, while
///   there is one with so many.
/// - `clock` counts the units that the host has written. It is the only time there is, and it never falls.
/// - It is deterministic: the same calls give the same answers; chance comes from the seed only.
class VictimPolicy {
public:
    virtual ~VictimPolicy() = default;
    /// All pages of the block are programmed, `valid` of its units are in use.
    virtual void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t clock) = 0;
    /// The candidate has one valid unit less, now `valid`.
    virtual void invalidated(SuperblockId block, std::uint32_t valid) = 0;
    SuperblockId select(GroupId group, std::uint64_t clock, std::uint32_t most_valid = ~0u) {
        return choose(group, clock, most_valid);
    }
    /// The block is no candidate any more: it is collected for another reason.
    virtual void removed(SuperblockId block) = 0;
    /// The law for a steady state by formula (precondition.state = "analytic"). A policy without one works in the other
    /// states.
    virtual ChoiceLaw law() const { return {}; }
    /// Reads or writes what it remembers; it is read into a fresh policy. A policy without it works in drives that are
    /// not saved.
    virtual void state(Snapshot& s) { s.refuse("the choice of victims (gc.policy) does not say what it remembers"); }
    /// Whether these are the candidates that it has read. `valid`: by superblock, its valid units, or kNoCandidate.
    static constexpr std::uint32_t kNoCandidate = 0xFFFFFFFFu;
    virtual bool agrees(const std::vector<std::uint32_t>& valid) const {
        (void)valid;
        return true;
    }

protected:
    virtual SuperblockId choose(GroupId group, std::uint64_t clock, std::uint32_t most_valid) = 0;
};

struct VictimPolicySetup {
    SuperblockShape shape;
    std::uint32_t reclaim_units = 1;
    std::uint64_t seed = 0;
};

/// All victim policies that are linked into the program. gc.policy names one, and [gc.<name>] has its parameters.
using VictimPolicies = PolicyRegistry<VictimPolicy, VictimPolicySetup>;

}  // namespace ssdtlm
