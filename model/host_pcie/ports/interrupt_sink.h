// SPDX-License-Identifier: Apache-2.0
// Receives the MSI-X messages that arrive at the root complex. There is no interrupt controller; the sink adds its own
// latency.
#pragma once

#include <cstdint>

namespace ssdtlm {

class InterruptSink {
public:
    /// An MSI-X write of `data` to `address` has reached the root complex; Agenda::now() is that moment.
    virtual void interrupt(std::uint64_t address, std::uint32_t data) = 0;

protected:
    ~InterruptSink() = default;
};

}  // namespace ssdtlm
