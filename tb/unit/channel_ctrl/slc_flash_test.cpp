// SPDX-License-Identifier: Apache-2.0
// Operations on blocks in SLC mode through back end, bus and package, against formulas, to the picosecond. 400
// MT/s: 2.5 ns per byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "common/random/random.h"
#include "flash_bench.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr Ps kRead[] = {50us, 70us}, kProgram = 600us, kErase = 3ms;
constexpr Ps kSlcRead = 20us, kSlcProgram = 110us, kSlcErase = 2ms;
// NV-DDR2 defaults: tCS 20, tWC 25, tWB 100, tDBSY 500, tRR 20, tRPRE 15, tDQSRE 25, tRPSTH 15, tRHW 100, tADL 300,
// tCCS 400.
constexpr Ps kPrefix = 25ns;  // A2h
constexpr Ps kReadIssue = 20ns + 7 * 25ns, kEraseIssue = 20ns + 5 * 25ns, kSelect = 20ns + 7 * 25ns + 400ns;
constexpr Ps kWb = 100ns, kRhw = 100ns, kPlaneBusy = 500ns;
constexpr std::int64_t kPageBytes = 16384;
constexpr std::uint32_t kBlocks = 6, kPages = 32;

constexpr Ps data_out(std::int64_t bytes) {
    return 20ns + 15ns + 25ns + 25ns + 15ns + (bytes + 1) * Ps{2500};
}
constexpr Ps kProgramCycles =
    (20ns + 6 * 25ns) + 300ns + (Ps{15'000} + kPageBytes * Ps{2500} + Ps{6'500} + Ps{15'000}) + (20ns + 25ns);

NandConfig config(std::uint32_t planes) {
    NandConfig c;
    c.geometry.planes_per_die = planes;
    c.geometry.blocks_per_plane = kBlocks;
    c.geometry.pages_per_block = kPages;
    c.geometry.page_bytes = kPageBytes;
    c.geometry.spare_bytes = 2048;
    c.onfi.megatransfers = 400;
    c.geometry.bits_per_cell = 2;
    c.t_read = {kRead[0], kRead[1]};
    c.t_program = {kProgram};
    c.t_erase = kErase;
    c.slc.t_read = kSlcRead;
    c.slc.t_program = kSlcProgram;
    c.slc.t_erase = kSlcErase;
    c.transfer_spare = false;
    return c;
}

struct Benches {
    FlashBench plain{"plain", config(1)};
    FlashBench planes{"planes", config(4)};
    Benches() { FlashBench::elaborate(); }
};
Benches& benches() {
    static Benches b;
    return b;
}

Ps life(const FlashTransaction& t) {
    return t.timeline.last() - t.queued_at;
}

TEST(SlcFlash, AnOperationHasItsOwnArrayTimeAndOneCycleMore) {
    FlashBench& b = benches().plain;
    const auto done = [&b](FlashOp op, FlashClass cls, std::uint32_t page, std::uint32_t bytes) -> FlashTransaction& {
        b.settle();
        FlashTransaction& t = b.make(op, cls, 0, 0, 3, page, bytes);
        t.slc = true;
        b.submit(t);
        b.agenda.run();
        EXPECT_EQ(t.timeline.sum(), life(t));
        return t;
    };
    for (const std::uint32_t page : {0u, 1u}) {
        const FlashTransaction& program = done(FlashOp::program, FlashClass::host_write, page, kPageBytes);
        EXPECT_EQ(life(program), kPrefix + kProgramCycles + kWb + kSlcProgram);
        EXPECT_EQ(program.timeline.of(Stage::array), kSlcProgram);
        const FlashTransaction& read = done(FlashOp::read, FlashClass::host_read, page, 4096);
        EXPECT_EQ(life(read), kPrefix + kReadIssue + kWb + kSlcRead + data_out(4096));
        EXPECT_EQ(read.timeline.of(Stage::array), kSlcRead);
        EXPECT_EQ(read.spare[1], Spare{4'000 + 10 * page + 1});
    }
    const FlashTransaction& erase = done(FlashOp::erase, FlashClass::erase, 0, 0);
    EXPECT_EQ(life(erase), kPrefix + kEraseIssue + kWb + kSlcErase);
    EXPECT_EQ(erase.timeline.of(Stage::array), kSlcErase);
}

/// Joined planes, each in its own mode: a cycle more for each in SLC mode, the longest of their array times, the data
/// of each.
TEST(SlcFlash, JoinedPlanesOfAnyModesTakeTheirFormula) {
    FlashBench& b = benches().planes;
    struct Block {
        std::uint32_t next = 0;
        bool slc = false;
    };
    std::array<std::array<Block, kBlocks>, 4> blocks{};
    Random random(3);
    const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random.below(n)); };
    std::array<std::uint32_t, 3> mixed{};  // by operation
    for (int step = 0; step < 3'000; ++step) {
        // A block number: in each plane its blocks of it are at the same page, in the mode that it was given there.
        const std::uint32_t n = below(kBlocks), first = below(4), count = 1 + below(4 - first);
        const std::uint32_t next = blocks[0][n].next;
        FlashOp op = below(2) == 0 ? FlashOp::read : FlashOp::program;
        bool full = false;
        for (const auto& plane : blocks) full = full || next == (plane[n].slc ? kPages / 2 : kPages);
        const bool all = op == FlashOp::program;
        if (op == FlashOp::program && full) op = FlashOp::erase;
        if (op == FlashOp::read && next == 0) continue;
        const std::uint32_t from = all ? 0 : first, planes = all ? 4 : count,
                            page = op == FlashOp::read ? below(next) : next;
        b.settle();
        const SimTime begin = b.now();
        Ps longest{}, prefixes{};
        std::uint32_t in_slc = 0;
        for (std::uint32_t p = from; p < from + planes; ++p) {
            Block& block = blocks[p][n];
            if (op == FlashOp::program && next == 0) block.slc = below(2) == 0;
            const FlashClass cls = op == FlashOp::read      ? FlashClass::host_read
                                   : op == FlashOp::program ? FlashClass::host_write
                                                            : FlashClass::erase;
            FlashTransaction& t =
                b.make(op, cls, 0, p, n, op == FlashOp::erase ? 0 : page, op == FlashOp::erase ? 0 : kPageBytes);
            t.slc = block.slc;
            b.submit(t);
            in_slc += block.slc;
            prefixes += block.slc ? kPrefix : Ps{0};
            const Ps native = op == FlashOp::read ? kRead[page % 2] : op == FlashOp::program ? kProgram : kErase;
            const Ps slc = op == FlashOp::read ? kSlcRead : op == FlashOp::program ? kSlcProgram : kSlcErase;
            longest = std::max(longest, block.slc ? slc : native);
        }
        b.agenda.run();
        ASSERT_EQ(b.done.size(), planes);
        const Ps one = op == FlashOp::read ? kReadIssue : op == FlashOp::program ? kProgramCycles : kEraseIssue;
        Ps expected = planes * one + (planes - 1) * (kWb + kPlaneBusy) + prefixes + kWb + longest;
        // One plane that was addressed last needs no select.
        if (op == FlashOp::read)
            expected += planes * data_out(kPageBytes) + (planes - 1) * kRhw + (planes == 1 ? Ps{0} : planes * kSelect);
        ASSERT_EQ(b.now() - begin, expected) << step;
        for (const FlashTransaction* t : b.done) {
            ASSERT_EQ(t->timeline.of(Stage::array), longest);
            if (op != FlashOp::read) continue;
            ASSERT_EQ(t->spare[2], Spare{1000 * (n + 1) + 10 * page + 2});
        }
        mixed[static_cast<std::size_t>(op)] += in_slc != 0 && in_slc != planes;
        for (std::uint32_t p = 0; p < 4; ++p) {
            if (op == FlashOp::program) ++blocks[p][n].next;
            if (op == FlashOp::erase) blocks[p][n] = Block{};
        }
    }
    EXPECT_GT(mixed[0], 200u);
    EXPECT_GT(mixed[1], 200u);
    EXPECT_GT(mixed[2], 20u);
}

}  // namespace
}  // namespace ssdtlm
