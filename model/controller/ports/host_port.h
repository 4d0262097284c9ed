// SPDX-License-Identifier: Apache-2.0
// Moves the data of commands between drive and host, in the front end's way. The firmware knows no address of the host.
#pragma once

#include <cstdint>

#include "controller/ports/command.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

/// Both calls move `bytes` of a command's data from `offset` on, and return at once. The command belongs to the front
/// end, which may note in it what the transfer has found. DmaPort's rules on order, on the life of `data`, and on
/// `content` hold here too.
class HostPort {
public:
    virtual ~HostPort() = default;
    virtual void to_host(Command& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                         const DmaThen& then, ByteEnables content, const DmaTerms& terms = kPlainTerms) = 0;
    virtual void from_host(Command& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                           const DmaThen& then, ByteEnables content) = 0;
};

}  // namespace ssdtlm
