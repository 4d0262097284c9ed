// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// Parameters of the host bus adapter. Accesses to host memory take the time of the PCIe link in addition.
struct AhciConfig {
    Ps access_time{100'000};        ///< a register access at the adapter's end of PCIe -> it takes effect. assumed
    Ps issue_time{200'000};         ///< a command's table has arrived -> its frame is offered to the link. assumed
    std::uint32_t fifo_frames = 2;  ///< Data FISes of 8 KiB that fit in each direction, 1..16. assumed
};

}  // namespace ssdtlm
