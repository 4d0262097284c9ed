// SPDX-License-Identifier: Apache-2.0
// Whose work it is and how urgent: travels with a command from its submission queue to the scheduler's port.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// What serves no command of its own (garbage collection, erases, the journal) has the tag as it is here.
struct WorkTag {
    std::uint16_t tenant = 0;    ///< that the command's submission queue was created for; 0: nobody in particular
    std::uint8_t priority = 0;   ///< of the submission queue (QPRIO): 0 urgent, 1 high, 2 medium, 3 low
    std::uint8_t stream = 0;     ///< that a write names (Streams directive), as the controller numbers those open; of a program,
                                 ///< that of all its units; 0: none
    SimTime deadline = kNever;   ///< by which the command should end; kNever: whenever

    /// Requests of one class that do not share a flow may pass each other.
    bool same_flow(const WorkTag& other) const { return tenant == other.tenant && priority == other.priority; }
};

}  // namespace ssdtlm
