// SPDX-License-Identifier: Apache-2.0
// The map's table in the DRAM, as a core sees it: through its data cache. A step of the firmware says which entries it
// looks at or changes, and is told how long its core waits for those that the cache does not have.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// Entries of mapping units that follow one another.
struct TableSpan {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

class TablePort {
public:
    virtual ~TablePort() = default;
    /// Entries that the next step of `number` looks at, or `changes`.
    virtual void want(std::uint64_t number, TableSpan entries, bool changes) = 0;
    /// How long that step waits for all it wants. Steps with the same `number` share a core, as in CorePort.
    virtual Ps wait() = 0;
};

}  // namespace ssdtlm
