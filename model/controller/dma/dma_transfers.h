// SPDX-License-Identifier: Apache-2.0
// The data of commands for which the host gives addresses in its memory: extents for the DMA engine.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/dma/host_data.h"
#include "controller/ports/command.h"
#include "controller/ports/host_port.h"

namespace ssdtlm {

/// A front end's command with its data in the host's memory.
struct AddressedCommand : Command {
    HostData data;  ///< where the host's data lie: read and write
};

/// The host's memory for a part of a command's data, as segments for the DMA engine.
class HostSegments {
public:
    struct List {
        const HostSegment* first;
        std::uint32_t count;
    };
    /// Segments for `bytes` bytes from `offset` in the data. They are valid until the next call.
    List of(const HostData& data, std::uint64_t offset, std::uint64_t bytes) {
        if (__builtin_expect(!data.in_one_piece(), 0)) return cut(data, offset, bytes);
        one_ = HostSegment{data.address_of(offset), static_cast<std::uint32_t>(bytes)};
        return {&one_, 1};
    }

private:
    __attribute__((noinline)) List cut(const HostData& data, std::uint64_t offset, std::uint64_t bytes) {
        many_.clear();
        data.segments(offset, bytes, many_);
        return {many_.data(), static_cast<std::uint32_t>(many_.size())};
    }

    HostSegment one_;
    std::vector<HostSegment> many_;
};

/// Precondition: every command is an AddressedCommand.
class DmaTransfers final : public HostPort {
public:
    explicit DmaTransfers(DmaPort& dma) : dma_(dma) {}

    void to_host(Command& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data, const DmaThen& then,
                 ByteEnables content, const DmaTerms& terms) override {
        const HostSegments::List list = to_.of(static_cast<const AddressedCommand&>(c).data, offset, bytes);
        dma_.write_host(list.first, list.count, data, then, content, terms);
    }
    void from_host(Command& c, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data, const DmaThen& then,
                   ByteEnables content) override {
        const HostSegments::List list = from_.of(static_cast<const AddressedCommand&>(c).data, offset, bytes);
        dma_.read_host(list.first, list.count, data, then, content);
    }

private:
    DmaPort& dma_;
    HostSegments to_, from_;
};

}  // namespace ssdtlm
