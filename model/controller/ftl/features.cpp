// SPDX-License-Identifier: Apache-2.0
// The list of the FTL's features. Sources of victims of the same turn are asked in this order.
#include <map>
#include <string>
#include <utility>

#include "controller/ftl/checkpoint/checkpoint_feature.h"
#include "controller/ftl/checkpoint/checkpoint_layout.h"
#include "controller/ftl/feature.h"
#include "controller/ftl/ftl_check.h"
#include "controller/ftl/journal/notes.h"
#include "controller/ftl/parity/row_parity.h"
#include "controller/ftl/refresh/refresh.h"
#include "controller/ftl/slc/slc_feature.h"
#include "controller/ftl/wear/wear_levelling.h"
#include "controller/ftl/word_lines/open_word_lines.h"

namespace ssdtlm {

namespace {
std::map<std::string, FtlFeatureMaker>& from_outside() {
    static std::map<std::string, FtlFeatureMaker> makers;
    return makers;
}

void add(FtlFeatures& features, std::unique_ptr<FtlFeature> feature) {
    if (feature != nullptr) features.push_back(std::move(feature));
}
}  // namespace

FtlFeatureRegistration::FtlFeatureRegistration(const char* name, FtlFeatureMaker make) {
    from_outside()[name] = make;
}

FtlFeatures features_of(const FeatureSetup& setup) {
    FtlFeatures features;
    for (const FtlFeatureMaker make :
         {&SlcFeature::make, &Refresh::make, &WearLevelling::make, &RowParity::make, &OpenWordLines::make})
        add(features, make(setup));
    for (const auto& [name, make] : from_outside()) add(features, make(setup));
    // Behind the others: the end of a program may complete a checkpoint, and with it what waits for one.
    add(features, CheckpointFeature::make(setup));
    return features;
}

std::unique_ptr<UnitNotes> make_notes(const NotesSetup& setup) {
    return std::make_unique<Notes>(setup);
}

std::uint32_t set_apart_blocks(const FtlConfig& config, const NandGeometry& geometry) {
    return CheckpointLayout(config, geometry).per_group();
}

void check_features(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& geometry) {
    for (const auto check : {&RowParity::check, &OpenWordLines::check, &CheckpointLayout::check})
        check(out, config, geometry);
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
