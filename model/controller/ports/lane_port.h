// SPDX-License-Identifier: Apache-2.0
// Lanes as those see them who sort units by where they may be written (ftl/allocation/lanes.h).
#pragma once

#include <cstdint>

#include "common/address/geometry.h"

namespace ssdtlm {

class LanePort {
public:
    virtual std::uint32_t count() const = 0;
    /// Below count().
    virtual std::uint32_t of(Lpa lpa) const = 0;

protected:
    ~LanePort() = default;
};

}  // namespace ssdtlm
