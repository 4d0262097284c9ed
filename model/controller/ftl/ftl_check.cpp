// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/ftl_check.h"

#include <algorithm>

#include "controller/ftl/allocation/plane_order.h"
#include "controller/ftl/gc/victim_policy.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

std::vector<std::string> mapping_names() {
    return {"page"};
}

std::uint64_t logical_units_of(const FtlConfig& config, const NandGeometry& g) {
    return (config.user_capacity_bytes + g.unit_bytes - 1) / g.unit_bytes;
}

std::uint64_t most_logical_units(const FtlConfig& config, const NandGeometry& g) {
    // Above the soft threshold a plane has soft + 1 free blocks, and one block each is open for host pages, GC and wear levelling.
    // GC leaves the others alone when less than a page of their units is invalid.
    // Spare blocks only take the place of others. Pages of the journal take less than the deallocated units that they speak of,
    // but for the first two: those may keep a plane a block lower, which is still above the hard threshold.
    const std::uint64_t reserve = std::uint64_t{config.gc_soft_free_blocks} + 3 + (config.most_spread != 0 ? 1 : 0) + config.spare_blocks;
    if (g.blocks_per_plane <= reserve) return 0;
    return g.planes() * (g.blocks_per_plane - reserve) * (g.units_per_block() - (g.units_per_page() - 1));
}

namespace {
void check_name(std::vector<Problem>& out, const char* key, const std::string& given,
                const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), given) != names.end()) return;
    std::string allowed = "allowed are";
    for (const auto& n : names) allowed += " " + n;
    const std::string near = nearest(given, names);
    out.push_back({key, "unknown name '" + given + "'", allowed, near.empty() ? "" : "did you mean " + near + "?"});
}
}  // namespace

std::vector<Problem> check_ftl(const FtlConfig& config, const NandGeometry& g) {
    std::vector<Problem> out;
    check_name(out, "ftl.mapping", config.mapping, mapping_names());
    check_name(out, "gc.policy", config.gc_policy, VictimPolicies::instance().names());
    check_name(out, "ftl.allocation", config.allocation, allocation_orders());
    if (g.unit_bytes == 0 || g.page_bytes % g.unit_bytes != 0 || g.units_per_page() == 0 ||
        g.units_per_page() > kMaxUnitsPerPage) {
        out.push_back({"nand.geometry.page_size",
                       std::to_string(g.page_bytes) + " with a mapping unit of " + std::to_string(g.unit_bytes),
                       "a page holds 1 to " + std::to_string(kMaxUnitsPerPage) + " whole mapping units", ""});
        return out;  // the rest would divide by it
    }
    if (g.units() > kMostUnits)
        out.push_back({"nand.geometry", std::to_string(g.units()) + " mapping units in flash", "at most " + std::to_string(kMostUnits),
                       "use a larger mapping unit or less flash"});
    if (config.gc_hard_free_blocks < 2)
        out.push_back({"gc.hard_free_blocks", std::to_string(config.gc_hard_free_blocks), "at least 2",
                       "GC needs a free block to empty another one"});
    if (config.gc_soft_free_blocks <= config.gc_hard_free_blocks)
        out.push_back({"gc.soft_free_blocks", std::to_string(config.gc_soft_free_blocks),
                       "more than gc.hard_free_blocks = " + std::to_string(config.gc_hard_free_blocks), ""});
    if (!(config.fill >= 0.0 && config.fill <= 1.0))
        out.push_back({"precondition.fill", std::to_string(config.fill), "0 to 1", ""});
    if (!(config.overwrite >= 0.0)) out.push_back({"precondition.overwrite", std::to_string(config.overwrite), "0 or more", ""});
    const std::uint64_t logical = logical_units_of(config, g), most = most_logical_units(config, g);
    if (logical == 0) {
        out.push_back({"ftl.user_capacity", "0 bytes", "at least one mapping unit", ""});
    } else if (logical > most) {
        out.push_back({"ftl.user_capacity", std::to_string(config.user_capacity_bytes) + " bytes",
                       "at most " + std::to_string(most * g.unit_bytes) + " of the " + std::to_string(g.raw_bytes()) +
                           " bytes of flash, because each plane keeps " +
                           std::to_string(config.gc_soft_free_blocks + 1) + " free, " + (config.most_spread != 0 ? "3" : "2") + " open and " +
                           std::to_string(config.spare_blocks) + " spare blocks of its " + std::to_string(g.blocks_per_plane),
                       "lower user_capacity or gc.soft_free_blocks, or give the planes more blocks"});
    }
    return out;
}

}  // namespace ssdtlm
