// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "host_sata/link/sata_link_config.h"

namespace ssdtlm {

/// Who watches a link, for waves and tests. Costs nothing where nobody does.
class SataProbe {
public:
    /// A frame has got the wire. `fis` is valid during the call only. Another one that begins at the same time is in
    /// its place.
    virtual void frame_begins(SimTime now, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes,
                              SimTime ends) = 0;
    /// The wire is free again; false: R_ERR, or cut off.
    virtual void frame_ends(SimTime now, bool ok) = 0;
    virtual void phy(SimTime now, bool up) = 0;

protected:
    ~SataProbe() = default;
};

}  // namespace ssdtlm
