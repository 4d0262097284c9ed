// SPDX-License-Identifier: Apache-2.0
// The list of the FTL's features. Sources of victims of the same turn are asked in this order.
#include "controller/ftl/feature.h"
#include "controller/ftl/refresh/refresh.h"
#include "controller/ftl/slc/slc_feature.h"
#include "controller/ftl/wear/wear_levelling.h"

namespace ssdtlm {

FtlFeatures features_of(const FeatureSetup& setup) {
    FtlFeatures features;
    for (auto* const make : {&SlcFeature::make, &Refresh::make, &WearLevelling::make})
        if (std::unique_ptr<FtlFeature> feature = make(setup)) features.push_back(std::move(feature));
    return features;
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
