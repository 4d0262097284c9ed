// SPDX-License-Identifier: Apache-2.0
// The parameter table itself, what is printed from it, and the presets.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/config/config_show.h"
#include "sim/config/parameters.h"
#include "sim/config/presets.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using nlohmann::json;

std::string file_text(const std::string& path) {
    std::ifstream in(std::string(SSDTLM_SOURCE_DIR) + "/" + path, std::ios::binary);
    EXPECT_TRUE(in.good()) << path;
    return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

TEST(ParameterTable, EveryEntryIsComplete) {
    std::set<std::string> tables;
    for (const auto& t : parameter_tables()) tables.insert(t.table);
    std::set<std::string> keys;
    for (const auto& p : ssd_parameters()) {
        EXPECT_TRUE(keys.insert(p.key).second) << p.key << " twice";
        EXPECT_TRUE(tables.count(p.table())) << p.key;
        EXPECT_FALSE(p.sentence.empty()) << p.key;
        EXPECT_FALSE(p.source.empty()) << p.key;
        EXPECT_FALSE(allowed_text(p).empty()) << p.key;
    }
}

TEST(ParameterTable, DefaultsAreAllowed) {
    const SsdConfig standard;
    for (const auto& p : ssd_parameters()) {
        if (p.required) continue;
        const Value v = p.get(standard);
        ConfigLoader loader;
        loader.add_text(p.table().empty() ? p.leaf() + " = " + to_toml(p, v)
                                          : "[" + p.table() + "]\n" + p.leaf() + " = " + to_toml(p, v),
                        "default.toml");
        std::vector<std::string> own;
        for (const auto& problem : problems_of(loader)) {
            if (problem.rfind("default.toml: ftl.user_capacity: is not set", 0) != 0) own.push_back(problem);
        }
        EXPECT_THAT(own, ::testing::IsEmpty()) << p.key;
    }
}

TEST(ParameterTable, SettingChangesExactlyThatParameter) {
    const auto& table = ssd_parameters();
    const SsdConfig standard;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto& p = table[i];
        SsdConfig c;
        Value other;
        if (p.kind == ParameterKind::boolean) {
            other = !std::get<bool>(p.get(standard));
        } else if (p.kind == ParameterKind::text) {
            other = std::string("something else");
        } else if (p.kind == ParameterKind::choice) {
            if (p.names.size() < 2) continue;
            other = p.names[0] == std::get<std::string>(p.get(standard)) ? p.names[1] : p.names[0];
        } else if (p.list) {
            other = std::vector<std::int64_t>{p.min, p.max};
        } else {
            const Value low = p.min, high = p.max;
            other = p.get(standard) == low ? high : low;
        }
        p.set(c, other);
        for (std::size_t k = 0; k < table.size(); ++k) {
            EXPECT_EQ(table[k].get(c), k == i ? other : table[k].get(standard))
                << "set " << p.key << ", read " << table[k].key;
        }
    }
}

TEST(Schema, IsJsonWithEveryKey) {
    const json schema = json::parse(config_schema());
    EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-04/schema#");
    for (const auto& p : ssd_parameters()) {
        const json* node = &schema;
        std::string rest = p.key;
        for (;;) {
            EXPECT_EQ((*node)["additionalProperties"], false);
            const auto dot = rest.find('.');
            const std::string name = rest.substr(0, dot);
            ASSERT_TRUE((*node)["properties"].contains(name)) << p.key;
            node = &(*node)["properties"][name];
            if (dot == std::string::npos) break;
            rest.erase(0, dot + 1);
        }
        EXPECT_TRUE(node->contains("description")) << p.key;
        EXPECT_TRUE(node->contains("type") || node->contains("enum") || node->contains("oneOf")) << p.key;
    }
}

TEST(Schema, CheckedInFileIsCurrent) {
    EXPECT_EQ(file_text("configs/schema/device.schema.json"), config_schema())
        << "run: ssdtlm config schema > configs/schema/device.schema.json";
}

TEST(Reference, CheckedInPageIsCurrent) {
    EXPECT_EQ(file_text("docs/parameters.md"), config_reference())
        << "run: ssdtlm config reference > docs/parameters.md";
}

TEST(Presets, AllAreThere) {
    std::set<std::string> names;
    for (const auto& p : presets()) names.insert(p.name);
    for (const char* name : {"mqsim-table3", "mqsim-table3-cmt", "femu-4g", "hexa-16g", "wd-sn730-512g", "tiny-test"})
        EXPECT_TRUE(names.count(name)) << name;
}

TEST(Presets, EachPassesAndItsResolvedTextReadsBack) {
    for (const auto& preset : presets()) {
        SCOPED_TRACE(preset.name);
        const ResolvedConfig r = load_config({preset.name}, {});
        EXPECT_EQ(r.config.name, preset.name);
        EXPECT_FALSE(preset.description.empty());
        ConfigLoader again;
        again.add_text(show_toml(r), "resolved.toml");
        const SsdConfig c = again.finish().config;
        for (const auto& p : ssd_parameters()) EXPECT_EQ(p.get(c), p.get(r.config)) << p.key;
        const json shown = json::parse(show_json(r));
        EXPECT_EQ(shown["parameters"].size(), ssd_parameters().size());
        EXPECT_EQ(shown["digest"], config_digest(c));
    }
}

TEST(Presets, EveryValueSaysWhereItComesFrom) {
    for (const auto& preset : presets()) {
        std::ifstream in(preset.path);
        std::string line;
        for (int n = 1; std::getline(in, line); ++n) {
            const bool value = line.find(" = ") != std::string::npos && line[0] != '#';
            const bool label = line.rfind("name = ", 0) == 0 || line.rfind("description = ", 0) == 0;
            if (!value || label) continue;
            EXPECT_NE(line.find("  # "), std::string::npos) << preset.path << ":" << n;
        }
    }
}

TEST(Presets, Table3IsTable3) {
    const SsdConfig c = load_config({"mqsim-table3"}, {}).config;
    const NandGeometry& g = c.nand.geometry;
    EXPECT_EQ(g.channels, 8u);
    EXPECT_EQ(g.ways, 4u);
    EXPECT_EQ(g.dies_per_chip, 2u);
    EXPECT_EQ(g.planes_per_die, 2u);
    EXPECT_EQ(g.blocks_per_plane, 2048u);
    EXPECT_EQ(g.pages_per_block, 256u);
    EXPECT_EQ(g.page_bytes, 8192u);
    EXPECT_EQ(g.spare_bytes, 448u);
    EXPECT_EQ(c.ftl.user_capacity_bytes, 480'000'000'000u);
    EXPECT_EQ(c.ftl.buffer_bytes, 256_MiB);
    EXPECT_EQ(c.nand.onfi.interface, OnfiInterface::nv_ddr2);
    EXPECT_EQ(c.nand.onfi.megatransfers, 333u);
    EXPECT_THAT(c.nand.t_read, ::testing::ElementsAre(Ps{75us}));
    EXPECT_THAT(c.nand.t_program, ::testing::ElementsAre(Ps{750us}));
    EXPECT_EQ(c.nand.t_erase, Ps{3800us});
    EXPECT_EQ(c.link.generation, 3u);
    EXPECT_EQ(c.link.lanes, 4u);
}

}  // namespace
}  // namespace ssdtlm
