// SPDX-License-Identifier: Apache-2.0
// An observer of the wires of a link. Null: nobody observes.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "protocol/tlp.h"

namespace ssdtlm {

/// TLPs of one kind that leave back to back. A burst that waits for credits in its middle counts as one. For a bulk
/// write, it is the TLPs that are found at one time to have begun.
struct WireBurst {
    TlpKind kind;
    std::uint32_t tlps;  ///< and header credits
    std::uint32_t data_credits;
    std::uint64_t wire_bytes;
    SimTime start;
    SimTime end;
    SimTime credits_back;  ///< those of the last TLP
    bool bulk = false;     ///< TLPs of a bulk write, some or all of them
    bool last = true;      ///< with the last one
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
