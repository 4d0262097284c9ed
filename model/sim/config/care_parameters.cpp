// SPDX-License-Identifier: Apache-2.0
// Wear levelling and refresh.
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_care_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(P::choice(
                        "wear.free_blocks", {"in_turn", "by_wear"}, [](auto& c) -> auto& { return c.ftl.free_blocks; })
                        .says("Which free block is written next. in_turn: the one that was erased first; by_wear: for host data the one "
                              "with the fewest erases, for data that garbage collection moves, which are the colder ones, that with the most")
                        .from("assumed: in turn wears the blocks in circulation evenly"));
    table.push_back(P::integer(
                        "wear.most_spread", [](auto& c) -> auto& { return c.ftl.most_spread; })
                        .range("0", "1000000")
                        .says("Static wear levelling: when erase counts of a plane (with ftl.superblock = die, a die) differ by more, its "
                              "least worn block is collected in place of the policy's choice, whatever it holds, into a block of its own; 0: never. With "
                              "wear.free_blocks = by_wear a spread of s costs about 1/s in write amplification, in turn more")
                        .from("assumed: none, as data that do not change are rare in tests"));
    table.push_back(P::integer(
                        "wear.each", [](auto& c) -> auto& { return c.ftl.levelling_each; })
                        .range("1", "65536")
                        .says("Of so many blocks that are collected, one at most is collected for wear.most_spread")
                        .from("assumed")
                        .only_with("wear.most_spread != 0"));
    table.push_back(P::integer(
                        "refresh.reads", [](auto& c) -> auto& { return c.ftl.refresh_reads; })
                        .range("0", "1000000000")
                        .says("Pages read of a block since its erase after which what it holds is moved to another one, because reads disturb the pages beside "
                              "them; 0: never. A block that is still being written, with its next read when it is full. Not blocks of the SLC cache. Starts at 0 after a loss of power")
                        .from("none, as runs are short; TLC blocks bear some 100,000 to 1,000,000 reads, assumed"));
    table.push_back(P::quantity(
                        "refresh.age", Dimension::time, [](auto& c) -> auto& { return c.ftl.refresh_age; })
                        .range("0s", "8640000s")
                        .says("What a block holds is moved to another one before its oldest page is older, because cells lose charge; 0s: never. A block that is still "
                              "being written, when it is full. Not blocks of the SLC cache. What the drive holds at start is taken as written at an even rate in the time "
                              "before, so that some is due with each look; after a loss of power nobody knows ages, and they begin at 0")
                        .from("none, as runs are short; JESD218 asks drives for servers to keep data for three months at 40 degrees without power, at the end of their life"));
    table.push_back(P::quantity(
                        "refresh.interval", Dimension::time, [](auto& c) -> auto& { return c.ftl.refresh_interval; })
                        .range("0s", "8640000s")
                        .says("Time between two looks at the ages of all blocks (firmware.refresh_look), with refresh.age, of which it is 1 / 65,536 at least; 0s: a 16th of it")
                        .from("assumed")
                        .only_with("refresh.age != 0s"));
}

}  // namespace ssdtlm
