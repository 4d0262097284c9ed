// SPDX-License-Identifier: Apache-2.0
// Effects of flash failures on the drive since the start. The FTL writes them; commands, SMART and reports read them.
#pragma once

#include <cstdint>

namespace ssdtlm {

struct MediaHealth {
    bool read_only = false;              ///< a block failed and no spare one was left: the host writes no more
    std::uint8_t available_spare = 100;  ///< percent of the spare blocks, where fewest are left
    std::uint64_t program_failures = 0;  ///< pages
    std::uint64_t erase_failures = 0;    ///< superblocks
    std::uint64_t blocks_retired = 0;    ///< grown bad blocks, and those of other planes that leave with them
    std::uint64_t units_lost = 0;  ///< their only copy could not be read when it had to be moved, merged or written
};

}  // namespace ssdtlm
