// SPDX-License-Identifier: Apache-2.0
// Order of sources, origins, and the text of a resolved configuration.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/config/config_show.h"
#include "sim/config/parameters.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ConfigMerge, LaterSourcesReplaceEarlierOnes) {
    ConfigLoader loader;
    loader.add_text(good_device() + "[nand]\nt_read = \"10us\"\nt_program = \"100us\"\nt_erase = \"1ms\"\n", "a.toml");
    loader.add_text("[nand]\nt_program = \"200us\"\nt_erase = \"2ms\"\n", "b.toml");
    loader.add_assignment("nand.t_erase=3ms");
    const ResolvedConfig r = loader.finish();
    EXPECT_THAT(r.config.nand.t_read, ElementsAre(Ps{10us}));
    EXPECT_THAT(r.config.nand.t_program, ElementsAre(Ps{200us}));
    EXPECT_EQ(r.config.nand.t_erase, Ps{3ms});
    EXPECT_EQ(r.where("nand.t_read"), "a.toml:13:10");
    EXPECT_EQ(r.where("nand.t_program"), "b.toml:2:13");
    EXPECT_EQ(r.where("nand.t_erase"), "--set nand.t_erase=3ms");
    EXPECT_EQ(r.where("nand.bits_per_cell"), "default of nand.bits_per_cell");
    EXPECT_EQ(r.config.name, "a");
}

TEST(ConfigMerge, LastAssignmentCounts) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    loader.add_assignment("run.seed=5");
    loader.add_assignment("run.seed = 6");
    EXPECT_EQ(loader.finish().config.run.seed, 6u);
}

TEST(ConfigMerge, AssignmentsAreTomlOrBareStrings) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    for (const char* a :
         {"nand.t_read=[\"50us\", \"60us\"]", "nand.t_program=700us", "ftl.allocation=\"PDWC\"", "run.integrity=false",
          "host.queue_pairs=3", "precondition.fill=12.5%", "buffer.flush_start=40%", "name=970"}) {
        loader.add_assignment(a);
    }
    const SsdConfig c = loader.finish().config;
    EXPECT_THAT(c.nand.t_read, ElementsAre(Ps{50us}, Ps{60us}));
    EXPECT_THAT(c.nand.t_program, ElementsAre(Ps{700us}));
    EXPECT_EQ(c.name, "970");
    EXPECT_EQ(c.ftl.allocation, "PDWC");
    EXPECT_FALSE(c.run.integrity);
    EXPECT_EQ(c.host.queue_pairs, 3u);
    EXPECT_EQ(c.ftl.fill, 0.125);
    EXPECT_EQ(c.ftl.flush_start_percent, 40u);
}

/// Files in a folder of their own.
class ConfigBase : public testing::Test {
protected:
    ConfigBase() { std::filesystem::create_directories(folder_ / "below"); }
    ~ConfigBase() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("ssdtlm_based_on_" + std::to_string(getpid()));
};

TEST_F(ConfigBase, AFileSaysOnlyWhatDiffersFromAnother) {
    write("first.toml", "name = \"first\"\ndescription = \"One.\"\n" + good_device() +
                            "[nand]\nt_read = \"10us\"\nt_erase = \"1ms\"\n");
    write("below/second.toml", "based_on = \"../first.toml\"\n[nand]\nt_read = \"20us\"\nt_program = \"200us\"\n");
    ConfigLoader loader;
    // Where the key stands does not matter.
    loader.add_device(write(
        "third.toml", "description = \"Three.\"\nbased_on = \"below/second.toml\"\n[nand]\nt_program = \"300us\"\n"));
    const ResolvedConfig r = loader.finish();
    EXPECT_THAT(r.config.nand.t_read, ElementsAre(Ps{20us}));
    EXPECT_THAT(r.config.nand.t_program, ElementsAre(Ps{300us}));
    EXPECT_EQ(r.config.nand.t_erase, Ps{1ms});
    EXPECT_EQ(r.config.name, "third");
    EXPECT_EQ(r.config.description, "Three.");
    EXPECT_EQ(r.config.based_on, "");
    EXPECT_THAT(r.where("nand.t_erase"), testing::EndsWith("first.toml:16:11"));
}

TEST_F(ConfigBase, AVariantOfAPreset) {
    const SsdConfig plain = load_config({"mqsim-table3"}, {}).config,
                    variant = load_config({"mqsim-table3-cmt"}, {}).config;
    EXPECT_EQ(variant.name, "mqsim-table3-cmt");
    EXPECT_EQ(variant.ftl.mapping, "dftl");
    EXPECT_EQ(variant.ftl.map.cache_bytes, 4_MiB);
    EXPECT_EQ(variant.nand.geometry.raw_bytes(), plain.nand.geometry.raw_bytes());
    for (const auto& p : ssd_parameters())
        if (p.table() != "" && p.table() != "map" && p.key != "ftl.mapping") {
            EXPECT_EQ(p.get(variant), p.get(plain)) << p.key;
        }
}

