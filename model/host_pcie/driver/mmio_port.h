// SPDX-License-Identifier: Apache-2.0
// The boundary of register accesses of the host's CPU to the controller's BAR0. Kernel-free.
#pragma once

#include <cstdint>

namespace ssdtlm {

class MmioClient {
public:
    virtual void mmio_read_done(std::uint32_t value) = 0;

protected:
    ~MmioClient() = default;
};

class MmioPort {
public:
    /// Posts a 32-bit store to `offset` of BAR0. Later accesses stay behind it.
    virtual void write32(std::uint32_t offset, std::uint32_t value) = 0;
    /// Loads 32 bits. The client gets the value in a later event.
    virtual void read32(std::uint32_t offset, MmioClient& client) = 0;

protected:
    ~MmioPort() = default;
};

}  // namespace ssdtlm
