// SPDX-License-Identifier: Apache-2.0
// The list of the FTL's features. Sources of victims of the same turn are asked in this order, and superblocks of their
// own lie in this order in front of those for checkpoints, the first feature's last.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/checkpoint/checkpoint_layout.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/ftl.h"
#include "controller/ftl/ftl_check.h"
#include "controller/journal/notes.h"
#include "controller/map/cached/pages/translation_pages.h"
#include "controller/parity/row_parity.h"
#include "controller/refresh/refresh.h"
#include "controller/slc/slc_feature.h"
#include "controller/wear/wear_levelling.h"
#include "controller/word_lines/open_word_lines.h"

namespace ssdtlm {

namespace {
using KindMaker = std::unique_ptr<FtlFeatureKind> (*)(const FeatureSite& site);
constexpr std::array<KindMaker, 6> kOfTheModel = {&SlcFeature::kind, &Refresh::kind,       &WearLevelling::kind,
                                                  &RowParity::kind,  &OpenWordLines::kind, &TranslationPages::kind};
}  // namespace

std::vector<WantedFeature> wanted_features(const FeatureSite& site) {
    std::vector<WantedFeature> wanted;
    std::uint8_t stream = kFirstOwnStream;
    const auto add = [&](std::unique_ptr<FtlFeatureKind> kind) {
        if (kind->is_wanted()) wanted.push_back({std::move(kind), stream});
    };
    for (const KindMaker make : kOfTheModel) {
        add(make(site));
        ++stream;
    }
    const FtlFeatureKinds& from_outside = FtlFeatureKinds::instance();
    for (const std::string& name : from_outside.names()) {
        const std::size_t before = wanted.size();
        add(from_outside.make("ftl", name, site, site.config.features));
        stream = static_cast<std::uint8_t>(stream + wanted.size() - before);
    }
    return wanted;
}

FeatureNeeds needs_of(const FtlConfig& config, const NandGeometry& geometry) {
    FeatureNeeds all;
    for (const WantedFeature& wanted : wanted_features({config, geometry})) all += wanted.kind->needs();
    return all;
}

void check_features(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& geometry) {
    for (const WantedFeature& wanted : wanted_features({config, geometry})) wanted.kind->check(out);
    CheckpointLayout::check(out, config, geometry);
}

FtlFeatures features_of(const FeatureSetup& setup) {
    FtlFeatures features;
    std::uint32_t end =
        setup.ftl.shape().blocks_per_group() - set_apart_blocks(setup.ftl.config(), setup.ftl.geometry());
    for (const WantedFeature& wanted : wanted_features({setup.ftl.config(), setup.ftl.geometry()})) {
        FeatureSetup of_one{setup};
        of_one.own = {wanted.stream, end, wanted.kind->needs().apart};
        of_one.own.first = end -= of_one.own.count;
        SSDTLM_CHECK(of_one.own.stream <= kLastOwnStream, "more features at once than there are streams for");
        features.push_back(wanted.kind->make(of_one));
    }
    // Behind the others: the end of a program may complete a checkpoint, and with it what waits for one.
    if (auto checkpoints = CheckpointFeature::make(FeatureSetup{setup})) features.push_back(std::move(checkpoints));
    return features;
}

std::unique_ptr<UnitNotes> make_notes(const NotesSetup& setup) {
    return std::make_unique<Notes>(setup);
}

std::uint32_t set_apart_blocks(const FtlConfig& config, const NandGeometry& geometry) {
    return CheckpointLayout(config, geometry).per_group();
}

void add_counters(FeatureCounters& to, const FeatureCounters& more) {
    for (const auto& [name, value] : more) {
        const auto same = std::find_if(to.begin(), to.end(), [&n = name](const auto& c) { return c.first == n; });
        if (same != to.end())
            same->second += value;
        else
            to.emplace_back(name, value);
    }
}

std::vector<std::uint32_t> remembered(const FtlFeatures& features, GroupId group) {
    std::vector<std::uint32_t> numbers;
    for (const auto& feature : features)
        if (feature->remembers()) numbers.push_back(feature->remembered(group));
    if (numbers.empty()) numbers.push_back(0);
    return numbers;
}

void remember(const FtlFeatures& features, GroupId group, const std::vector<std::uint32_t>& numbers) {
    std::size_t at = 0;
    for (const auto& feature : features)
        if (feature->remembers()) feature->remember(group, numbers.at(at++));
}

}  // namespace ssdtlm
