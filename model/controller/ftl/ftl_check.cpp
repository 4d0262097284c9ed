// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/ftl_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "controller/ftl/allocation/nvm_sets.h"
#include "controller/ftl/allocation/write_partitions.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ftl/unit_notes.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/ports/quotas.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

std::uint64_t logical_units_of(const FtlConfig& config, const NandGeometry& g) {
    return (config.user_capacity_bytes + g.unit_bytes - 1) / g.unit_bytes;
}

std::uint32_t least_hard_free_blocks(const FtlConfig& c) {
    const NandGeometry any;
    const auto mapping = mapping_of(c, any);
    const bool two_writers = !mapping->places_by_blocks() && !needs_of(c, any).writes && c.spare_blocks == 0 &&
                             !c.has_checkpoints() && c.stream_frontiers == 0 && c.nvm_sets.empty() &&
                             mapping->static_dimensions() == "none" && c.gc_frontier == GcFrontier::own &&
                             c.gc_charge_time;
    return two_writers ? 1 : 2;
}

std::uint32_t threshold_reached(const FtlConfig& config) {
    return config.gc_least_invalid == 0.0 ? config.gc_soft_free_blocks : config.gc_hard_free_blocks;
}

const char* threshold_key(const FtlConfig& config) {
    return config.gc_least_invalid == 0.0 ? "gc.soft_free_blocks" : "gc.hard_free_blocks";
}

void follow_used_shares(FtlConfig& config, const NandGeometry& g) {
    const auto free = [&g](std::uint32_t used_percent) {
        return static_cast<std::uint32_t>(std::uint64_t{g.blocks_per_plane} * (100 - used_percent) / 100);
    };
    if (config.gc_soft_used_percent != 0) config.gc_soft_free_blocks = free(config.gc_soft_used_percent);
    if (config.gc_hard_used_percent != 0) config.gc_hard_free_blocks = free(config.gc_hard_used_percent);
}

std::uint32_t reserved_blocks(const FtlConfig& config, const NandGeometry& g) {
    // Above the threshold a plane has one free block more, and one block each is open for host pages and GC, and some
    // for features. Spare blocks only take the place of others, and some are set apart for checkpoints and
    // features.
    const auto mapping = mapping_of(config, g);
    const FeatureNeeds features = needs_of(config, g);
    return threshold_reached(config) + 3 + 2 * config.stream_frontiers + features.open + config.spare_blocks +
           set_apart_blocks(config, g) + features.apart +
           (mapping->places_by_blocks() ? mapping->log_blocks() + journal_blocks(config, g) : 0);
}

std::uint32_t journal_blocks(const FtlConfig& config, const NandGeometry& g) {
    // These are the superblocks full of journal pages that are still true, the open one, and one that is being
    // collected.
    const std::uint32_t pages = SuperblockShape(g, config.superblock).pages();
    return (most_journal_pages(config, g) + pages - 1) / pages + 2;
}

std::uint32_t most_journal_pages(const FtlConfig& config, const NandGeometry& g) {
    const std::uint64_t groups = SuperblockShape(g, config.superblock).groups(), entries = g.page_bytes / kNoteBytes;
    // An entry for each unit there can be, in pages of which half is still true; the open one, and one that others are
    // gathered in.
    const std::uint64_t pages = 2 * ((g.units() + entries - 1) / entries) + 2;
    return static_cast<std::uint32_t>((pages + groups - 1) / groups + 1);
}

namespace {
/// Units of features that a group may get beyond its exact part: what a share may hold beyond it, as much again for
/// places that a loss of power gives back, and what rounding may add where a set begins and ends.
std::uint64_t own_slack(const NandGeometry& g) {
    return 2 * g.units_per_page() + 2;
}

// Each group has room for its own share of the addresses, in whole rows, and of the journal, whose pages take what was
// deallocated elsewhere; and of the units of features.
std::uint64_t most_with_partitions(const FtlConfig& config, const NandGeometry& g, std::uint64_t all) {
    const SuperblockShape shape(g, config.superblock);
    const std::uint64_t row = std::uint64_t{shape.planes()} * g.units_per_page(), of_group = all / shape.groups();
    const std::uint64_t journal = std::uint64_t{most_journal_pages(config, g)} * g.units_per_page();
    std::uint64_t units = of_group <= journal ? 0 : of_group - journal;
    if (const std::uint64_t per_own = needs_of(config, g).units_per_own; per_own != 0) {
        const std::uint64_t slack = own_slack(g);
        units = units <= slack ? 0 : (units - slack) * per_own / (per_own + 1);
    }
    return units / row * row * shape.groups();
}
}  // namespace

