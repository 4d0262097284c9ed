// SPDX-License-Identifier: Apache-2.0
// The mappings of the model by name. They are registered in the library of mapping_of(), so that every program that has
// an Ftl has them.
#include <memory>

#include "controller/ftl/mapping/mapping.h"
#include "controller/map/blocks/log_block_mapping.h"

namespace ssdtlm {
namespace {

class CachedMapping final : public Mapping {
public:
    using Mapping::Mapping;
    bool is_on_flash() const override { return true; }
};

/// Log block mapping with a parameter for the number of random log blocks. That number may be 0 in a configuration that
/// no file has set.
class Fast final : public LogBlockMapping {
public:
    explicit Fast(const MappingSetup& setup) : LogBlockMapping(setup, setup.config.fast.random_log_blocks) {}
    void check(std::vector<Problem>& out) const override {
        LogBlockMapping::check(out);
        if (random_logs() == 0)
            out.push_back({"fast.random_log_blocks", "0 with ftl.mapping = \"fast\"", "1 or more", "raise it"});
    }
};

const Mappings::Registered kBlock{
    {"block",
     "by blocks that are written in ascending order, and copied for any other write",
     {},
     [](const MappingSetup& setup, const PolicySettings&) { return std::make_unique<LogBlockMapping>(setup, 0); }}};
const Mappings::Registered kDftl{
    {"dftl",
     "translation pages on the flash, with a part in DRAM ([map])",
     {},
     [](const MappingSetup& setup, const PolicySettings&) { return std::make_unique<CachedMapping>(setup); }}};
const Mappings::Registered kFast{
    {"fast",
     "by blocks, with log blocks that are merged ([fast])",
     {},
     [](const MappingSetup& setup, const PolicySettings&) { return std::make_unique<Fast>(setup); }}};
const Mappings::Registered kPage{
    {"page", "a flat table in DRAM", {}, [](const MappingSetup& setup, const PolicySettings&) {
         return std::make_unique<Mapping>(setup);
     }}};

}  // namespace

std::unique_ptr<const Mapping> mapping_of(const FtlConfig& config, const NandGeometry& geometry) {
    const Mappings& all = Mappings::instance();
    if (all.policies().count(config.mapping) == 0) return std::make_unique<Mapping>(MappingSetup{config, geometry});
    return all.make("ftl.mapping", config.mapping, {config, geometry}, config.mappings);
}

std::vector<std::string> mapping_names() {
    return Mappings::instance().names();
}

std::string mappings_on_flash() {
    std::string names;
    FtlConfig config;
    for (const std::string& name : mapping_names()) {
        config.mapping = name;
        if (mapping_of(config, {})->is_on_flash()) names += (names.empty() ? "" : "|") + name;
    }
    return names;
}

}  // namespace ssdtlm
