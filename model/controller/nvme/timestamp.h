// SPDX-License-Identifier: Apache-2.0
// The clock that the host sets (Feature 0Eh, NVMe 1.4 §5.21.1.14). It holds milliseconds since 1970, or since the
// power-on if nobody has set it.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

class Timestamp {
public:
    static constexpr std::uint32_t kBytes = 8;

    void set(std::uint64_t milliseconds, SimTime now) {
        base_ = milliseconds & kMask;
        since_ = now;
        by_host_ = true;
    }
    /// Starts the clock again at a power-on at this time.
    void restart(SimTime now) { *this = Timestamp(now); }

    Timestamp() = default;
    std::uint64_t milliseconds(SimTime now) const {
        return (base_ + static_cast<std::uint64_t>((now - since_) / 1ms)) & kMask;
    }
    /// Returns the field: bits 47:0 are the time, and bits 51:49 the origin (1: the host has set it).
    std::uint64_t field(SimTime now) const { return milliseconds(now) | std::uint64_t{by_host_ ? 1u : 0u} << 49; }

private:
    explicit Timestamp(SimTime now) : since_(now) {}
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;

    std::uint64_t base_ = 0;
    SimTime since_{};
    bool by_host_ = false;
};

}  // namespace ssdtlm