std::uint64_t most_logical_units(const FtlConfig& config, const NandGeometry& g) {
    // GC leaves blocks alone when less than a page of their units is invalid. Pages of the journal take less than the
    // deallocated units that they speak of, except the first two. Those may keep a plane a block lower, which is still
    // above the hard threshold.
    const std::uint64_t reserve = reserved_blocks(config, g);
    if (g.blocks_per_plane <= reserve) return 0;
    const auto mapping = mapping_of(config, g);
    if (mapping->places_by_blocks()) return g.planes() * (g.blocks_per_plane - reserve) * g.units_per_block();
    const SuperblockShape shape(g, config.superblock, {}, config.parity != Parity::none);
    const FeatureNeeds features = needs_of(config, g);
    const std::uint32_t lost = features.rows_of_victim != 0 ? features.reclaim_units(g, 1) : g.units_per_page() - 1;
    const std::uint64_t all = g.units_per_block() <= lost
                                  ? 0
                                  : std::uint64_t{shape.groups()} * shape.data_planes() *
                                        (g.blocks_per_plane - reserve) * (g.units_per_block() - lost);
    if (mapping->static_dimensions() != "none" || !config.nvm_sets.empty()) return most_with_partitions(config, g, all);
    if (features.units_per_own == 0) return all;
    // n units and their n / per_own units of a feature, rounded up, must fit.
    const std::uint64_t per_own = features.units_per_own;
    return all == 0 ? 0 : (all - 1) * per_own / (per_own + 1);
}

