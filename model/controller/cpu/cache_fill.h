// SPDX-License-Identifier: Apache-2.0
// Fills the drive's DRAM as a busy host leaves it: a full write buffer, all of it dirty; a read cache of units that
// have left the buffer (if writes fill it); and the part of a map on the flash that these writes use, as dirty as they
// leave it. It takes no simulated time and follows the caches' own rules. The flash has all of these data too, so a
// loss of power loses none.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/random/block_bytes.h"
#include "controller/commands/command_services.h"
#include "controller/map/cached/cached_map.h"
#include "controller/map/cached/dirty_limit.h"

namespace ssdtlm {

/// Contents of the write buffer and the read cache of a busy drive, in the order in which they would leave.
struct CacheContents {
    struct Written {
        Lpa lpa{};
        std::uint8_t stream = 0;
    };
    std::vector<Written> buffered;
    std::vector<Lpa> cached;
};

class CacheFill {
public:
    /// Returns the unit that the host writes next.
    using Next = std::function<Lpa()>;

    /// `map`: null when it is all in memory. `limit`: null when dirty pages have no limit. `bytes`: contents of blocks
    /// with version 1, where contents are bytes.
    CacheFill(const CommandServices& services, CachedMap* map, DirtyLimit* limit,
              const std::optional<BlockBytes>& bytes)
        : services_(services), map_(map), limit_(limit), bytes_(bytes) {}

    /// The host writes among `units` units. Precondition: the caches are empty. Returns the units put into the write
    /// buffer.
    std::uint64_t run(std::uint64_t units, const Next& next);
    /// Like run(), with the cache contents of an equal drive.
    std::uint64_t put_back(const CacheContents& contents);

private:
    std::uint32_t place() {
        return static_cast<std::uint32_t>(services_.dram.place(services_.extents.unit_bytes) /
                                          services_.extents.unit_bytes);
    }
    /// The unit's bytes at the start, with metadata of zeros; empty: its version stands for them.
    const std::vector<std::uint8_t>& content(Lpa lpa);
    void buffer(Lpa lpa);
    void insert(Lpa lpa, std::uint8_t stream);
    void cache(Lpa lpa);

    CommandServices services_;
    CachedMap* map_;
    DirtyLimit* limit_;
    const std::optional<BlockBytes>& bytes_;
    std::vector<std::uint8_t> content_;
};

}  // namespace ssdtlm
