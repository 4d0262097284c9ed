// SPDX-License-Identifier: Apache-2.0
// Devices that no part and no drive is like are spoken of; the presets, and what is at the ends of the ranges, are not.
#include "sim/config/plausibility.h"

#include <gmock/gmock.h>

#include "sim/config/presets.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> notes_with(const std::vector<std::string>& assignments) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    for (const auto& a : assignments) loader.add_assignment(a);
    return notes_on_plausibility(loader.finish());
}

TEST(Plausibility, OfNoPreset) {
    ASSERT_FALSE(presets().empty());
    for (const auto& preset : presets()) {
        const ResolvedConfig resolved = load_config({preset.name}, {});
        EXPECT_THAT(notes_on_plausibility(resolved), IsEmpty()) << preset.name;
    }
    EXPECT_THAT(notes_with({}), IsEmpty());
}

TEST(Plausibility, OfTenDevices) {
    struct Case {
        std::vector<std::string> set;
        const char* key;
        const char* why;
    };
    const Case cases[] = {
        {{"nand.t_read=50ms"}, "nand.t_read=50ms", "tR of MLC is 20us to 150us"},
        {{"nand.bits_per_cell=3", "nand.t_program=600us", "nand.t_read=3us"}, "nand.t_read=3us", "tR of TLC"},
        {{"nand.bits_per_cell=3", "nand.t_read=60us", "nand.t_program=1500us"},
         "nand.t_program=1500us",
         "looks like that of a one-shot program of all 3 pages"},
        {{"nand.bits_per_cell=4", "nand.t_read=100us", "nand.t_program=8ms"},
         "nand.t_program=8ms",
         "looks like that of a one-shot program of all 4 pages"},
        {{"nand.bits_per_cell=1", "nand.t_program=5ms"}, "nand.t_program=5ms", "tPROG of one page (not of a one-shot"},
        {{"nand.t_program=1us"}, "nand.t_program=1us", "tPROG of one page"},
        {{"nand.t_erase=200ms"}, "nand.t_erase=200ms", "tBERS of MLC"},
        {{"link.data_link_efficiency=100%"}, "link.data_link_efficiency=100%", "more than the lanes carry"},
        {{"firmware.clock=10GHz"}, "firmware.clock=10GHz", "embedded cores"},
        {{"dram.bandwidth=500GB/s"}, "dram.bandwidth=500GB/s", "the DRAM of drives"},
        {{"buffer.size=64MiB"}, "buffer.size=64MiB", "larger than the drive"},
        {{"buffer.size=1MiB", "ftl.user_capacity=3MiB"},
         "ftl.user_capacity=3MiB",
         "the over-provisioning is 433.3 % of it"},
        {{"buffer.size=1MiB", "ftl.over_provisioning=433%"}, "ftl.over_provisioning=433%", "is 433.3 % of it"},
        {{"nand.geometry.blocks_per_plane=2000", "ftl.user_capacity=495MiB"}, "ftl.user_capacity=495MiB", "is 1.01 %"},
    };
    for (const Case& c : cases)
        EXPECT_THAT(notes_with(c.set),
                    ElementsAre(::testing::AllOf(HasSubstr(std::string("--set ") + c.key + " is implausible: "),
                                                 HasSubstr(c.why))))
            << c.key;
}

TEST(Plausibility, SaysEachTypeOfPageThatIsOutside) {
    EXPECT_THAT(notes_with({"nand.t_read=[50us, 500us]"}), ElementsAre(HasSubstr("tR of MLC")));
    EXPECT_THAT(notes_with({"nand.t_read=[1us, 500us]"}), ::testing::SizeIs(2));
}

}  // namespace
}  // namespace ssdtlm
