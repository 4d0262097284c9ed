// SPDX-License-Identifier: Apache-2.0
#include "controller/cpu/cache_fill.h"

#include <algorithm>

namespace ssdtlm {

namespace {
constexpr std::uint32_t kVersion = 1;  // as preconditioning writes
}

std::uint64_t CacheFill::run(std::uint64_t units, const Next& next) {
    // It writes twice the map's room of units. By then the share of dirty entries is steady.
    if (map_ != nullptr)
        for (std::uint64_t i = 0, n = 2 * std::min(map_->room_in_units(), units); i < n; ++i)
            limit_ != nullptr ? limit_->write_in_no_time(next()) : map_->write_in_no_time(next());
    if (services_.cache != nullptr && services_.cache->filled_by_writes())
        for (std::uint64_t i = 0, n = std::min<std::uint64_t>(services_.cache->capacity(), units); i < n; ++i)
            cache(next());
    const std::uint64_t before = services_.buffer.inserted(),
                        room = std::min<std::uint64_t>(services_.buffer.capacity(), units);
    // With a buffer that has room for nearly all units, the last ones are drawn late, so the number of tries is
    // bounded.
    for (std::uint64_t i = 0; services_.buffer.used() < room && i < 4 * room; ++i) buffer(next());
    return services_.buffer.inserted() - before;
}

std::uint64_t CacheFill::put_back(const CacheContents& contents) {
    for (const Lpa lpa : contents.cached) cache(lpa);
    const std::uint64_t before = services_.buffer.inserted();
    for (const CacheContents::Written& w : contents.buffered)
        if (services_.buffer.reserve(1)) insert(w.lpa, w.stream);
    return services_.buffer.inserted() - before;
}

void CacheFill::cache(Lpa lpa) {
    ReadCache::Unit unit{lpa, kVersion, place(), {}};
    if (bytes_) unit.bytes = UnitBytes::copy_of(content(lpa).data(), services_.geometry.kept_bytes());
    services_.cache->insert(unit);
}

void CacheFill::buffer(Lpa lpa) {
    const std::uint8_t stream = services_.streams != nullptr ? services_.streams->written(lpa) : std::uint8_t{0};
    // Written again it would hold the same, but the run would begin with a hit counted.
    if (services_.buffer.find(lpa) != WriteBuffer::kNone || !services_.buffer.reserve(1)) return;
    insert(lpa, stream);
}

void CacheFill::insert(Lpa lpa, std::uint8_t stream) {
    const WriteBuffer::Index older = services_.buffer.find(lpa);
    if (services_.cache != nullptr) services_.cache->drop(lpa);
    const WriteBuffer::Index entry =
        services_.buffer.insert(lpa, kVersion, WriteBuffer::kNoWaiter, WriteBuffer::Bytes::whole, stream, place());
    if (bytes_) services_.bytes->insert(entry, older, 0, services_.extents.unit_bytes, content(lpa).data(), false);
}

const std::vector<std::uint8_t>& CacheFill::content(Lpa lpa) {
    content_.resize(services_.geometry.kept_bytes());
    for (std::uint32_t b = 0; b < services_.extents.blocks_per_unit; ++b)
        bytes_->fill(std::uint64_t{idx(lpa)} * services_.extents.blocks_per_unit + b, kVersion,
                     content_.data() + std::size_t{b} * services_.extents.lba_bytes);
    return content_;
}

}  // namespace ssdtlm
