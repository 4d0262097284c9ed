// SPDX-License-Identifier: Apache-2.0
// The interface of an observer of a link's wires.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "protocol/tlp.h"

namespace ssdtlm {

/// TLPs of one kind that leave back to back. A burst that waits for credits within it counts as one. For a bulk write,
/// it has the TLPs that are found to have begun at one time.
struct WireBurst {
    TlpKind kind;
    std::uint32_t tlps;  ///< also the number of header credits
    std::uint32_t data_credits;
    std::uint64_t wire_bytes;
    SimTime start;
    SimTime end;
    SimTime credits_back;  ///< when the credits of the last TLP are back
    bool bulk = false;     ///< TLPs of a bulk write, some or all of them
    bool last = true;      ///< the last TLP is among them
};

class LinkProbe {
public:
    /// Called when the burst gets its place on the wire; for a bulk write, later, but before LinkDirection::catch_up()
    /// returns.
    virtual void on_wire(const WireBurst& burst) = 0;

protected:
    ~LinkProbe() = default;
};

}  // namespace ssdtlm
