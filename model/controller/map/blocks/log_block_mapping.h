// SPDX-License-Identifier: Apache-2.0
// The mappings by blocks (hybrid_map.h): with random log blocks (ftl.mapping = fast), or without (block).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/ftl/mapping/mapping.h"

namespace ssdtlm {

class LogBlockMapping : public Mapping {
public:
    /// `random_logs`: random log blocks of each group; 0: block mapping.
    LogBlockMapping(const MappingSetup& setup, std::uint32_t random_logs) : Mapping(setup), random_logs_(random_logs) {}

    void check(std::vector<Problem>& out) const override;
    bool places_by_blocks() const override { return true; }
    /// The map needs one entry for hundreds of units, which is not counted.
    std::uint64_t memory_bytes() const override { return 0; }
    /// Log blocks of each group: the random ones and the sequential one.
    std::uint32_t log_blocks() const override { return random_logs_ + 1; }
    Merges most_merges(std::uint64_t buffered, std::uint64_t logical) const override;
    /// All four dimensions are static: a unit has its place in one logical block.
    std::string static_dimensions() const override;
    std::uint32_t streams() const override;
    std::unique_ptr<BlockPlacement> place(const PlacementSetup& setup) const override;

protected:
    std::uint32_t random_logs() const { return random_logs_; }

private:
    const std::uint32_t random_logs_;
};

}  // namespace ssdtlm
