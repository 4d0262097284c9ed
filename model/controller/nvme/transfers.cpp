// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/transfers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ssdtlm {

namespace {

/// Compares two parts of data where the bytes have content.
bool differ(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t bytes, ByteEnables content) {
    if (content.pattern == nullptr) return std::memcmp(a, b, bytes) != 0;
    for (std::uint32_t i = 0; i < bytes; ++i)
        if (content.pattern[i % content.bytes] != 0 && a[i] != b[i]) return true;
    return false;
}

}  // namespace

void NvmeTransfers::take(NvmeCommand& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                         const DmaThen& then, ByteEnables content, const DmaTerms& terms) {
    const SimTime from = std::max(agenda_.now(), terms.from);
    const bool has_metadata = command.special.metadata != nullptr;
    switch (command.special.data) {
        case SpecialCommand::Data::host:
            if (has_metadata) return with_metadata_.to_host(command, offset, bytes, data, then, terms);
            if (command.data.skips()) return take_without(command, offset, bytes, data, then, terms);
            return host_.to_host(command, offset, bytes, data, then, content, terms);
        case SpecialCommand::Data::kept:
            std::memcpy(command.special.kept.data() + offset, data, bytes);
            return tell_later(then, from);
        case SpecialCommand::Data::nowhere:
            if (has_metadata) {
                const std::uint64_t before = command.special.before * (command.bytes / command.blocks);
                command.special.metadata->check_part(before + offset, bytes, data);
            }
            return tell_later(then, from);
        case SpecialCommand::Data::compare:
            if (has_metadata) return with_metadata_.compare(command, offset, bytes, data, then, from);
            break;
    }
    Wait& w = waits_.acquire();
    w.command = &command;
    w.data = data;
    w.bytes = bytes;
    w.content = content;
    w.then = then;
    w.from = from;
    w.gathered.assign(bytes, 0);
    const HostSegments::List list = segments_.of(command.data, offset, bytes);
    dma_.read_host(list.first, list.count, w.gathered.data(),
                   DmaThen::to<&NvmeTransfers::compare>(this, Pool<Wait>::handle_of(w).number()), content);
}

/// Transfers a read without the bytes of its bit buckets. The other bytes then have other offsets, so `content` would
/// not describe them. So all of them are transferred.
void NvmeTransfers::take_without(const NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes,
                                 const std::uint8_t* data, const DmaThen& then, const DmaTerms& terms) {
    Wait& w = waits_.acquire();
    w.then = then;
    w.gathered.clear();
    pieces_.clear();
    c.data.for_each(offset, bytes, [&](std::uint64_t place, std::uint64_t n) {
        c.data.segments(place, n, pieces_);
        w.gathered.insert(w.gathered.end(), data + (place - offset), data + (place - offset) + n);
    });
    if (pieces_.empty()) {
        waits_.release(w);
        return tell_later(then, std::max(agenda_.now(), terms.from));
    }
    dma_.write_host(pieces_.data(), static_cast<std::uint32_t>(pieces_.size()), w.gathered.data(),
                    DmaThen::to<&NvmeTransfers::written>(this, Pool<Wait>::handle_of(w).number()), {}, terms);
}

/// Keeps the data until they are in the host's memory.
void NvmeTransfers::written(std::uint64_t wait, DmaEnd end) {
    Wait& w = waits_.at(wait);
    const DmaThen then = std::exchange(w.then, DmaThen{});
    agenda_.post(end.data_free_at(), Then::to<&NvmeTransfers::told>(this, wait));
    then(end);
}

void NvmeTransfers::give(NvmeCommand& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                         const DmaThen& then, ByteEnables content) {
    if (command.special.data != SpecialCommand::Data::kept)
        return command.special.metadata != nullptr ? with_metadata_.from_host(command, offset, bytes, data, then)
                                                   : host_.from_host(command, offset, bytes, data, then, content);
    std::memcpy(data, command.special.kept.data() + offset, bytes);
    tell_later(then, agenda_.now());
}

void NvmeTransfers::tell_later(const DmaThen& then, SimTime at) {
    Wait& w = waits_.acquire();
    w.then = then;
    agenda_.post(at, Then::to<&NvmeTransfers::told>(this, Pool<Wait>::handle_of(w).number()));
}

void NvmeTransfers::told(std::uint64_t wait) {
    Wait& w = waits_.at(wait);
    const DmaThen then = w.then;
    waits_.release(w);
    if (then) then({agenda_.now()});
}

void NvmeTransfers::compare(std::uint64_t wait, DmaEnd end) {
    Wait& w = waits_.at(wait);
    if (!end.failed && differ(w.data, w.gathered.data(), w.bytes, w.content)) w.command->special.differs = true;
    const DmaThen then = w.then;
    const SimTime from = w.from;
    waits_.release(w);
    if (!end.failed && from > end.at) return tell_later(then, from);
    // A read that fails may end before the data of the flash have come, and the command does not.
    end.at = std::max(end.at, from);
    then(end);
}

}  // namespace ssdtlm
