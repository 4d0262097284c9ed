// SPDX-License-Identifier: Apache-2.0
// What fits the DRAM, and who gets what the others leave.
#include <gmock/gmock.h>

#include "sim/config/config_show.h"
#include "sim/config/parameters.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::uint64_t kMiB = 1 << 20;

ResolvedConfig loaded(const std::vector<std::string>& assignments) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    for (const auto& a : assignments) loader.add_assignment(a);
    return loader.finish();
}

TEST(DramBudget, WhatIsInItHasToFit) {
    const SsdConfig c = loaded({}).config;
    // Four bytes for each unit, and the write buffer.
    const std::uint64_t all = c.ftl.user_capacity_bytes / 4096 * 4 + c.ftl.buffer_bytes;
    EXPECT_THAT(problems_with({"dram.size=" + std::to_string(all) + "B"}), IsEmpty());
    EXPECT_THAT(problems_with({"dram.size=" + std::to_string(all - 1) + "B"}),
                ElementsAre(StartsWith("--set dram.size=" + std::to_string(all - 1) + "B: dram.size: ")));
    EXPECT_THAT(problems_with({"dram.size=1KiB"}),
                ElementsAre(::testing::HasSubstr("1KiB is less than what is in it: buffer.size ")));
    EXPECT_THAT(problems_with({"dram.size=" + std::to_string(all) + "B", "read_cache.size=4KiB"}),
                ElementsAre(::testing::HasSubstr("read_cache.size 4KiB, the map ")));
    // Of a map on the flash only its cache, and no read cache in the room of the buffer.
    const std::string dftl = "ftl.mapping=dftl", room = "buffer.size=8MiB";
    EXPECT_THAT(problems_with({dftl, room, "map.cache=1MiB", "dram.size=9MiB"}), IsEmpty());
    EXPECT_THAT(problems_with({dftl, room, "map.cache=1MiB", "dram.size=9MiB", "read_cache.room=buffer",
                               "read_cache.replacement=fifo"}),
                IsEmpty());
    EXPECT_THAT(problems_with({dftl, room, "map.cache=1MiB", "dram.size=9000KiB"}),
                ElementsAre(::testing::HasSubstr("buffer.size 8MiB, map.cache 1MiB; at least 9MiB")));
}

TEST(DramBudget, OnePartGetsTheRest) {
    const std::vector<std::string> device{"ftl.mapping=dftl", "dram.size=40MiB"};
    const auto with = [&device](std::vector<std::string> more) {
        more.insert(more.begin(), device.begin(), device.end());
        return loaded(more);
    };
    EXPECT_EQ(with({"map.cache=3MiB", "read_cache.size=5MiB", "dram.rest=buffer"}).config.ftl.buffer_bytes, 32 * kMiB);
    EXPECT_EQ(with({"map.cache=3MiB", "buffer.size=5MiB", "dram.rest=read_cache"}).config.ftl.read_cache.bytes,
              32 * kMiB);
    const ResolvedConfig map = with({"read_cache.size=3MiB", "buffer.size=5MiB", "dram.rest=map"});
    EXPECT_EQ(map.config.ftl.map.cache_bytes, 32 * kMiB);
    EXPECT_EQ(map.where("map.cache"), "rest of dram.size");
    EXPECT_EQ(with({"map.cache=1025KiB", "dram.rest=buffer"}).config.ftl.buffer_bytes,
              40 * kMiB - 1028 * 1024);  // whole units
}

TEST(DramBudget, WhoCannotGetTheRest) {
    const auto expect_one = [](const std::vector<std::string>& assignments, const std::string& part) {
        EXPECT_THAT(problems_with(assignments), ElementsAre(::testing::HasSubstr(part)));
    };
    expect_one({"dram.rest=buffer"},
               "dram.rest: without dram.size there is no rest; \"none\", or a size; set dram.size");
    expect_one({"dram.rest=map", "dram.size=1GiB"},
               "dram.rest: no part of the DRAM is its: with ftl.mapping = \"page\" all of the map is in the DRAM; "
               "none, buffer, read_cache; set dram.rest = \"none\"");
    expect_one({"dram.rest=read_cache", "dram.size=1GiB", "read_cache.room=buffer", "buffer.order=lru"},
               "dram.rest: no part of the DRAM is its: read_cache.room = \"buffer\"");
    expect_one({"dram.rest=buffer", "dram.size=1GiB", "buffer.size=8MiB"},
               "buffer.size: 8MiB with dram.rest, which leaves it ");
    expect_one({"dram.rest=buffer", "dram.size=1MiB", "ftl.mapping=dftl", "map.cache=1MiB"},
               "map.cache 1MiB, and a unit at least for buffer.size; at least 1028KiB");
}

// What is shown can be loaded again.
TEST(DramBudget, TheRestAsAFile) {
    const ResolvedConfig first = loaded({"dram.size=64MiB", "dram.rest=buffer"});
    ConfigLoader loader;
    loader.add_text(show_toml(first), "shown.toml");
    const ResolvedConfig again = loader.finish();
    EXPECT_EQ(again.config.ftl.buffer_bytes, first.config.ftl.buffer_bytes);
    EXPECT_GT(again.config.ftl.buffer_bytes, 50 * kMiB);
}

}  // namespace
}  // namespace ssdtlm
