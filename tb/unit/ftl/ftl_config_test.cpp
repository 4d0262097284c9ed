// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "controller/ftl/ftl_check.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

TEST(FtlCheck, AcceptsADeviceThatFits) {
    const NandGeometry g = test::small_geometry();
    EXPECT_TRUE(check_ftl(test::small_config(g, 0.7), g).empty());
}

TEST(FtlCheck, FindsAllProblemsAtOnce) {
    const NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.7);
    c.mapping = "pge";
    c.gc_policy = "lazy";
    c.allocation = "CWDX";
    c.gc_hard_free_blocks = 1;
    c.gc_soft_free_blocks = 1;
    c.fill = 1.5;
    c.overwrite = -1;
    EXPECT_EQ(check_ftl(c, g).size(), 7u);
    SpareArea flash(g);
    try {
        Ftl ftl(c, g, flash, 1);
        FAIL() << "accepted";
    } catch (const UserError& e) {
        EXPECT_EQ(e.problems().size(), 7u);
        EXPECT_NE(std::string(e.what()).find("did you mean page?"), std::string::npos) << e.what();
    }
}

TEST(FtlCheck, CapacityLeavesRoomForTheThresholds) {
    const NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.5);
    const std::uint64_t most = most_logical_units(c, g);
    // 3 + 1 free and 2 open blocks of 24; a block may keep up to 3 of 64 units that are invalid.
    EXPECT_EQ(most, 8u * (24 - 6) * 61);
    c.user_capacity_bytes = most * g.unit_bytes;
    EXPECT_TRUE(check_ftl(c, g).empty());
    c.user_capacity_bytes += 1;  // a part of one more unit
    EXPECT_EQ(check_ftl(c, g).size(), 1u);
    c.gc_soft_free_blocks = 30;
    EXPECT_EQ(most_logical_units(c, g), 0u);
    EXPECT_EQ(check_ftl(c, g).size(), 1u);
}

}  // namespace
}  // namespace ssdtlm
