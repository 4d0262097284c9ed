// SPDX-License-Identifier: Apache-2.0
// Which pages the engine rebuilds, and which it leaves alone, over flash that was written by hand: one stripe of three
// pages and their parity.
#include "controller/parity/parity_engine.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "controller/ftl/ftl_check.h"
#include "fake_ports.h"

namespace ssdtlm {
namespace {

struct Unreadable final : ArrayFaults {
    bool program_fails(const ArrayWork& work) override { return failing.count(idx(work.page.plane)) != 0; }
    bool erase_fails(const ArrayWork&) override { return false; }
    std::uint16_t wrong_bits(const ArrayWork& work, std::uint32_t) override {
        return lost.count(idx(work.page.plane)) != 0 ? 100 : 0;
    }
    std::set<std::uint32_t> lost, failing;  ///< planes
};

class ParityEngineTest : public testing::Test {
protected:
    static NandGeometry four_dies() {
        NandGeometry g;
        g.channels = 4;
        g.blocks_per_plane = 16;
        g.pages_per_block = 4;
        g.page_bytes = 8192;
        g.unit_bytes = 4096;
        return g;
    }
    static FtlConfig config() {
        FtlConfig c;
        c.superblock = SuperblockSpan::drive;
        c.parity = Parity::die;
        c.initial_state = InitialState::fresh;
        c.gc_soft_free_blocks = 4;
        c.gc_hard_free_blocks = 2;
        c.user_capacity_bytes = most_logical_units(c, four_dies()) * 4096;
        return c;
    }
    ParityEngineTest() : flash_(agenda_, spare_, 1, Ps{1'000'000}), engine(flash_, ftl_) { flash_.faults = &faults; }

