// SPDX-License-Identifier: Apache-2.0
// A feature of the FTL as a configuration asks for it: what it takes of the flash, what it does not work with, and how
// it is made. It has a name, a sentence and parameters, the table [ftl.<name>]. The core asks a list of kinds
// (../features/features.cpp) and names none. Kinds that are linked into the program from outside come behind those of
// the model, in the order of their names.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/address/geometry.h"
#include "common/config/policy_registry.h"
#include "common/report/error.h"
#include "controller/ftl/feature.h"
#include "controller/ftl/ftl_config.h"

namespace ssdtlm {

/// What features take of the flash.
struct FeatureNeeds {
    std::uint32_t apart = 0;           ///< superblocks of each group that are its own; they belong to a HostPartition
    std::uint32_t open = 0;            ///< superblocks of each group beside these that it may have open at a time
    std::uint32_t rows_of_victim = 0;  ///< rows of pages, at most, that a victim costs beside its valid units
    bool writes = false;  ///< pages are written that are neither the host's nor moved: two free superblocks are needed
    /// Units of the host of which one unit of the feature's own speaks, as a translation page does; 0: it has none. The
    /// own units stand in the map behind those of the host.
    std::uint32_t units_per_own = 0;

    FeatureNeeds& operator+=(const FeatureNeeds& more) {
        apart += more.apart;
        open += more.open;
        rows_of_victim += more.rows_of_victim;
        writes = writes || more.writes;
        SSDTLM_CHECK(units_per_own == 0 || more.units_per_own == 0, "two features have units of their own");
        units_per_own += more.units_per_own;
        return *this;
    }
    /// Units of their own where the host has so many.
    std::uint64_t own_units(std::uint64_t of_host) const {
        return units_per_own == 0 ? 0 : (of_host + units_per_own - 1) / units_per_own;
    }
    /// Invalid units from which on a superblock with so many planes is worth a collection: a page's worth, or more than
    /// a victim costs.
    std::uint32_t reclaim_units(const NandGeometry& g, std::uint32_t planes) const {
        return g.units_per_page() * (rows_of_victim == 0 ? 1 : rows_of_victim * planes + 1);
    }
};

/// Where a feature would work. Both outlive its kind.
struct FeatureSite {
    const FtlConfig& config;
    const NandGeometry& geometry;
};

class FtlFeatureKind {
public:
    explicit FtlFeatureKind(const FeatureSite& site) : config_(site.config), geometry_(site.geometry) {}
    virtual ~FtlFeatureKind() = default;
    /// True: the configuration asks for the feature. Only then is the rest called.
    virtual bool is_wanted() const = 0;
    virtual FeatureNeeds needs() const { return {}; }
    /// Adds a problem for each parameter that it does not work with.
    virtual void check(std::vector<Problem>&) const {}
    /// Makes the feature, which registers with what it wants to hear and to give (FeatureSetup).
    virtual std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const = 0;

protected:
    const FtlConfig& config_;
    const NandGeometry& geometry_;
};

/// All kinds that are linked into the program from outside. Values of their parameters are in FtlConfig::features.
using FtlFeatureKinds = PolicyRegistry<FtlFeatureKind, FeatureSite>;

/// The kinds that the configuration asks for, in order, each with the stream of superblocks of its own.
struct WantedFeature {
    std::unique_ptr<FtlFeatureKind> kind;
    std::uint8_t stream;
};
std::vector<WantedFeature> wanted_features(const FeatureSite& site);
/// What all of these take.
FeatureNeeds needs_of(const FtlConfig& config, const NandGeometry& geometry);
/// Adds the problems that they have.
void check_features(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& geometry);

}  // namespace ssdtlm
