// SPDX-License-Identifier: Apache-2.0
// A tag that says whose work it is, and how urgent. The tag travels with a command from its submission queue to the
// scheduler's port. Written data take it through the write buffer to their program.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// Reads that a command waits for, and reads of the map for it, have the command's tag. A program of host data has
/// tenant, priority and submission time of the write that its first unit came with, and no deadline. All other work of
/// the firmware (collection, erases, the journal, the map, parity) belongs to the flow that caused it: the flow whose
/// data got a page last when the work began. For a collection, that is the moment when its victim was chosen. Before
/// the first write since the start, such work has the default tag: it belongs to nobody.
struct WorkTag {
    std::uint16_t tenant = 0;    ///< that the command's submission queue was created for; 0: nobody in particular
    std::uint8_t priority = 0;   ///< of the submission queue (QPRIO): 0 urgent, 1 high, 2 medium, 3 low
    std::uint8_t stream = 0;     ///< that a write names (Streams directive), as the controller numbers those open; of a
                                 ///< program, that of all its units; 0: none
    SimTime deadline = kNever;   ///< by which the command should end; kNever: whenever
    SimTime submitted = kNever;  ///< when the doorbell said that the command is there; kNever: the work is nobody's

    /// True if both belong to the same flow. Requests of one class that do not share a flow may pass each other.
    bool same_flow(const WorkTag& other) const {
        return tenant == other.tenant && priority == other.priority && is_nobodys() == other.is_nobodys();
    }
    /// The tag for work that is done later, when no command waits for it any more.
    WorkTag without_deadline() const { return {tenant, priority, 0, kNever, submitted}; }
    bool is_nobodys() const { return submitted == kNever; }
};

}  // namespace ssdtlm
