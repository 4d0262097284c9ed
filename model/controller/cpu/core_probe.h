// SPDX-License-Identifier: Apache-2.0
// Who wants to see what the cores do. Off means null.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "controller/ports/core_port.h"

namespace ssdtlm {

class CoreProbe {
public:
    static constexpr std::uint32_t kNoCommand = CorePort::kNoCommand;
    /// Called when the step is given to the core; it runs from `start` (now or later) to `end`. `command`: index of the
    /// command that it works for, or kNoCommand.
    virtual void on_step(std::uint32_t core, CoreStep step, std::uint32_t command, SimTime start, SimTime end) = 0;

protected:
    ~CoreProbe() = default;
};

}  // namespace ssdtlm
