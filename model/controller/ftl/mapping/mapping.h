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

/// Where the time of an answer about a place may come from.
struct MapPeers {
    Agenda& agenda;
    CorePort& cores;
    DramPort& dram;
    const Ftl& ftl;
};

/// A mapping has no state; the objects that it makes do. The configuration is checked before place() and ask() are
/// called.
class Mapping {
public:
    explicit Mapping(const MappingSetup& setup) : config_(setup.config), geometry_(setup.geometry) {}
    virtual ~Mapping() = default;

    // --- Capacity: asked before there is a drive ---
    /// Adds a problem for each parameter that it does not work with.
    virtual void check(std::vector<Problem>&) const {}
    /// True: the map is in translation pages on the flash, with a part of it in a cache in the DRAM ([map]). False: all
    /// of it is in memory.
    virtual bool is_on_flash() const { return false; }
    /// True: place() makes a BlockPlacement.
    virtual bool places_by_blocks() const { return false; }
    /// Bytes of the DRAM for the part of the map that is always in memory.
    virtual std::uint64_t memory_bytes() const {
        return is_on_flash() ? 0 : config_.user_capacity_bytes / geometry_.unit_bytes * config_.map.entry_bytes;
    }
    /// Superblocks of each group that are neither the host's data nor the journal's.
    virtual std::uint32_t log_blocks() const { return 0; }
    /// Most copies that writing out a full write buffer may need. They bound the time of a shutdown.
    struct Merges {
        std::uint64_t blocks = 0;         ///< superblocks, gathered page by page
        std::uint32_t reads_of_page = 0;  ///< of the flash, for each of their pages
    };
    /// `buffered`: units of the buffer for one die. `logical`: units of the drive.
    virtual Merges most_merges(std::uint64_t /*buffered*/, std::uint64_t /*logical*/) const { return {}; }

    // --- Place, release and recover ---
    /// Which of channel, way, die and plane the logical address decides (FtlConfig::static_dimensions).
    virtual std::string static_dimensions() const { return config_.static_dimensions; }
    /// Streams with open superblocks of their own, beside stream 0 (block_manager.h).
    virtual std::uint32_t streams() const { return config_.stream_frontiers; }
    /// Makes the placement. Null: host pages go anywhere in their groups, garbage collection wins room back, and
    /// out-of-band areas tell all after a loss of power. The Ftl is still being made: only config(), geometry(),
    /// shape(), partitions(), logical_units() and codec() may be used.
    virtual std::unique_ptr<BlockPlacement> place(const PlacementSetup& setup) const;

    // --- Map ---
    /// Makes a map that answers commands in place of `own`. It may hand questions on to `own`; its contract is
    /// MapPort's. Null: `own` answers, at once or when the entries are in the cache.
    virtual std::unique_ptr<MapPort> ask(MapPort& own, const MapPeers& peers) const;

protected:
    const FtlConfig& config_;
    const NandGeometry& geometry_;
};

/// All mappings that are linked into the program. ftl.mapping names one, and [ftl.<name>] has its parameters.
using Mappings = PolicyRegistry<Mapping, MappingSetup>;

/// The mapping that the configuration names. If there is none of that name, which check_ftl() reports, it is one that
/// is all in memory. Both arguments must outlive it.
std::unique_ptr<const Mapping> mapping_of(const FtlConfig& config, const NandGeometry& geometry);
/// mapping_names(): names of mappings, sorted. mappings_on_flash(): those with translation pages, with a bar between
/// them.
std::vector<std::string> mapping_names();
std::string mappings_on_flash();

}  // namespace ssdtlm
