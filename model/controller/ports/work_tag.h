// SPDX-License-Identifier: Apache-2.0
// Whose work it is and how urgent: travels with a command from its submission queue to the scheduler's port, and with
// what was written through the write buffer to the program.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// What a command waits for has the tag of the command: reads, and reads of the map for it. A program of the host's
/// data has tenant, priority and submission of the write that its first unit came with, and no deadline. All else that
/// the firmware does (collection, erases, the journal, the map, parity) belongs to whoever has caused it: the flow
/// whose data got a page last when it began; of a collection, when its victim was chosen. Before the first write since
/// the start it belongs to nobody, as the tag is here.
struct WorkTag {
    std::uint16_t tenant = 0;    ///< that the command's submission queue was created for; 0: nobody in particular
    std::uint8_t priority = 0;   ///< of the submission queue (QPRIO): 0 urgent, 1 high, 2 medium, 3 low
    std::uint8_t stream = 0;     ///< that a write names (Streams directive), as the controller numbers those open; of a
                                 ///< program, that of all its units; 0: none
    SimTime deadline = kNever;   ///< by which the command should end; kNever: whenever
    SimTime submitted = kNever;  ///< when the doorbell said that the command is there; kNever: the work is nobody's

    /// Requests of one class that do not share a flow may pass each other.
    bool same_flow(const WorkTag& other) const {
        return tenant == other.tenant && priority == other.priority && is_nobodys() == other.is_nobodys();
    }
    /// Of what is done later, when no command waits for it any more.
    WorkTag without_deadline() const { return {tenant, priority, 0, kNever, submitted}; }
    bool is_nobodys() const { return submitted == kNever; }
};

}  // namespace ssdtlm
