// SPDX-License-Identifier: Apache-2.0
// What a feature of the FTL is, and what it is made with. The core keeps a list of features and asks all of them in
// turn. It names none. A feature listens to events (events.h), may be a source of victims (victims/victim_source.h),
// may own superblocks (allocation/host_partition.h), and says what it counts, what it remembers and what must hold. All
// features of the model are named in one list, ../features/features.cpp. What a configuration says of a feature:
// feature_kind.h. What a feature does in time: ../ports/feature_organ.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/superblock.h"
#include "controller/ports/slc_region.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class BlockManager;
class Books;
class Ftl;
class FtlEvents;
class HostPartition;
class WritePartitions;
class VictimPolicy;
class Victims;
struct FtlCounters;

/// Superblocks of each group that are a feature's own, as its kind asks for (FeatureNeeds::apart). They are in state
/// set_apart until the feature takes them over.
struct FeatureShare {
    std::uint8_t stream = 0;  ///< of what is written into superblocks of its own
    std::uint32_t first = 0;  ///< in the group
    std::uint32_t count = 0;
};

/// What a feature may ask and change. All of it outlives the feature.
struct FeatureSetup {
    Ftl& ftl;
    Books& books;
    BlockManager& blocks;
    WritePartitions& partitions;
    VictimPolicy& policy;
    Victims& victims;
    FtlEvents& events;
    FtlCounters& counters;
    std::vector<HostPartition*>& host_partitions;  ///< asked in this order
    SlcRegion& slc;                                ///< which pages are in SLC mode
    FeatureShare own{};
};

/// Counts by name. They only grow.
using FeatureCounters = std::vector<std::pair<std::string, std::uint64_t>>;
/// Adds to each count that is there already, and appends the others.
void add_counters(FeatureCounters& to, const FeatureCounters& more);

/// What is known after a loss of power, before units in use are counted.
struct FoundSuperblocks {
    const std::vector<bool>& used;              ///< by superblock: it has pages
    const std::vector<std::uint64_t>& last_of;  ///< and the highest number of its pages
    const SpareArea& flash;
};

class FtlFeature {
public:
    virtual ~FtlFeature() = default;
    /// What it has counted since it was made, for `counters` of the results. It begins anew with each start of the
    /// drive, and the results add up.
    virtual FeatureCounters counters() const { return {}; }
    /// Reads or writes what it remembers. The drive is drained.
    virtual void state(Snapshot&) {}
    /// True: it stores a number for each group in checkpoints of the map.
    virtual bool remembers() const { return false; }
    /// That number; 0 for a fresh drive.
    virtual std::uint32_t remembered(GroupId) const { return 0; }
    /// A clean checkpoint gives back the number that remembered() had before the loss of power.
    virtual void remember(GroupId, std::uint32_t) {}
    // After a loss of power, one of them: as the pages on the flash say; or as the superblocks' records say, which a
    // clean checkpoint has set. `free`: of each group, in order. What it takes out is free for the feature only.
    virtual void found_pages(const FoundSuperblocks&) {}
    virtual void found_records(const FoundSuperblocks&, std::vector<std::vector<SuperblockId>>& /*free*/) {}
    /// One of the superblocks set apart was left out, because the factory has marked it. A spare one of its group is
    /// set apart in its place.
    virtual void set_apart_left_out(SuperblockId) {}
    /// Somebody records now which pages may still be programmed. Pages that are due take their numbers before.
    virtual void number_due_pages() {}

    // Preconditioning, which programs in no time.
    virtual void lay_out_begins() {}
    /// The host's units are laid out, and will be overwritten next: the feature lays out units of its own.
    virtual void lay_out_own_units() {}
    virtual void lay_out_ended() {}
    /// Programs at once the pages that were taken and that it still owes to the flash.
    virtual void program_at_once() {}

    /// Returns an empty text if what it remembers agrees with the superblocks, else a sentence.
    virtual std::string check() const { return {}; }
};

using FtlFeatures = std::vector<std::unique_ptr<FtlFeature>>;

/// The numbers of all features that have one, in order.
std::vector<std::uint32_t> remembered(const FtlFeatures& features, GroupId group);
void remember(const FtlFeatures& features, GroupId group, const std::vector<std::uint32_t>& numbers);

/// The features that the configuration asks for, each registered with what it needs.
FtlFeatures features_of(const FeatureSetup& setup);

}  // namespace ssdtlm
