// SPDX-License-Identifier: Apache-2.0
#include "controller/map/blocks/log_block_mapping.h"

#include <algorithm>

#include "controller/map/blocks/hybrid_map.h"

namespace ssdtlm {

void LogBlockMapping::check(std::vector<Problem>& out) const {
    const std::string with = " with ftl.mapping = \"" + config_.mapping + "\"",
                      logs = random_logs_ != 0 ? "log blocks" : "replacement blocks";
    const auto refuse = [&](bool wrong, const char* key, const std::string& found, const char* allowed,
                            const std::string& why) {
        if (wrong)
            out.push_back({key, found + with, std::string(allowed) + ": " + why,
                           "set " + std::string(key) + " = " + allowed + ", or ftl.mapping = \"page\""});
    };
    refuse(config_.static_dimensions != "none", "ftl.static_dimensions", "\"" + config_.static_dimensions + "\"",
           "\"none\"", "the logical address decides all of them");
    refuse(config_.placement != Placement::in_turn, "ftl.placement", "first_idle", "\"in_turn\"",
           "the logical address decides where a page goes");
    refuse(config_.stream_frontiers != 0, "ftl.stream_frontiers", std::to_string(config_.stream_frontiers), "0",
           logs + " take the pages of all streams");
    refuse(config_.slc.blocks != 0, "slc.blocks", std::to_string(config_.slc.blocks), "0",
           logs + " take the pages of the host");
    refuse(!config_.buffer_merges, "buffer.merge_writes", "false", "true", "units are chosen by logical pages");
    refuse(config_.slc.dynamic_blocks != 0, "slc.dynamic_blocks", std::to_string(config_.slc.dynamic_blocks), "0",
           logs + " take the pages of the host");
    refuse(config_.most_spread != 0, "wear.most_spread", std::to_string(config_.most_spread), "0",
           "static wear levelling would move data blocks");
    refuse(config_.refresh_reads != 0, "refresh.reads", std::to_string(config_.refresh_reads), "0",
           "refreshing would move data blocks");
    refuse(config_.refresh_age != Age{}, "refresh.age", "a time", "\"0s\"", "refreshing would move data blocks");
    refuse(config_.gc_frontier != GcFrontier::own, "gc.frontier", "\"shared\"", "\"own\"", "merges write data blocks");
    refuse(config_.gc_pace != "full", "gc.pace", "\"" + config_.gc_pace + "\"", "\"full\"",
           "the host waits for merges");
    refuse(config_.gc_idle_after != Ps{}, "gc.idle_after", "a time", "\"0s\"", "merges begin when a page needs room");
    refuse(config_.checkpoint_interval_bytes != 0, "ftl.checkpoint_interval", "a size", "\"0B\"",
           logs + " have no checkpoints");
    refuse(config_.checkpoint_at_shutdown, "ftl.checkpoint_at_shutdown", "true", "false",
           logs + " have no checkpoints");
    refuse(config_.initial_state == InitialState::analytic, "precondition.state", "\"analytic\"", "\"random\"",
           "the formula is that of page mapping");
}

Mapping::Merges LogBlockMapping::most_merges(std::uint64_t buffered, std::uint64_t logical) const {
    if (random_logs_ == 0) return {buffered, 1};
    // A log block that makes way needs one merge for each logical block in it: all logical blocks of a group, or one
    // for each unit of the log block.
    const SuperblockShape shape(geometry_, config_.superblock);
    const std::uint64_t in_log = std::min<std::uint64_t>(shape.units(), logical / shape.groups() / shape.units() + 1);
    return {(buffered / shape.units() + 2 * shape.groups() / geometry_.dies()) * in_log, geometry_.units_per_page()};
}

std::string LogBlockMapping::static_dimensions() const {
    return config_.superblock == SuperblockSpan::die ? "CWD" : "CWDP";
}

std::uint32_t LogBlockMapping::streams() const {
    return HybridMap::kRandom;
}

std::unique_ptr<BlockPlacement> LogBlockMapping::place(const PlacementSetup& setup) const {
    return std::make_unique<HybridMap>(setup, random_logs_);
}

}  // namespace ssdtlm
