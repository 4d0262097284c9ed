// SPDX-License-Identifier: Apache-2.0
// Moves bytes between the controller and host memory. Owns no policy.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

class DmaClient {
public:
    /// A read has arrived: `data` is filled. `at` is now.
    /// A write has been handed to the link: later posted writes follow it on the wire. `at` (>= now) is when its
    /// last TLP is visible in the host. Called exactly once per request.
    virtual void dma_done(std::uint64_t cookie, SimTime at) = 0;

protected:
    ~DmaClient() = default;
};

struct HostSegment {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
};

/// All calls return at once; requests of one direction start in call order.
class DmaPort {
public:
    virtual ~DmaPort() = default;
    /// Device -> host memory (MWr). `data` holds the sum of the segments' bytes and is consumed before
    /// dma_done. client may be null.
    virtual void write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data, DmaClient* client,
                            std::uint64_t cookie) = 0;
    /// Host memory -> device (MRd/CplD). `data` must stay valid until dma_done.
    virtual void read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, DmaClient* client,
                           std::uint64_t cookie) = 0;
};

}  // namespace ssdtlm
