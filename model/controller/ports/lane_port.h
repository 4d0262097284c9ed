// SPDX-License-Identifier: Apache-2.0
// Lanes as those see them who sort units by what they may be written with, and where (ftl/allocation/lanes.h).
#pragma once

#include <cstdint>

#include "common/address/geometry.h"

namespace ssdtlm {

class LanePort {
public:
    virtual std::uint32_t count() const = 0;
    /// Of a unit written by this stream; below count().
    virtual std::uint32_t of(Lpa lpa, std::uint8_t stream) const = 0;

protected:
    ~LanePort() = default;
};

}  // namespace ssdtlm
