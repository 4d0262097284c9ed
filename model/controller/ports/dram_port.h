// SPDX-License-Identifier: Apache-2.0
// The controller's DRAM as its users see it: bytes that pass it, and when the last of them has.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

class DramPort {
public:
    virtual ~DramPort() = default;
    /// Moves `bytes` from `now`, behind all that was asked for before; returns when the last byte has been accessed.
    virtual SimTime access(SimTime now, std::uint64_t bytes) = 0;
};

}  // namespace ssdtlm
