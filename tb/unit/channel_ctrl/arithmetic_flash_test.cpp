// SPDX-License-Identifier: Apache-2.0
// What FEMU's arithmetic needs of the back end: one order for programs of the host and of garbage collection, and a bus
// without time.
#include <gtest/gtest.h>

#include "flash_bench.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr Ps kRead = 50us, kProgram = 600us, kErase = 3ms;

NandConfig config(std::uint32_t luns, std::uint32_t planes) {
    NandConfig c;
    c.geometry.dies_per_chip = luns;
    c.geometry.planes_per_die = planes;
    c.geometry.blocks_per_plane = 16;
    c.geometry.pages_per_block = 32;
    c.geometry.page_bytes = 16384;
    c.geometry.unit_bytes = 4096;
    c.t_read = {kRead};
    c.t_program = {kProgram};
    c.t_erase = kErase;
    return c;
}

NandConfig without_bus(NandConfig c) {
    c.onfi.interface = OnfiInterface::ideal;
    return c;
}

struct Benches {
    FlashBench shared{"shared", config(1, 4), {}, {}, {}, true};
    FlashBench ideal{"ideal", without_bus(config(2, 1))};
    Benches() { FlashBench::elaborate(); }
};
Benches& benches() {
    static Benches b;
    return b;
}

// Host and garbage collection write to the same blocks: their programs neither pass each other nor are told apart where
// planes are joined, and each is counted as what it is. By read_first those of the host would go first.
TEST(ArithmeticFlash, ProgramsOfGcMayHaveTheOrderOfTheHosts) {
    FlashBench& b = benches().shared;
    b.settle();
    b.erase(0, 0, 5);  // keeps the die
    const FlashClass classes[] = {FlashClass::gc_write, FlashClass::host_write, FlashClass::gc_write,
                                  FlashClass::gc_write};
    std::vector<FlashTransaction*> all;
    for (std::uint32_t page = 0; page < 2; ++page)
        for (std::uint32_t plane = 0; plane < 4; ++plane)
            all.push_back(&b.program(0, plane, 6, page, classes[(plane + page) % 4]));
    b.agenda.run();
    ASSERT_EQ(b.done.size(), 9u);
    std::size_t i = 0;  // the erase, which found the bus taken, ends last
    for (const FlashTransaction* t : b.done)
        if (t->op == FlashOp::program) {
            EXPECT_EQ(t, all[i++]);
        }
    const ChannelCounters& c = b.backend->channel(0).counters();
    EXPECT_EQ(c.pages[static_cast<std::size_t>(FlashClass::host_write)], 2u);
    EXPECT_EQ(c.pages[static_cast<std::size_t>(FlashClass::gc_write)], 6u);
    EXPECT_EQ(c.multi_plane, 2u);
}

TEST(ArithmeticFlash, WithoutABusOnlyTheArrayTakesTime) {
    FlashBench& b = benches().ideal;
    b.fill(0, 0, 3, 1);
    b.fill(1, 0, 3, 1);
    b.settle();
    const SimTime begin = b.now();
    for (const std::uint32_t die : {0u, 1u}) {
        b.read(die, 0, 3, 0, 16384);
        b.program(die, 0, 4, 0);
        b.erase(die, 0, 5);
    }
    b.agenda.run();
    ASSERT_EQ(b.done.size(), 6u);
    EXPECT_EQ(b.now() - begin, kRead + kProgram + kErase) << "both dies at the same time";
    for (const FlashTransaction* t : b.done)
        EXPECT_EQ(t->timeline.of(Stage::channel) + t->timeline.of(Stage::channel_wait), Ps{0});
}

}  // namespace
}  // namespace ssdtlm
