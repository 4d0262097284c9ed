// SPDX-License-Identifier: Apache-2.0
// The map's table in the DRAM as a core sees it through its data cache. A step of the firmware names the entries that
// it looks at or changes. The port says how long the core waits for those that the cache lacks.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// Entries of consecutive mapping units.
struct TableSpan {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

class TablePort {
public:
    virtual ~TablePort() = default;
    /// Names entries that the next step of `number` looks at, or `changes`.
    virtual void want(std::uint64_t number, TableSpan entries, bool changes) = 0;
    /// How long that step waits for all entries it named. Steps with the same `number` share a core, as in CorePort.
    virtual Ps wait() = 0;
};

}  // namespace ssdtlm
