// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "host_sata/link/sata_link_config.h"

namespace ssdtlm {

/// Observes a link, for waves and tests. It costs nothing if there is none.
class SataProbe {
public:
    /// A frame has got the wire. `fis` is valid during the call only. A call for another frame at the same time
    /// replaces it.
    virtual void frame_begins(SimTime now, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes,
                              SimTime ends) = 0;
    /// The wire is free again. `ok` is false after R_ERR, or if the frame was cut off.
    virtual void frame_ends(SimTime now, bool ok) = 0;
    virtual void phy(SimTime now, bool up) = 0;

protected:
    ~SataProbe() = default;
};

}  // namespace ssdtlm
