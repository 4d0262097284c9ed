// SPDX-License-Identifier: Apache-2.0
// The list of the features' halves that work in time.
#include <map>
#include <string>
#include <utility>

#include "common/report/error.h"
#include "controller/parity/parity_writer.h"
#include "controller/ports/feature_organ.h"

namespace ssdtlm {

namespace {
std::map<std::string, FeatureOrganMaker>& organs_from_outside() {
    static std::map<std::string, FeatureOrganMaker> makers;
    return makers;
}
}  // namespace

FeatureOrganRegistration::FeatureOrganRegistration(const char* name, FeatureOrganMaker make) {
    SSDTLM_CHECK(organs_from_outside().emplace(name, make).second,
                 "two features have a half called '" + std::string(name) + "'");
}

std::vector<std::unique_ptr<Organ>> feature_organs(const OrganPeers& peers) {
    std::vector<std::unique_ptr<Organ>> organs;
    const auto add = [&](FeatureOrganMaker make) {
        if (std::unique_ptr<Organ> organ = make(peers)) organs.push_back(std::move(organ));
    };
    add(&ParityWriter::make);
    for (const auto& [name, make] : organs_from_outside()) add(make);
    return organs;
}

}  // namespace ssdtlm
