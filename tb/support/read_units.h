// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "support/run_closed_loop.h"

namespace ssdtlm {

/// Reads the given units of 4 KiB in this order, `depth` at a time. Returns result.json of the run.
inline nlohmann::json read_units(const SsdConfig& c, const std::vector<std::uint32_t>& units, std::uint32_t depth = 1) {
    ClosedLoop::Spec s;
    s.pattern = ClosedLoop::Pattern::list;
    for (const std::uint32_t unit : units) s.offsets.push_back(std::uint64_t{unit} * 4096);
    s.requests = units.size();
    s.depth = depth;
    s.span = c.ftl.user_capacity_bytes;
    return run_closed_loop(c, s);
}

}  // namespace ssdtlm
