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
        if (__builtin_expect(!c.data.in_one_piece(), 0)) return cut(c, offset, bytes);
        one_ = HostSegment{c.data.address_of(offset), static_cast<std::uint32_t>(bytes)};
        return {&one_, 1};
    }

private:
    __attribute__((noinline)) List cut(const Command& c, std::uint64_t offset, std::uint64_t bytes) {
        many_.clear();
        c.data.segments(offset, bytes, many_);
        return {many_.data(), static_cast<std::uint32_t>(many_.size())};
    }

    HostSegment one_;
    std::vector<HostSegment> many_;
};

}  // namespace ssdtlm
