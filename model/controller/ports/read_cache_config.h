// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ssdtlm {

enum class ReadCacheReplacement : std::uint8_t {
    lru,  ///< what was not read for longest leaves
    fifo  ///< what entered first leaves
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
};

}  // namespace ssdtlm
