// SPDX-License-Identifier: Apache-2.0
// Who wants to see what garbage collection does. Off means null.
#pragma once

#include "controller/ftl/superblock.h"

namespace ssdtlm {

class GcProbe {
public:
    /// The victim has been chosen; nothing of it is moved yet.
    virtual void victim_chosen(SuperblockId victim) = 0;
    /// It is empty and, unless it is retired, erased.
    virtual void victim_ended(SuperblockId victim) = 0;

protected:
    ~GcProbe() = default;
};

}  // namespace ssdtlm