TEST_F(ConfigBase, WhatItCannotBeBasedOn) {
    const auto problems = [&](const std::string& file) {
        ConfigLoader loader;
        loader.add_device((folder_ / file).string());
        return problems_of(loader);
    };
    write("circle.toml", "based_on = \"round.toml\"\n" + good_device());
    write("round.toml", "based_on = \"./below/../circle.toml\"\n");
    EXPECT_THAT(problems("circle.toml"),
                ElementsAre(testing::AllOf(HasSubstr("round.toml:1:12"),
                                           HasSubstr("based_on: \"./below/../circle.toml\" leads back to this file"))));
    write("none.toml", "based_on = \"mqsim-table\"\n" + good_device());
    EXPECT_THAT(problems("none.toml"),
                ElementsAre(testing::AllOf(HasSubstr("none.toml:1:12: based_on: no device 'mqsim-table'"),
                                           HasSubstr("did you mean 'mqsim-table3'?"))));
    write("number.toml", "based_on = 3\n" + good_device());
    EXPECT_THAT(problems("number.toml"), ElementsAre(HasSubstr("based_on")));
    write("wrong.toml", good_device() + "[nand]\nt_reed = \"10us\"\n");
    write("of_wrong.toml", "based_on = \"wrong.toml\"\n");
    EXPECT_THAT(problems("of_wrong.toml"), ElementsAre(HasSubstr("wrong.toml:13:1: unknown key")));
    EXPECT_THAT(problems_with({"based_on=mqsim-table3"}),
                ElementsAre(HasSubstr("based_on: said outside of a device file")));
}

TEST(ConfigMerge, ListsOfBareStrings) {
    const auto list = [](const std::string& text) {
        ConfigLoader loader;
        loader.add_text(good_device(), "d.toml");
        loader.add_assignment("nand.t_read=" + text);
        return loader.finish().config.nand.t_read;
    };
    EXPECT_THAT(list("[50us, 60us]"), ElementsAre(Ps{50us}, Ps{60us}));
    EXPECT_THAT(list("[50us,\"60us\"]"), ElementsAre(Ps{50us}, Ps{60us}));
    EXPECT_THAT(list("[ 50us ]"), ElementsAre(Ps{50us}));
    EXPECT_THAT(problems_with({"nand.t_read=[50us, sixty]"}),
                ElementsAre(HasSubstr("'sixty' does not start with a digit")));
    EXPECT_THAT(problems_with({"nand.t_read=[50us,]", "host.power_cut_at=[1ms, , 2ms]"}), SizeIs(2));
    EXPECT_THAT(problems_with({"nand.t_read=[50us, [60us]]"}), SizeIs(1));
}

TEST(ConfigMerge, ResolvedTextReadsBack) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    loader.add_assignment("nand.t_read=[\"50.5us\", \"60us\"]");
    loader.add_assignment("name=a \"quoted\" \\ name");
    loader.add_assignment("link.data_link_efficiency=97.123%");
    loader.add_assignment("nvme.interrupt_coalescing_time=200us");
    loader.add_assignment("nvme.interrupt_coalescing_threshold=3");
    const ResolvedConfig r = loader.finish();
    ConfigLoader again;
    again.add_text(show_toml(r), "resolved.toml");
    const SsdConfig c = again.finish().config;
    for (const auto& p : ssd_parameters()) EXPECT_EQ(p.get(c), p.get(r.config)) << p.key;
    EXPECT_EQ(config_digest(c), config_digest(r.config));
    EXPECT_EQ(c.nvme.interrupt_coalescing_time, 2u);
}

TEST(ConfigMerge, ResolvedTextNamesOrigins) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    loader.add_assignment("run.seed=5");
    const std::string text = show_toml(loader.finish());
    EXPECT_THAT(text, HasSubstr("\n[gc]\npolicy = \"greedy\"                           # default\n"
                                "soft_free_blocks = 4                        # d.toml:4:20\n"));
    EXPECT_THAT(text, HasSubstr("\nseed = 5                                    # --set run.seed=5\n"));
}

TEST(ConfigMerge, DigestDependsOnValuesOnly) {
    const auto digest = [](const char* text, const char* assignment) {
        ConfigLoader loader;
        loader.add_text(good_device() + text, "d.toml");
        loader.add_assignment(assignment);
        return config_digest(loader.finish().config);
    };
    EXPECT_EQ(digest("[nand]\nt_erase = \"5ms\"\n", "run.seed=2"), digest("[run]\nseed = 2\n", "nand.t_erase=5000us"));
    EXPECT_EQ(digest("", "name=x"), digest("", "name=y"));
    EXPECT_NE(digest("", "run.seed=2"), digest("", "run.seed=3"));
}

}  // namespace
}  // namespace ssdtlm
