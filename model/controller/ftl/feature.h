// SPDX-License-Identifier: Apache-2.0
// What a feature of the FTL is, and what it is made with. The core keeps a list of features and asks all of them in
// turn. It names none. A feature listens to events (events.h), may be a source of victims (gc/victim_source.h), and
// says what it remembers and what must hold. All features are named in one list, features.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

class BlockManager;
class Ftl;
class FtlEvents;
class VictimPolicy;
class Victims;
struct FtlCounters;

/// What a feature may ask and change. All of it outlives the feature.
struct FeatureSetup {
    Ftl& ftl;
    BlockManager& blocks;
    VictimPolicy& policy;
    Victims& victims;
    FtlEvents& events;
    FtlCounters& counters;
};

class FtlFeature {
public:
    virtual ~FtlFeature() = default;
    /// What it remembers of a drained drive.
    virtual void state(Snapshot&) {}
    /// It has a number of each group in checkpoints of the map.
    virtual bool remembers() const { return false; }
    /// That number; 0 of a fresh drive.
    virtual std::uint32_t remembered(GroupId) const { return 0; }
    /// A clean checkpoint has said so: remembered() of the drive before the loss of power.
    virtual void remember(GroupId, std::uint32_t) {}
    /// Empty: what it remembers agrees with the superblocks. Else a sentence.
    virtual std::string check() const { return {}; }
};

using FtlFeatures = std::vector<std::unique_ptr<FtlFeature>>;

/// Of all features that have one, in order.
std::vector<std::uint32_t> remembered(const FtlFeatures& features, GroupId group);
void remember(const FtlFeatures& features, GroupId group, const std::vector<std::uint32_t>& numbers);

/// Those that the configuration asks for, each registered with what it needs.
FtlFeatures features_of(const FeatureSetup& setup);

}  // namespace ssdtlm
