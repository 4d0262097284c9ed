// SPDX-License-Identifier: Apache-2.0
// An observer of garbage collection. Null: nobody observes.
#pragma once

#include "controller/ftl/superblock.h"

namespace ssdtlm {

class GcProbe {
public:
    /// The victim has been chosen, and none of it is moved yet.
    virtual void victim_chosen(SuperblockId victim) = 0;
    /// The victim is empty and, unless it is retired, erased.
    virtual void victim_ended(SuperblockId victim) = 0;

protected:
    ~GcProbe() = default;
};

}  // namespace ssdtlm
