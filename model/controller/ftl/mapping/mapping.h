// SPDX-License-Identifier: Apache-2.0
// Mappings by name: where units may be put, how their places are found, how room is won back, what a loss of power
// leaves, and how much the drive can hold. The table of places itself is the Ftl's (page_map.h): it is the truth about
// where a unit is, whatever the mapping, and no look-up in it is a virtual call. A mapping of one's own is a class that
// derives from this one, and an object that registers it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/config/policy_registry.h"
#include "common/report/error.h"
#include "controller/ftl/ftl_config.h"

namespace ssdtlm {

class Agenda;
class BlockManager;
class BlockPlacement;
class CorePort;
class DramPort;
class Ftl;
class MapPort;
struct FtlCounters;

struct MappingSetup {
    const FtlConfig& config;  ///< this and the geometry must outlive the mapping
    const NandGeometry& geometry;
};

/// What a mapping that places pages itself may change.
struct PlacementSetup {
    Ftl& ftl;
    BlockManager& blocks;
    FtlCounters& counters;
};

/// What an answer about a place may take its time from.
struct MapPeers {
    Agenda& agenda;
    CorePort& cores;
    DramPort& dram;
    const Ftl& ftl;
};

/// It remembers nothing: what it makes does. The configuration is checked before place() and ask() are called.
class Mapping {
public:
    explicit Mapping(const MappingSetup& setup) : config_(setup.config), geometry_(setup.geometry) {}
    virtual ~Mapping() = default;

    // --- Capacity: asked before there is a drive ---
    /// What it is not made to work with.
    virtual void check(std::vector<Problem>&) const {}
    /// Translation pages on the flash hold it, and a cache in the DRAM a part of it ([map]). False: all of it is in
    /// memory.
    virtual bool is_on_flash() const { return false; }
    /// place() makes a BlockPlacement.
    virtual bool places_by_blocks() const { return false; }
    /// Of the DRAM, for what is always in memory of it.
    virtual std::uint64_t memory_bytes() const {
        return is_on_flash() ? 0 : config_.user_capacity_bytes / geometry_.unit_bytes * config_.map.entry_bytes;
    }
    /// Superblocks of each group that are neither the host's data nor the journal's.
    virtual std::uint32_t log_blocks() const { return 0; }
    /// Copies that the units of a full write buffer may ask for, which bounds the time of a shutdown.
    struct Merges {
        std::uint64_t blocks = 0;         ///< superblocks, gathered page by page
        std::uint32_t reads_of_page = 0;  ///< of the flash, for each of their pages
    };
    /// `buffered`: units of the buffer for one die; `logical`: of the drive.
    virtual Merges most_merges(std::uint64_t /*buffered*/, std::uint64_t /*logical*/) const { return {}; }

    // --- Place, release and recover ---
    /// Which of channel, way, die and plane the logical address decides (FtlConfig::static_dimensions).
    virtual std::string static_dimensions() const { return config_.static_dimensions; }
    /// Streams with open superblocks of their own, beside stream 0 (block_manager.h).
    virtual std::uint32_t streams() const { return config_.stream_frontiers; }
    /// Null: the pages of the host go anywhere in the groups that are theirs, garbage collection wins room back, and
    /// out-of-band areas say after a loss of power all there is to know. The Ftl is being made: of it only config(),
    /// geometry(), shape(), partitions(), logical_units() and codec() may be used.
    virtual std::unique_ptr<BlockPlacement> place(const PlacementSetup& setup) const;

    // --- Map ---
    /// Who answers the questions of commands in place of `own`, to which it may hand them on (the contract is
    /// MapPort's). Null: `own` does, which answers at once, or when the entries are in the cache.
    virtual std::unique_ptr<MapPort> ask(MapPort& own, const MapPeers& peers) const;

protected:
    const FtlConfig& config_;
    const NandGeometry& geometry_;
};

/// All that are linked into the program; ftl.mapping names one, and [ftl.<name>] has its parameters.
using Mappings = PolicyRegistry<Mapping, MappingSetup>;

/// The mapping that the configuration names; where there is none of that name, which check_ftl() says, one that has all
/// in memory. Both arguments must outlive it.
std::unique_ptr<const Mapping> mapping_of(const FtlConfig& config, const NandGeometry& geometry);
/// Names of mappings, sorted; `on_flash`: of those that translation pages hold, with a bar between them.
std::vector<std::string> mapping_names();
std::string mappings_on_flash();

}  // namespace ssdtlm
