// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/policy_registry.h"
#include "common/units/age.h"
#include "common/units/units.h"
#include "controller/ftl/superblock.h"
#include "controller/ports/read_ahead_config.h"
#include "controller/ports/read_cache_config.h"
#include "controller/ports/rest_reads.h"

namespace ssdtlm {

enum class BufferMode : std::uint8_t {
    write_back,      ///< volatile write cache: a write completes when it is in the buffer (VWC = 1)
    write_through,   ///< a write completes when it is programmed (VWC = 0)
    power_protected  ///< as write_back, and capacitors write the buffer when the power goes: it is not volatile (VWC =
                     ///< 0)
};
enum class BufferOrder : std::uint8_t {
    arrival,              ///< what came first is programmed first
    by_translation_page,  ///< units whose entries are in one translation page together
    lru                   ///< what was not written for longest
};
/// What a row of a superblock stores besides its own data.
enum class Parity : std::uint8_t {
    none,
    die  ///< the parity of the other dies' pages, in one of the dies
};
enum class InitialState : std::uint8_t {
    fresh,       ///< nothing mapped
    sequential,  ///< laid out at once, ascending, by the same allocation code
    random,      ///< sequential, then untimed uniform random overwrites at full speed through the same FTL and GC code
    analytic     ///< where very many such overwrites lead, by formula, and a few superblocks' worth of them
};
enum class OverwriteUntil : std::uint8_t {
    amount,  ///< as much as asked for
    steady   ///< write amplification is steady (../precondition/overwrite_rounds.h)
};
enum class PreconditionLoad : std::uint8_t {
    full,  ///< the host of precondition.workload writes as fast as the flash takes it
    light  ///< it waits after each command until the drive is at rest
};
enum class MapGranularity : std::uint8_t {
    entry,  ///< single entries
    page    ///< whole translation pages
};
enum class MapReplacement : std::uint8_t {
    lru,           ///< the least recently used leaves
    segmented_lru  ///< what was used once leaves before what was used again
};
enum class DirtyUntil : std::uint8_t {
    programmed,  ///< a translation page is on the flash when its program has ended
    issued       ///< when the flash has been given it: capacitors finish programs too
};
enum class GcMapUpdates : std::uint8_t {
    written,  ///< a unit that is moved makes its translation page dirty
    found     ///< out-of-band areas say where moved units are: nothing is written for them alone
};
/// A map whose entries are on flash, with some of them in a cache.
struct MapConfig {
    std::uint64_t cache_bytes = 4ull << 20;  ///< of the DRAM
    MapGranularity granularity = MapGranularity::entry;
    MapReplacement replacement = MapReplacement::lru;
    std::uint32_t protected_percent = 50;  ///< segmented_lru: share of what was used again, at most
    std::uint32_t entry_bytes = 4;  ///< of one entry in a translation page; in the cache it has its number as well
    std::uint32_t prefetch = 1;     ///< entries that a translation page read for one brings in: it and those behind it
    double power_protected = 1.0;   ///< share of the translation pages that may be dirty at a time
    DirtyUntil dirty_until = DirtyUntil::programmed;
    GcMapUpdates gc_updates = GcMapUpdates::written;
    std::vector<std::uint32_t> quotas;  ///< per cent of the cache, of tenants 1, 2, ...; empty: shared by all
};
enum class FreeBlocks : std::uint8_t {
    in_turn,  ///< written in the order in which they were erased
    by_wear   ///< host data to those with the fewest erases, moved data to those with the most
};

enum class GcFrontier : std::uint8_t {
    own,    ///< garbage collection writes to superblocks of its own
    shared  ///< it goes on where the host writes: one write pointer
};
enum class Placement : std::uint8_t {
    in_turn,    ///< the next group that may take pages
    first_idle  ///< of these the one with the fewest programs under way
};

/// A write cache in the flash: superblocks in SLC mode that take the host's pages first (../slc/).
struct SlcConfig {
    std::uint32_t blocks = 0;  ///< per plane; 0: none
    std::uint32_t fold_free_blocks =
        1;  ///< per plane: with fewer free ones in the cache they are folded while the host is at work
    std::uint32_t dynamic_blocks = 0;  ///< per plane: beside them, free blocks that no one needs yet, at most
    std::uint32_t fold_rate_percent =
        100;  ///< of what the host writes, that folding makes free meanwhile; 0: what the host leaves of the dies
    bool any() const { return blocks != 0 || dynamic_blocks != 0; }
};

/// Log blocks of a mapping by blocks (../map/blocks/).
struct FastConfig {
    std::uint32_t random_log_blocks = 8;  ///< per plane, beside the sequential one
};

struct FtlConfig {
    std::uint64_t user_capacity_bytes = 0;  ///< exported namespace; < raw flash capacity
    std::string mapping = "page";           ///< registered mapping
    PolicyTable mappings;                   ///< parameters of mappings that have their own
    PolicyTable features;                   ///< parameters of features that are linked from outside
    MapConfig map;                          ///< dftl
    FastConfig fast;                        ///< fast
    std::string allocation = "CWDP";  ///< order of channel, way, die, plane; first letter varies fastest; 24 orders;
                                      ///< superblock = die: P comes first wherever it stands
    Placement placement = Placement::in_turn;  ///< which group a row of host pages goes to
    std::string nvm_sets;                      ///< see allocation/nvm_sets.h; empty: none
    std::string static_dimensions = "none";    ///< those of C, W, D and P that the logical address decides
    std::uint32_t stream_frontiers = 0;        ///< write streams of the host, from 1 on, with superblocks of their own
    std::string streams_by = "host";           ///< registered choice of the stream of each unit written
    PolicyTable stream_policies;               ///< parameters of these choices
    SuperblockSpan superblock = SuperblockSpan::die;  ///< what is opened, filled, collected and erased as one
    Parity parity = Parity::none;                     ///< only of superblocks that span the drive
    std::string gc_policy = "greedy";                 ///< registered victim policy
    PolicyTable gc_policies;                          ///< parameters of victim policies
    std::uint32_t gc_soft_free_blocks = 8;  ///< per plane: start background GC at or below this many free blocks
    std::uint32_t gc_hard_free_blocks = 3;  ///< per plane: host writes to this plane wait at or below; >= 2, < soft
    std::uint32_t gc_soft_used_percent = 0,
                  gc_hard_used_percent = 0;   ///< 0: as these say; else they follow from it (follow_used_shares())
    double gc_least_invalid = 0.0;            ///< share of a victim that is won, at least, while the host does not wait
    bool gc_charge_time = true;               ///< false: what is moved and erased takes no time
    std::uint32_t gc_max_inflight_pages = 8;  ///< per plane: pages of one victim being read or programmed at once
    GcFrontier gc_frontier = GcFrontier::own;  ///< where what is moved goes
    std::string gc_pace = "full";              ///< registered pace
    Ps gc_idle_after{};                        ///< without a command of the host for so long: idle; 0: never
    std::uint32_t gc_idle_free_blocks = 16;  ///< per plane: an idle drive collects below this many free blocks; > soft
    // Wear levelling
    FreeBlocks free_blocks = FreeBlocks::in_turn;
    std::uint32_t most_spread = 0;     ///< static levelling: P/E cycles between blocks of a group; 0: none
    std::uint32_t levelling_each = 8;  ///< of so many victims of a group one at most is collected for it
    std::uint32_t refresh_reads = 0;   ///< pages read of a block after which what it holds is moved; 0: never
    Age refresh_age{};                 ///< of data after which they are moved; 0: never
    Age refresh_interval{};            ///< from one look at the ages to the next; 0: a 16th of refresh_age
    Age look_interval() const { return refresh_interval == Age{} ? refresh_age / 16 : refresh_interval; }
    /// Whole intervals between looks that fit into refresh_age; 0: there are no looks.
    std::uint32_t most_looks() const {
        return refresh_age == Age{} ? 0 : static_cast<std::uint32_t>(refresh_age / look_interval());
    }
    std::uint32_t spare_blocks = 0;  ///< per plane: not used until one of its blocks fails
    SlcConfig slc;
    // Write buffer in DRAM
    std::uint64_t buffer_bytes = 256ull << 20;
    BufferMode buffer_mode = BufferMode::write_back;
    bool buffer_merges = true;  ///< a write of a unit that is in the buffer takes the older one's place
    RestReads rest_reads = RestReads::at_write;
    BufferOrder buffer_order = BufferOrder::arrival;
    std::uint32_t buffer_patience =
        4;  ///< by_translation_page: times the buffer's size that comes before what is in it goes first
    bool buffer_prefers_dirty = false;  ///< by_translation_page: units of translation pages that are dirty go first
    std::vector<std::uint32_t> buffer_quotas;  ///< per cent of the buffer, of tenants 1, 2, ...; empty: shared by all
    std::uint32_t flush_start_percent = 0;     ///< dirty share of the buffer above which programs start (0: at once)
    std::uint32_t flush_stop_percent = 100;    ///< at which they stop again; 100: as flush_start_percent
    std::uint32_t flush_depth_per_die =
        0;  ///< times the dies: host programs from the buffer queued or running in the device; 0: two for each plane
    std::uint32_t flush_depth(const NandGeometry& g) const {
        return flush_depth_per_die != 0 ? flush_depth_per_die : 2 * g.planes_per_die;
    }
    ReadCacheConfig read_cache;
    ReadAheadConfig read_ahead;
    // Checkpoints of the map, and what follows a loss of power
    std::uint64_t checkpoint_interval_bytes = 0;  ///< host data from one to the next; 0: none while the drive works
    bool checkpoint_at_shutdown = false;          ///< a normal shutdown leaves one that says everything
    bool has_checkpoints() const { return checkpoint_interval_bytes != 0 || checkpoint_at_shutdown; }
    std::uint32_t scan_reads_per_die = 4;  ///< blocks of a die that are searched for the map at once
    // State at start
    InitialState initial_state = InitialState::sequential;
    double fill = 1.0;           ///< share of the user capacity that is mapped at start, 0..1
    bool caches_filled = false;  ///< as a host at work leaves them
    double overwrite = 1.0;  ///< `random`: overwrites as a multiple of the mapped units, when that is what ends them
    OverwriteUntil until = OverwriteUntil::amount;
    std::string precondition_workload;  ///< whose commands are played behind all this, without time; empty: none
    PreconditionLoad precondition_load = PreconditionLoad::full;  ///< of the workload that is played behind it
    std::uint32_t most_rounds = 100;  ///< `random` until steady: rounds at most, of a tenth of the mapped units each
};

}  // namespace ssdtlm
