// SPDX-License-Identifier: Apache-2.0
// The host's memory for a part of a command's data, as segments for the DMA engine.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ports/command.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

class HostSegments {
public:
    struct List {
        const HostSegment* first;
        std::uint32_t count;
    };
    /// Of `bytes` from `offset` in the command's data; valid until the next call.
    List of(const Command& c, std::uint64_t offset, std::uint64_t bytes) {
        const std::uint64_t first = c.pages.front();
        if (((first & (c.host_page_bytes - 1)) + offset + bytes) > c.host_page_bytes) return cut(c, offset, bytes);
        one_ = HostSegment{first + offset, static_cast<std::uint32_t>(bytes)};
        return {&one_, 1};
    }

private:
    List cut(const Command& c, std::uint64_t offset, std::uint64_t bytes);

    HostSegment one_;
    std::vector<HostSegment> many_;
};

}  // namespace ssdtlm
