// SPDX-License-Identifier: Apache-2.0
// The data of commands between drive and host, in whatever way the front end has for that. The firmware knows no
// address of the host.
#pragma once

#include <cstdint>

#include "controller/ports/command.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

/// `bytes` of a command's data from `offset` on. Both calls return at once; all else is as with DmaPort, whose rules on
/// order, on the life of `data`, and on `content` hold here.
class HostPort {
public:
    virtual ~HostPort() = default;
    virtual void to_host(const Command& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                         const DmaThen& then, ByteEnables content, const DmaTerms& terms = kPlainTerms) = 0;
    virtual void from_host(const Command& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                           const DmaThen& then, ByteEnables content) = 0;
};

}  // namespace ssdtlm
