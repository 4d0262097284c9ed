// SPDX-License-Identifier: Apache-2.0
// The parameters of wear levelling and refresh.
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_care_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(P::choice(
                        "wear.free_blocks", {"in_turn", "by_wear"}, [](auto& c) -> auto& { return c.ftl.free_blocks; })
                        .says("Which free block is written next. in_turn: the one erased first; by_wear: the one with "
                              "the fewest erases for host "
                              "data, and the one with the most for moved data, which is colder")
                        .from("assumed: in turn wears the blocks in circulation evenly"));
    table.push_back(P::integer(
                        "wear.most_spread", [](auto& c) -> auto& { return c.ftl.most_spread; })
                        .range("0", "1000000")
                        .says("Difference of erase counts in a plane (with ftl.superblock = die, in a die) above which "
                              "its least worn block is "
                              "collected into a block of its own (static wear levelling). 0: never. With "
                              "wear.free_blocks = by_wear a spread of s "
                              "costs about 1/s in write amplification, with in_turn more")
                        .from("assumed: none, as data that do not change are rare in tests"));
    table.push_back(P::integer(
                        "wear.each", [](auto& c) -> auto& { return c.ftl.levelling_each; })
                        .range("1", "65536")
                        .says("At most one of this many collected blocks is collected for wear.most_spread")
                        .from("assumed")
                        .only_with("wear.most_spread != 0"));
    table.push_back(P::integer(
                        "refresh.reads", [](auto& c) -> auto& { return c.ftl.refresh_reads; })
                        .range("0", "1000000000")
                        .says("Page reads of a block since its erase after which its data is moved, because reads "
                              "disturb neighbouring pages. 0: "
                              "never. A block that is still being written is moved with its next read when it is full. "
                              "Blocks of the SLC cache are "
                              "left out. The count starts at 0 after a loss of power")
                        .from("none, as runs are short; TLC blocks bear some 100,000 to 1,000,000 reads, assumed"));
    table.push_back(
        P::quantity(
            "refresh.age", Dimension::age, [](auto& c) -> auto& { return c.ftl.refresh_age; })
            .range("0s", "100y")
            .says("Age that the oldest page of a block may reach before its data is moved, because cells lose charge. "
                  "0s: never. A block "
                  "that is still being written is moved when it is full. Blocks of the SLC cache are left out. Data "
                  "that the drive holds "
                  "at the start counts as written at an even rate before. After a loss of power ages begin at 0")
            .from("none, as runs are short; JESD218 asks drives for servers to keep data for three months at 40 "
                  "degrees without power, at the end of their life"));
    table.push_back(P::quantity(
                        "refresh.interval", Dimension::age, [](auto& c) -> auto& { return c.ftl.refresh_interval; })
                        .range("0s", "100y")
                        .says("Time between two looks at the ages of all blocks (firmware.refresh_look), at least 1 / "
                              "65,536 of refresh.age. 0s: a "
                              "16th of it")
                        .from("assumed")
                        .only_with("refresh.age != 0s"));
}

}  // namespace ssdtlm