    /// Of the first row of superblock 0, whose parity is in plane 3.
    struct Written {
        std::uint64_t number;
        PageKind kind = PageKind::user;
        Spare units[2] = {kPadding, kPadding};
    };
    void write(std::uint32_t plane, const Written& page) {
        spare_.program_page({PlaneId{plane}, 0, 0}, page.units, {page.number, page.kind});
    }
    /// Three pages and their sum, drawn in this order.
    void write_row(std::uint64_t number_of_parity = 4) {
        for (std::uint32_t plane = 0; plane < 3; ++plane) write(plane, data(plane));
        write(3, {number_of_parity, PageKind::parity, {sum(0), sum(1)}});
    }
    Written data(std::uint32_t plane) const {
        return {plane + 1,
                PageKind::user,
                {ftl_.codec().make(Lpa{plane * 7 + 1}, 3),
                 plane == 2 ? kPadding : ftl_.codec().make(Lpa{plane * 5 + 2}, 1)}};
    }
    Spare sum(std::uint32_t slot) const {
        std::uint32_t sum = 0;
        for (std::uint32_t plane = 0; plane < 3; ++plane)
            if (const Spare s = data(plane).units[slot]; s != kPadding) sum ^= idx(s);
        return Spare{sum};
    }
    FlashTransaction& submit(FlashOp op, std::uint32_t plane) {
        txn_.op = op;
        txn_.cls = op == FlashOp::read ? FlashClass::host_read : FlashClass::host_write;
        txn_.address = {PlaneId{plane}, 0, 0};
        txn_.die = ftl_.geometry().die_of(PlaneId{plane});
        txn_.data_bytes = 8192;
        txn_.then = Then::to<&ParityEngineTest::ended>(this, 4711);
        txn_.path = nullptr;
        done_ = false;
        engine.submit(txn_);
        agenda_.run();
        EXPECT_TRUE(done_);
        EXPECT_EQ(txn_.then.argument, 4711u);
        return txn_;
    }
    void expect_lost(std::uint64_t reads) {
        EXPECT_EQ(submit(FlashOp::read, 1).status.result, FlashResult::uncorrectable);
        EXPECT_EQ(engine.counters().rebuilt, 0u);
        EXPECT_EQ(engine.counters().not_rebuilt, 1u);
        EXPECT_EQ(engine.counters().reads, reads);
    }
    void expect_rebuilt() {
        const FlashTransaction& t = submit(FlashOp::read, 1);
        EXPECT_EQ(t.status.result, FlashResult::ok);
        for (std::uint32_t slot = 0; slot < 2; ++slot) EXPECT_EQ(t.spare[slot], data(1).units[slot]);
        EXPECT_EQ(engine.counters().rebuilt, 1u);
        EXPECT_EQ(engine.counters().reads, 3u);
        EXPECT_EQ(t.path->last(), agenda_.now()) << "charged up to the end";
        EXPECT_EQ(t.path->sum(), agenda_.now() - t.path->start());
    }

private:
    void ended(std::uint32_t number) { done_ = number == 4711; }
    Agenda agenda_;

protected:
    SpareArea spare_{four_dies()};
    Ftl ftl_{config(), four_dies(), spare_, 1};
    Unreadable faults;

private:
    FakeFlash flash_;
    FlashTransaction txn_;
    bool done_ = false;

protected:
    ParityEngine engine;
};

TEST_F(ParityEngineTest, RebuildsWhatIsLostAlone) {
    write_row();
    faults.lost = {1};
    expect_rebuilt();
}

TEST_F(ParityEngineTest, NotWhereASecondPageIsLost) {
    write_row();
    faults.lost = {1, 2};
    expect_lost(3);
}

TEST_F(ParityEngineTest, NotWhereTheParityIsLost) {
    write_row();
    faults.lost = {1, 3};
    expect_lost(3);
}

TEST_F(ParityEngineTest, NotFromParityThatIsOlderThanAPage) {
    write_row(2);
    faults.lost = {1};
    expect_lost(3);
}

TEST_F(ParityEngineTest, NotAPageThatIsYoungerThanTheParity) {
    for (std::uint32_t plane = 0; plane < 3; ++plane) {
        Written page = data(plane);
        if (plane == 1) page.number = 9;
        write(plane, page);
    }
    write(3, {4, PageKind::parity, {sum(0), sum(1)}});
    faults.lost = {1};
    expect_lost(3);
}

TEST_F(ParityEngineTest, NotWithoutParityYet) {
    for (std::uint32_t plane = 0; plane < 3; ++plane) write(plane, data(plane));
    faults.lost = {1};
    expect_lost(0);
}

TEST_F(ParityEngineTest, NotBesideATornPage) {
    write(0, data(0));
    write(1, data(1));
    spare_.tear({PlaneId{2}, 0, 0});
    write(3, {4, PageKind::parity, {sum(0), sum(1)}});
    faults.lost = {1};
    expect_lost(3);
}

TEST_F(ParityEngineTest, NotBesideAPageThatFailedInAnEarlierLife) {
    write(0, data(0));
    write(1, data(1));
    write(2, {3});
    write(3, {4, PageKind::parity, {sum(0), sum(1)}});
    faults.lost = {1};
    expect_lost(3);
}

TEST_F(ParityEngineTest, NotFromParityThatFailedInAnEarlierLife) {
    for (std::uint32_t plane = 0; plane < 3; ++plane) write(plane, data(plane));
    write(3, {4, PageKind::parity});
    faults.lost = {1};
    expect_lost(3);
}

TEST_F(ParityEngineTest, ButBesideAPageOfTheJournal) {
    write(0, data(0));
    write(1, data(1));
    write(2, {3, PageKind::journal});
    const auto of_two = [&](std::uint32_t slot) { return Spare{idx(data(0).units[slot]) ^ idx(data(1).units[slot])}; };
    write(3, {4, PageKind::parity, {of_two(0), of_two(1)}});
    faults.lost = {1};
    expect_rebuilt();
}

TEST_F(ParityEngineTest, NotBesideAProgramThatHasJustFailed) {
    write(0, data(0));
    write(1, data(1));
    faults.failing = {2};
    EXPECT_EQ(submit(FlashOp::program, 2).status.result, FlashResult::program_failed);
    write(3, {4, PageKind::parity, {sum(0), sum(1)}});
    faults.lost = {1};
    expect_lost(0);
}

}  // namespace
}  // namespace ssdtlm
