// SPDX-License-Identifier: Apache-2.0
// The speed of garbage collection while the host is active, as a policy.
#pragma once

#include <cstdint>

#include "common/snapshot/snapshot.h"
#include "common/units/units.h"

namespace ssdtlm {

/// Free superblocks of a group of planes, and its thresholds.
struct GcLevel {
    std::uint32_t free = 0, soft = 0, hard = 0;
};

/// Contract (tb/unit/firmware/gc_pace_test.cpp holds every registered pace to it):
/// - It is asked only while a victim of the group is being emptied. Collection goes on without asking at or below the
///   hard threshold, while the drive is idle, for superblocks that have failed, and at the end of a run.
/// - If holds_host(group, n) is true, then so is may_move(group, n, any): the host waits only for a collection that
///   goes on.
/// - An answer depends only on the calls since begun().
class GcPace {
public:
    virtual ~GcPace() = default;
    /// A victim of the group with `valid` of its `units` in use will be emptied.
    virtual void begun(GroupId group, std::uint32_t valid, std::uint32_t units) = 0;
    /// Units of the host have been given a place in the group.
    virtual void host_wrote(GroupId group, std::uint32_t units, const GcLevel& level) = 0;
    /// True if the next units of the victim may be read, after `started` units so far. `commands`: the host's commands
    /// that are under way in the device.
    virtual bool may_move(GroupId group, std::uint64_t started, std::uint32_t commands) const = 0;
    /// True if no more host data may be placed in the group, because only `finished` units of its victim have been
    /// moved.
    virtual bool holds_host(GroupId group, std::uint64_t finished) const = 0;
};

/// The pace of a victim source for the victims that it gives itself (VictimSource::pace). It hears of all that the host
/// writes to a group, also while no victim of the source is being emptied.
class SourcePace : public GcPace {
public:
    /// False: it never holds the host back, and it is not asked.
    virtual bool limits() const = 0;
    /// The victim is empty, or it was given up.
    virtual void ended(GroupId group) = 0;
    /// Reads or writes what is left over from victim to victim. Precondition: no victim is being emptied.
    virtual void state(Snapshot& s) = 0;
};

}  // namespace ssdtlm
