// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace ssdtlm {

enum class ReadCacheReplacement : std::uint8_t {
    lru,   ///< what was not read for longest leaves
    fifo,  ///< what entered first leaves
    cflru  ///< lru, but of the coldest few the clean ones leave first; with the room of the buffer
};
enum class ReadCacheSpace : std::uint8_t {
    own,    ///< `bytes`
    buffer  ///< what the write buffer leaves of its own (shared_cache/)
};
enum class ReadCacheFill : std::uint8_t {
    reads,   ///< what was read from the flash
    writes,  ///< what was written to it from the write buffer
    both
};

struct ReadCacheConfig {
    std::uint64_t bytes = 0;  ///< of the DRAM; less than a unit: none
    ReadCacheReplacement replacement = ReadCacheReplacement::lru;
    ReadCacheFill fill = ReadCacheFill::reads;
    ReadCacheSpace room = ReadCacheSpace::own;
    std::uint32_t window_percent = 25;    ///< cflru: of the room: how many are the coldest few
    std::vector<std::uint32_t> quotas{};  ///< per cent of `bytes`, of tenants 1, 2, ...; empty: shared by all
    bool shares_room() const { return room == ReadCacheSpace::buffer; }
};

}  // namespace ssdtlm
