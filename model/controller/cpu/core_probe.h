// SPDX-License-Identifier: Apache-2.0
// An observer of what the cores do. Null: nobody observes.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "controller/ports/core_port.h"

namespace ssdtlm {

class CoreProbe {
public:
    /// Called when the step is given to the core; it runs from `start` (now or later) to `end`. `command`: number of
    /// the command that it works for, or CorePort::kNoCommand.
    virtual void on_step(std::uint32_t core, CoreStep step, std::uint64_t command, SimTime start, SimTime end) = 0;

protected:
    ~CoreProbe() = default;
};

}  // namespace ssdtlm
