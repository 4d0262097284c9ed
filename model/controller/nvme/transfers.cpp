// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/transfers.h"

#include <algorithm>
#include <cstring>

namespace ssdtlm {

namespace {

/// Of two parts of data, in the bytes that have content.
bool differ(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t bytes, ByteEnables content) {
    if (content.pattern == nullptr) return std::memcmp(a, b, bytes) != 0;
    for (std::uint32_t i = 0; i < bytes; ++i)
        if (content.pattern[i % content.bytes] != 0 && a[i] != b[i]) return true;
    return false;
}

}  // namespace

void NvmeTransfers::take(const Command& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                         DmaClient& client, std::uint64_t cookie, ByteEnables content, const DmaTerms& terms) {
    auto& command = const_cast<NvmeCommand&>(static_cast<const NvmeCommand&>(c));
    const SimTime from = std::max(agenda_.now(), terms.from);
    switch (command.special.data) {
        case SpecialCommand::Data::host:
            return host_.to_host(c, offset, bytes, data, client, cookie, content, terms);
        case SpecialCommand::Data::kept:
            std::memcpy(command.special.kept.data() + offset, data, bytes);
            return tell_later(client, cookie, from);
        case SpecialCommand::Data::nowhere:
            return tell_later(client, cookie, from);
        case SpecialCommand::Data::compare:
            break;
    }
    Wait& w = waits_.acquire();
    w.command = &command;
    w.data = data;
    w.bytes = bytes;
    w.content = content;
    w.client = &client;
    w.cookie = cookie;
    w.from = from;
    w.of_host.assign(bytes, 0);
    const HostSegments::List list = segments_.of(command.data, offset, bytes);
    dma_.read_host(list.first, list.count, w.of_host.data(), this, Pool<Wait>::handle_of(w).number(), content);
}

void NvmeTransfers::give(const Command& c, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                         DmaClient& client, std::uint64_t cookie, ByteEnables content) {
    const auto& command = static_cast<const NvmeCommand&>(c);
    if (command.special.data != SpecialCommand::Data::kept)
        return host_.from_host(c, offset, bytes, data, client, cookie, content);
    std::memcpy(data, command.special.kept.data() + offset, bytes);
    tell_later(client, cookie, agenda_.now());
}

void NvmeTransfers::tell_later(DmaClient& client, std::uint64_t cookie, SimTime at) {
    Wait& w = waits_.acquire();
    w.client = &client;
    w.cookie = cookie;
    agenda_.post<&NvmeTransfers::told>(at, this, Pool<Wait>::handle_of(w).number());
}

void NvmeTransfers::told(std::uint64_t wait) {
    Wait& w = waits_.at(wait);
    DmaClient& client = *w.client;
    const std::uint64_t cookie = w.cookie;
    waits_.release(w);
    client.dma_done(cookie, agenda_.now());
}

void NvmeTransfers::dma_done(std::uint64_t wait, SimTime at) {
    Wait& w = waits_.at(wait);
    if (differ(w.data, w.of_host.data(), w.bytes, w.content)) w.command->special.differs = true;
    DmaClient& client = *w.client;
    const std::uint64_t cookie = w.cookie;
    const SimTime from = w.from;
    waits_.release(w);
    if (from > at)
        tell_later(client, cookie, from);
    else
        client.dma_done(cookie, at);
}

void NvmeTransfers::dma_failed(std::uint64_t wait) {
    Wait& w = waits_.at(wait);
    DmaClient& client = *w.client;
    const std::uint64_t cookie = w.cookie;
    waits_.release(w);
    client.dma_failed(cookie);
}

}  // namespace ssdtlm
