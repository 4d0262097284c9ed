// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/protection/metadata_transfers.h"

#include <algorithm>
#include <utility>

#include "controller/nvme/protection/command_metadata.h"

namespace ssdtlm {

MetadataTransfers::Move& MetadataTransfers::begin(Kind kind, NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes,
                                                  const DmaThen& then) {
    Move& m = moves_.acquire();
    m.kind = kind;
    m.pending = 1;
    m.command = &c;
    m.offset = offset;
    m.bytes = bytes;
    m.then = then;
    m.end = DmaEnd{};
    m.data.clear();
    m.metadata.clear();
    return m;
}

void MetadataTransfers::to_host(NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                                const DmaThen& then, const DmaTerms& terms) {
    CommandMetadata& metadata = *c.special.metadata;
    metadata.check_part(offset, bytes, data);
    Move& m = begin(Kind::to_host, c, offset, bytes, then);
    metadata.for_host(offset, bytes, data, m.data, m.metadata);
    const std::uint64_t first = metadata.in_host_data(offset);
    segments_.clear();
    if (c.data.skips()) {  // bit buckets take some of the bytes
        wanted_.clear();
        c.data.for_each(first, m.data.size(), [&](std::uint64_t place, std::uint64_t n) {
            c.data.segments(place, n, segments_);
            const auto at = m.data.begin() + static_cast<std::ptrdiff_t>(place - first);
            wanted_.insert(wanted_.end(), at, at + static_cast<std::ptrdiff_t>(n));
        });
        m.data.swap(wanted_);
    } else {
        c.data.segments(first, m.data.size(), segments_);
    }
    // Each transfer has to be told at its own end, because the command ends with the later one.
    DmaTerms each = terms;
    each.prompt = true;
    const std::uint64_t number = Pool<Move>::handle_of(m).number();
    const auto done = DmaThen::to<&MetadataTransfers::transferred>(this, number);
    if (!m.metadata.empty()) {
        ++m.pending;
        const CommandMetadata::Span span = metadata.span(offset, bytes);
        const HostSegment buffer{span.address, span.bytes};
        dma_.write_host(&buffer, 1, m.metadata.data(), done, {}, each);
    }
    if (segments_.empty())
        agenda_.post(std::max(agenda_.now(), terms.from), Then::to<&MetadataTransfers::not_wanted>(this, number));
    else
        dma_.write_host(segments_.data(), static_cast<std::uint32_t>(segments_.size()), m.data.data(), done, {}, each);
}

void MetadataTransfers::from_host(NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                                  const DmaThen& then) {
    Move& m = begin(Kind::write, c, offset, bytes, then);
    m.to = data;
    read_host(m);
}

void MetadataTransfers::compare(NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                                const DmaThen& then, SimTime from) {
    Move& m = begin(Kind::compare, c, offset, bytes, then);
    m.of_drive = data;
    m.from = from;
    read_host(m);
}

void MetadataTransfers::read_host(Move& m) {
    const CommandMetadata& metadata = *m.command->special.metadata;
    const std::uint64_t first = metadata.in_host_data(m.offset), end = metadata.in_host_data(m.offset + m.bytes);
    const auto done = DmaThen::to<&MetadataTransfers::transferred>(this, Pool<Move>::handle_of(m).number());
    const CommandMetadata::Span span = metadata.span(m.offset, m.bytes);
    m.data.resize(end - first);
    segments_.clear();
    m.command->data.segments(first, end - first, segments_);
    if (metadata.has_buffer() && span.bytes != 0) {
        ++m.pending;
        m.metadata.resize(span.bytes);
        const HostSegment buffer{span.address, span.bytes};
        dma_.read_host(&buffer, 1, m.metadata.data(), done);
    }
    dma_.read_host(segments_.data(), static_cast<std::uint32_t>(segments_.size()), m.data.data(), done);
}

void MetadataTransfers::transferred(std::uint64_t move, DmaEnd end) {
    Move& m = moves_.at(move);
    m.end.at = std::max(m.end.at, end.at);
    m.end.failed = m.end.failed || end.failed;
    if (--m.pending == 0) ended(m, move);
}

void MetadataTransfers::ended(Move& m, std::uint64_t move) {
    CommandMetadata& metadata = *m.command->special.metadata;
    const DmaThen then = std::exchange(m.then, DmaThen{});
    DmaEnd end = m.end;
    if (m.kind == Kind::to_host) {
        agenda_.post(end.data_free_at(), Then::to<&MetadataTransfers::sent>(this, move));
        return then(end);
    }
    if (!end.failed && m.kind == Kind::write)
        end.failed = !metadata.take_written(m.offset, m.bytes, m.data.data(), m.metadata.data(), m.to);
    if (!end.failed && m.kind == Kind::compare) {
        metadata.take_compared(m.offset, m.bytes, m.of_drive, m.data.data(), m.metadata.data());
        if (m.from > end.at) {
            m.then = then;
            agenda_.post(m.from, Then::to<&MetadataTransfers::compared>(this, move));
            return;
        }
    }
    // A read of the host that fails may end before the data of the flash have come. The command does not.
    if (m.kind == Kind::compare) end.at = std::max(end.at, m.from);
    moves_.release(m);
    then(end);
}

void MetadataTransfers::compared(std::uint64_t move) {
    Move& m = moves_.at(move);
    const DmaThen then = std::exchange(m.then, DmaThen{});
    moves_.release(m);
    then({agenda_.now()});
}

}  // namespace ssdtlm
