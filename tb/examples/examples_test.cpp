// SPDX-License-Identifier: Apache-2.0
// The examples of docs/extending.md do what it says.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "controller/channel_ctrl/flash_backend.h"
#include "controller/scheduler/bus_orders.h"
#include "examples/aged_greedy.h"
#include "examples/constant_flash.h"
#include "examples/write_first.h"

namespace ssdtlm::examples {
namespace {

// A back end of one channel and one die with the user's policy in front and the user's flash behind.
TEST(Examples, OwnSchedulerAndOwnFlashInABackEnd) {
    struct Client {
        std::vector<FlashTransaction*> done;
        void ended(FlashTransaction& t) { done.push_back(&t); }
    } client;
    NandConfig nand;
    nand.geometry.blocks_per_plane = 4;
    nand.geometry.pages_per_block = 8;
    Agenda agenda;
    const SchedulerConfig config;
    FlashBackend backend("backend", agenda, nand, EccConfig{}, config.multi_plane,
                         std::make_unique<WriteFirst>(config, SchedulerShape{}), make_bus_order(config));
    SpareArea contents(nand.geometry);
    ConstantFlash flash("flash", agenda, 50us, 0, contents);
    backend.channel(0).onfi_initiator.bind(flash.controller_target);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    std::vector<FlashTransaction> t(3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        t[i].op = i == 2 ? FlashOp::program : FlashOp::read;
        t[i].cls = i == 2 ? FlashClass::host_write : FlashClass::host_read;
        t[i].address.page = i == 2 ? 0 : i;  // programs begin at the block's first page
        t[i].data_bytes = 4096;
        t[i].then = Then::to<&Client::ended>(&client, t[i]);
        backend.submit(t[i]);
    }
    agenda.run();
    // The first read had the die before the others came; of those the program goes first.
    EXPECT_EQ(client.done, (std::vector<FlashTransaction*>{&t[0], &t[2], &t[1]}));
    for (const FlashTransaction& x : t) EXPECT_EQ(x.timeline.of(Stage::array), 50us - nand.onfi.t_wb);
}

TEST(Examples, AgedGreedyTakesTheEmptiestOfThoseOldEnough) {
    NandGeometry g;
    g.blocks_per_plane = 8;
    g.pages_per_block = 16;
    AgedGreedy policy({SuperblockShape(g), 1, 0}, {3});
    for (std::uint32_t b = 0; b < 6; ++b) policy.sealed(SuperblockId{b}, 15, b);
    policy.invalidated(SuperblockId{2}, 14);
    policy.invalidated(SuperblockId{5}, 1);  // emptier, but too young
    EXPECT_EQ(policy.select(GroupId{0}, 6), SuperblockId{2});
    EXPECT_EQ(policy.select(GroupId{0}, 7), SuperblockId{0});
    EXPECT_EQ(policy.select(GroupId{0}, 8), SuperblockId{5});  // now it is not
}

TEST(Examples, AgedGreedyFindsTheOnlyBlockWorthCollecting) {
    NandGeometry g;
    g.blocks_per_plane = 8;
    g.pages_per_block = 16;
    AgedGreedy policy({SuperblockShape(g), 1, 0}, {3});
    for (std::uint32_t b = 0; b < 8; ++b) policy.sealed(SuperblockId{b}, 16, b);
    EXPECT_EQ(policy.select(GroupId{0}, 8), kNoSuperblock);
    policy.invalidated(SuperblockId{7}, 15);
    EXPECT_EQ(policy.select(GroupId{0}, 8), SuperblockId{7});
    EXPECT_EQ(policy.select(GroupId{0}, 8), kNoSuperblock);
}

TEST(Examples, AgedGreedyLetsEmptierBlocksBeYounger) {
    NandGeometry g;
    g.blocks_per_plane = 8;
    g.pages_per_block = 16;
    AgedGreedy policy({SuperblockShape(g), 1, 0}, {0, 5});  // below half full: of any age
    policy.sealed(SuperblockId{0}, 9, 0);
    policy.sealed(SuperblockId{1}, 7, 5);
    policy.sealed(SuperblockId{2}, 8, 5);
    EXPECT_EQ(policy.select(GroupId{0}, 6), SuperblockId{1});
    EXPECT_EQ(policy.select(GroupId{0}, 6), SuperblockId{0});  // fuller than the other, which is too young
    EXPECT_EQ(policy.select(GroupId{0}, 6), SuperblockId{2});  // none is old enough
}

}  // namespace
}  // namespace ssdtlm::examples