void check_quotas(std::vector<Problem>& out, const char* key, const char* size,
                  const std::vector<std::uint32_t>& percents, std::uint64_t units) {
    const auto refuse = [&](bool wrong, const std::string& found, const std::string& allowed,
                            const std::string& repair) {
        if (wrong) out.push_back({key, found, allowed, repair});
    };
    const std::uint32_t sum = std::accumulate(percents.begin(), percents.end(), 0u);
    std::uint64_t least = sum >= 100 ? 0 : units * (100 - sum) / 100;
    for (const std::uint32_t percent : percents) least = std::min(least, units * percent / 100);
    refuse(least == 0, std::to_string(sum) + "% of " + std::to_string(units) + " units in all",
           "less than 100%, and a unit at least for each part and for all other tenants",
           "change them, or raise " + std::string(size));
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

namespace {
ChoiceLaw law_of(const std::string& policy, const FtlConfig& config, const NandGeometry& g) {
    return VictimPolicies::instance()
        .make("gc.policy", policy, {SuperblockShape(g, config.superblock), g.units_per_page(), 0}, config.gc_policies)
        ->law();
}

void check_analytic(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g) {
    const std::vector<std::string> names = VictimPolicies::instance().names();
    if (std::find(names.begin(), names.end(), config.gc_policy) != names.end() &&
        law_of(config.gc_policy, config, g).kind == ChoiceLaw::Kind::other) {
        std::string known;
        for (const std::string& name : names)
            if (law_of(name, config, g).kind != ChoiceLaw::Kind::other) known += (known.empty() ? "" : ", ") + name;
        out.push_back({"precondition.state", "\"analytic\" with gc.policy = \"" + config.gc_policy + "\"",
                       "policies with a formula: " + known,
                       "set precondition.state = \"random\", which works with each"});
    }
    if (config.static_dimensions != "none")
        out.push_back({"precondition.state",
                       "\"analytic\" with ftl.static_dimensions = \"" + config.static_dimensions + "\"",
                       "\"none\": by formula any unit is anywhere", "set precondition.state = \"random\""});
}

/// What superblocks of the whole drive are not made to work with.
void check_lines(std::vector<Problem>& out, const FtlConfig& config, bool by_blocks) {
    const std::string with = " with ftl.superblock = \"drive\"";
    if (config.static_dimensions != "none")
        out.push_back({"ftl.static_dimensions", "\"" + config.static_dimensions + "\"" + with,
                       "\"none\": one superblock takes all addresses",
                       "set it to \"none\", or ftl.superblock = \"die\""});
    if (by_blocks)
        out.push_back({"ftl.mapping", "\"" + config.mapping + "\"" + with,
                       "\"page\" or \"dftl\": log blocks are those of a die or plane", "set one of the two"});
}

/// What NVM Sets are not made to work with.
void check_sets(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g, bool by_blocks) {
    const std::size_t before = out.size();
    NvmSets::check(out, "ftl.nvm_sets", config.nvm_sets, g);
    if (config.nvm_sets.empty() || out.size() != before) return;
    const auto refuse = [&](bool wrong, const char* key, const std::string& found, const std::string& allowed) {
        if (wrong)
            out.push_back({key, "\"" + found + "\" with ftl.nvm_sets = \"" + config.nvm_sets + "\"", allowed,
                           "change it, or leave out ftl.nvm_sets"});
    };
    refuse(config.static_dimensions != "none", "ftl.static_dimensions", config.static_dimensions,
           "\"none\": the address decides the set, and nothing else");
    refuse(config.superblock == SuperblockSpan::drive, "ftl.superblock", "drive",
           "\"die\" or \"plane\": a superblock is of one set");
    refuse(config.superblock == SuperblockSpan::die && NvmSets(config.nvm_sets, g).names_planes(), "ftl.superblock",
           "die", "\"plane\": the planes of a die would be written as one");
    refuse(by_blocks, "ftl.mapping", config.mapping, "\"page\" or \"dftl\": log blocks are of no set");
    refuse(config.initial_state == InitialState::analytic, "precondition.state", "analytic",
           "\"fresh\", \"sequential\" or \"random\": by formula any unit is anywhere");
}

/// What garbage collection in no time is not made to work with.
void check_at_once(std::vector<Problem>& out, const FtlConfig& config, bool by_blocks) {
    if (config.gc_charge_time) return;
    const std::string with = " with gc.charge_time = false";
    if (config.gc_pace != "full")
        out.push_back({"gc.pace", "\"" + config.gc_pace + "\"" + with, "\"full\": what takes no time has no pace",
                       "set it to \"full\", or gc.charge_time = true"});
    if (by_blocks)
        out.push_back({"ftl.mapping", "\"" + config.mapping + "\"" + with,
                       "\"page\" or \"dftl\": merges take their time", "set one of the two, or gc.charge_time = true"});
}

/// What a buffer with a part for each tenant is not made to work with.
void check_buffer_quotas(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g, bool by_blocks) {
    check_quotas(out, "buffer.quotas", "buffer.size", config.buffer_quotas, config.buffer_bytes / g.unit_bytes);
    const auto refuse = [&](bool wrong, const char* key, const std::string& found, const std::string& allowed,
                            const std::string& repair) {
        if (wrong) out.push_back({key, found + " with buffer.quotas", allowed, repair});
    };
    refuse(!config.buffer_merges, "buffer.merge_writes", "false", "true", "set it to true");
    refuse(config.buffer_order == BufferOrder::by_translation_page, "buffer.order", "\"by_translation_page\"",
           "\"arrival\" or \"lru\": the units of a translation page are those of several tenants",
           "set one of the two");
    refuse(by_blocks, "ftl.mapping", "\"" + config.mapping + "\"",
           "\"page\" or \"dftl\": units are chosen by logical pages", "set one of the two");
    refuse(config.read_cache.shares_room(), "read_cache.room", "\"buffer\"", "\"own\"",
           "set it to \"own\", with a read_cache.size");
    refuse(config.caches_filled, "precondition.fill_caches", "true", "false: nobody says which tenants wrote before",
           "set it to false");
}

void check_read_cache(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g) {
    const ReadCacheConfig& c = config.read_cache;
    if (!c.quotas.empty() && c.shares_room())
        out.push_back({"read_cache.quotas", "with read_cache.room = \"buffer\"", "none: the room is not divided",
                       "leave them out, or set read_cache.room = \"own\""});
    else if (!c.quotas.empty())
        check_quotas(out, "read_cache.quotas", "read_cache.size", c.quotas, c.bytes / g.unit_bytes);
    if (!c.quotas.empty() && config.caches_filled)
        out.push_back({"precondition.fill_caches", "true with read_cache.quotas",
                       "false: nobody says which tenants wrote before", "set it to false"});
    if (!c.shares_room()) {
        if (c.replacement == ReadCacheReplacement::cflru)
            out.push_back({"read_cache.replacement", "\"cflru\" in a read cache of its own",
                           "read_cache.room = \"buffer\": where nothing is dirty, all is clean",
                           "set read_cache.room = \"buffer\", or read_cache.replacement = \"lru\""});
        return;
    }
    if (c.bytes != 0)
        out.push_back({"read_cache.size", std::to_string(c.bytes) + " bytes with read_cache.room = \"buffer\"",
                       "0: the room is that of buffer.size", "leave it out, or set read_cache.room = \"own\""});
    const bool by_age = c.replacement == ReadCacheReplacement::fifo;
    if (config.buffer_order != (by_age ? BufferOrder::arrival : BufferOrder::lru))
        out.push_back({"read_cache.room",
                       std::string("\"buffer\" with another buffer.order than read_cache.replacement"),
                       "one order for both: read_cache.replacement = \"lru\" or \"cflru\" with buffer.order = \"lru\", "
                       "\"fifo\" with \"arrival\"",
                       std::string("set buffer.order = ") + (by_age ? "\"arrival\"" : "\"lru\"")});
}
}  // namespace

std::vector<Problem> check_ftl(const FtlConfig& asked, const NandGeometry& g) {
    std::vector<Problem> out;
    const auto mapping = mapping_of(asked, g);
    const bool by_blocks = mapping->places_by_blocks(), on_flash = mapping->is_on_flash();
    // What a mapping leaves to the address is checked as if it had been asked for.
    FtlConfig config = asked;
    if (!by_blocks) config.static_dimensions = mapping->static_dimensions();
    check_name(out, "ftl.mapping", config.mapping, mapping_names());
    if (const auto& all = VictimPolicies::instance(); all.policies().count(config.gc_policy) == 0)
        out.push_back(unknown_policy("gc.policy", config.gc_policy, all.names()));
    check_name(out, "ftl.allocation", config.allocation, allocation_orders());
    check_name(out, "ftl.static_dimensions", config.static_dimensions, static_dimensions());
    if (g.unit_bytes == 0 || g.page_bytes % g.unit_bytes != 0 || g.units_per_page() == 0 ||
        g.units_per_page() > kMaxUnitsPerPage) {
        out.push_back({"nand.geometry.page_size",
                       std::to_string(g.page_bytes) + " with a mapping unit of " + std::to_string(g.unit_bytes),
                       "a page holds 1 to " + std::to_string(kMaxUnitsPerPage) + " whole mapping units", ""});
        return out;  // the rest would divide by it
    }
    if (g.units() > kMostUnits)
        out.push_back({"nand.geometry", std::to_string(g.units()) + " mapping units in flash",
                       "at most " + std::to_string(kMostUnits), "use a larger mapping unit or less flash"});
    if (config.map.entry_bytes < 4 || g.unit_bytes % config.map.entry_bytes != 0) {
        out.push_back(
            {"map.entry_size",
             std::to_string(config.map.entry_bytes) + " bytes in a translation page of " + std::to_string(g.unit_bytes),
             "4 bytes or more, whole entries in a page", ""});
        return out;
    }
    if (config.gc_hard_free_blocks < least_hard_free_blocks(config))
        out.push_back({"gc.hard_free_blocks", std::to_string(config.gc_hard_free_blocks),
                       "at least " + std::to_string(least_hard_free_blocks(config)),
                       "garbage collection needs a free block to empty another one; 1 is enough where only it and the "
                       "host write"});
    if (config.gc_soft_free_blocks <= config.gc_hard_free_blocks)
        out.push_back({"gc.soft_free_blocks", std::to_string(config.gc_soft_free_blocks),
                       "more than gc.hard_free_blocks = " + std::to_string(config.gc_hard_free_blocks), ""});
    check_at_once(out, config, by_blocks);
    if (!(config.fill >= 0.0 && config.fill <= 1.0))
        out.push_back({"precondition.fill", std::to_string(config.fill), "0 to 1", ""});
    if (config.initial_state == InitialState::analytic) check_analytic(out, config, g);
    if (config.caches_filled && config.precondition_workload.empty() && config.initial_state != InitialState::random &&
        config.initial_state != InitialState::analytic)
        out.push_back({"precondition.fill_caches", "caches filled in a state that no host's writes have led to",
                       "states random and analytic, or a precondition.workload",
                       "set precondition.fill_caches = false, or another precondition.state"});
    if (!config.precondition_workload.empty() && config.buffer_mode == BufferMode::power_protected &&
        config.has_checkpoints())
        out.push_back({"precondition.workload",
                       "a workload with buffer.mode = \"protected\" and checkpoints of the map",
                       "one of the three left out",
                       "set buffer.mode = \"write_back\", or ftl.checkpoint_interval = \"0B\" and "
                       "ftl.checkpoint_at_shutdown = false"});
    if (config.caches_filled && !config.precondition_workload.empty() && config.read_cache.shares_room())
        out.push_back({"precondition.fill_caches",
                       "caches filled by a precondition.workload with read_cache.room = \"buffer\"",
                       "read_cache.room = \"own\": the order in one room is not kept",
                       "set precondition.fill_caches = false, or read_cache.room = \"own\""});
    if (config.caches_filled && config.buffer_mode == BufferMode::write_through)
        out.push_back({"precondition.fill_caches", "caches filled with buffer.mode = \"write_through\"",
                       "write_back: else what is in the buffer has a command that waits for it",
                       "set precondition.fill_caches = false, or buffer.mode = \"write_back\""});
    if (config.until == OverwriteUntil::steady && config.initial_state != InitialState::random)
        out.push_back({"precondition.until", "\"steady\" with a precondition.state that is not \"random\"",
                       "state random: the others are not reached by overwrites",
                       "set precondition.state = \"random\", or precondition.until = \"amount\""});
    if (!(config.overwrite >= 0.0))
        out.push_back({"precondition.overwrite", std::to_string(config.overwrite), "0 or more", ""});
    if (config.superblock == SuperblockSpan::die && g.planes_per_die > 1 &&
        config.static_dimensions.find('P') != std::string::npos)
        out.push_back({"ftl.static_dimensions", "\"" + config.static_dimensions + "\" with ftl.superblock = \"die\"",
                       "no P: the planes of a die are written as one",
                       "leave out the P, or set ftl.superblock = \"plane\""});
    if (config.superblock == SuperblockSpan::drive) check_lines(out, config, by_blocks);
    check_features(out, config, g);
    check_sets(out, config, g, by_blocks);
    mapping->check(out);
    if (config.flush_stop_percent > config.flush_start_percent && config.flush_stop_percent != 100)
        out.push_back({"buffer.flush_stop",
                       std::to_string(config.flush_stop_percent) +
                           "%, above buffer.flush_start = " + std::to_string(config.flush_start_percent) + "%",
                       "at most buffer.flush_start, or 100%: the same", "lower it, or raise buffer.flush_start"});
    if (config.buffer_order == BufferOrder::lru && config.buffer_mode == BufferMode::write_through)
        out.push_back({"buffer.order", "\"lru\" with buffer.mode = \"write_through\"",
                       "another order: each write waits for its program, and nothing is left to be written again",
                       "set buffer.order = \"arrival\", or buffer.mode = \"write_back\""});
    if (config.buffer_order == BufferOrder::lru && !config.buffer_merges)
        out.push_back({"buffer.order", "\"lru\" with buffer.merge_writes = false",
                       "another order: a write that takes no older one's place moves none",
                       "set buffer.order = \"arrival\", or buffer.merge_writes = true"});
    if (config.buffer_order == BufferOrder::by_translation_page && !on_flash)
        out.push_back({"buffer.order", "\"by_translation_page\" with ftl.mapping = \"" + config.mapping + "\"",
                       "a map that has translation pages",
                       "set buffer.order = \"arrival\", or ftl.mapping = \"dftl\""});
    check_read_cache(out, config, g);
    if (!config.buffer_quotas.empty()) check_buffer_quotas(out, config, g, by_blocks);
    if (config.buffer_prefers_dirty &&
        (config.buffer_order != BufferOrder::by_translation_page || !on_flash || config.map.power_protected >= 1.0))
        out.push_back({"buffer.prefer_dirty", "true without a share of dirty translation pages or an order by them",
                       "buffer.order = \"by_translation_page\" and map.power_protected below 100%",
                       "set it to false, or these two"});
    if (!on_flash && !config.map.quotas.empty())
        out.push_back({"map.quotas", "with ftl.mapping = \"" + config.mapping + "\"",
                       "a map in a cache: ftl.mapping = \"dftl\"", "leave them out, or set ftl.mapping = \"dftl\""});
    const std::uint64_t logical = logical_units_of(config, g), most = most_logical_units(config, g);
    const FeatureNeeds features = needs_of(config, g);
    if (logical == 0) {
        out.push_back({"ftl.user_capacity", "0 bytes", "at least one mapping unit", ""});
    } else if (logical > most) {
        out.push_back(
            {"ftl.user_capacity", std::to_string(config.user_capacity_bytes) + " bytes",
             "at most " + std::to_string(most * g.unit_bytes) + " of the " + std::to_string(g.raw_bytes()) +
                 " bytes of flash, because each plane keeps " + std::to_string(threshold_reached(config) + 1) +
                 " free, " + std::to_string(2 + 2 * config.stream_frontiers + features.open) + " open and " +
                 (by_blocks ? std::to_string(mapping->log_blocks()) + " log blocks and " +
                                  std::to_string(journal_blocks(config, g)) + " for the journal and "
                            : "") +
                 std::to_string(config.spare_blocks) + " spare blocks and " +
                 std::to_string(set_apart_blocks(config, g)) + " for checkpoints and " +
                 std::to_string(features.apart) + " for features of its " + std::to_string(g.blocks_per_plane),
             "lower user_capacity or " + std::string(threshold_key(config)) + ", or give the planes more blocks"});
    }
    return out;
}

}  // namespace ssdtlm
