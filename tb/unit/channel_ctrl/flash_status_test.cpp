// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the array, as the submitter of the flash work learns of it: wrong bits, reads that are repeated,
// pages that are lost, programs and erases that fail. Times against formulas; 400 MT/s: 2.5 ns a byte.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include "flash_bench.h"
#include "nand/array/random_faults.h"

namespace ssdtlm {
namespace {

constexpr Ps kRead = 50us;
constexpr Ps kDecode = 2us;
constexpr Ps kIssue = 20ns + 7 * Ps{25ns};
constexpr Ps kWb = 100ns;
constexpr Ps data_out(std::int64_t bytes) {
    return 20ns + 15ns + 2 * Ps{25ns} + 15ns + (bytes + 1) * Ps{2500};
}
constexpr Ps kOnce = kIssue + kWb + kRead + data_out(4096) + kDecode;

NandConfig config(std::uint32_t planes) {
    NandConfig c;
    c.geometry.channels = 4;
    c.geometry.planes_per_die = planes;
    c.geometry.blocks_per_plane = 8;
    c.geometry.pages_per_block = 64;
    c.geometry.page_bytes = 16384;
    c.onfi.megatransfers = 400;
    c.t_read = {kRead};
    c.t_program = {600us};
    c.t_erase = 3ms;
    c.transfer_spare = false;
    return c;
}

/// Wrong bits by page and retry; blocks and pages that fail.
struct Script final : ArrayFaults {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint16_t> bits;  // page, retry
    std::uint32_t failing_page = ~0u, failing_plane = 0, failing_block = ~0u;
    bool program_fails(const ArrayWork& work) override {
        return work.page.page == failing_page && idx(work.page.plane) == failing_plane;
    }
    bool erase_fails(const ArrayWork& work) override { return work.page.block == failing_block; }
    std::uint16_t wrong_bits(const ArrayWork& work, std::uint32_t again) override {
        const PageAddress& p = work.page;
        const auto found = bits.find({p.page, again});
        return found == bits.end() ? std::uint16_t{0} : found->second;
    }
};

struct Benches {
    FlashBench one{"one", config(1), EccConfig{kDecode}};
    FlashBench two{"two", config(2), EccConfig{kDecode}};
    FlashBench rates{"rates", config(1), EccConfig{kDecode}};
    Benches() { FlashBench::elaborate(); }
};
Benches& benches() {
    static Benches b;
    return b;
}

TEST(FlashStatus, AReadBeyondTheDecoderIsRepeatedAtItsFullPrice) {
    FlashBench& b = benches().one;
    Script script;
    b.inject(&script);
    const std::uint16_t most = EccConfig{}.correctable_bits;
    script.bits = {{{0, 0}, most}, {{1, 0}, most + 1}, {{2, 0}, 400}, {{2, 1}, 300}, {{2, 2}, 9}};
    // A die of the first channel, of one in the middle and of the last; page, reads, wrong bits in the end.
    const std::uint32_t dies = b.geometry.dies();
    for (const std::uint32_t die : {0u, dies / 2, dies - 1}) {
        b.fill(die, 0, 1, 8);
        for (const auto& [page, reads, bits] : {std::tuple{3u, 1, 0}, {0u, 1, 72}, {1u, 2, 0}, {2u, 3, 9}}) {
            b.settle();
            const SimTime begin = b.now();
            const FlashTransaction& t = b.read(die, 0, 1, page, 4096);
            b.agenda.run();
            EXPECT_EQ(b.done.size(), 1u);
            EXPECT_EQ(b.now() - begin, reads * kOnce) << page;
            EXPECT_EQ(t.status.result, FlashResult::ok);
            EXPECT_EQ(t.status.retries, reads - 1);
            EXPECT_EQ(t.status.bits, bits);
            EXPECT_EQ(t.timeline.of(Stage::array), kRead) << "of the first read";
            EXPECT_EQ(t.timeline.of(Stage::channel), kIssue + kWb + data_out(4096));
            EXPECT_EQ(t.timeline.of(Stage::ecc), kDecode + (reads - 1) * kOnce);
            EXPECT_EQ(t.timeline.sum(), reads * kOnce);
            EXPECT_EQ(t.spare[1], Spare{2000 + 10 * page + 1});
        }
    }
    EXPECT_TRUE(b.backend->idle());
    b.inject(nullptr);
}

TEST(FlashStatus, APageIsUncorrectableWhenNoRetryHelps) {
    FlashBench& b = benches().one;
    Script script;
    b.inject(&script);
    b.fill(0, 0, 2, 1);
    const std::uint32_t retries = EccConfig{}.read_retries;
    for (std::uint32_t again = 0; again <= retries; ++again) script.bits[{0, again}] = 500;
    b.settle();
    const SimTime begin = b.now();
    const FlashTransaction& lost = b.read(0, 0, 2, 0, 4096);
    b.agenda.run();
    EXPECT_EQ(b.now() - begin, (retries + 1) * kOnce);
    EXPECT_EQ(lost.status.result, FlashResult::uncorrectable);
    EXPECT_EQ(lost.status.retries, retries);
    EXPECT_EQ(lost.status.bits, 500);
    // The last retry may be the one that helps.
    script.bits[{0, retries}] = 1;
    const FlashTransaction& saved = b.read(0, 0, 2, 0, 4096);
    b.agenda.run();
    EXPECT_EQ(saved.status.result, FlashResult::ok);
    EXPECT_EQ(saved.status.retries, retries);
    // A transaction that is used again begins without a past.
    FlashTransaction& again = b.read(0, 0, 2, 1, 4096);
    b.agenda.run();
    script.bits.clear();
    again.path = nullptr;
    b.submit(again);
    b.agenda.run();
    EXPECT_EQ(again.status.retries, 0);
    b.inject(nullptr);
}

TEST(FlashStatus, OnePlaneOfAProgramFailsAndAnEraseLeavesItsBlock) {
    FlashBench& b = benches().two;
    Script script;
    b.inject(&script);
    script.failing_page = 1;
    script.failing_plane = 1;
    script.failing_block = 5;
    std::array<const FlashTransaction*, 4> p{};
    for (std::uint32_t i = 0; i < 4; ++i) p[i] = &b.program(0, i % 2, 4, i / 2);
    b.agenda.run();
    const FlashResult ok = FlashResult::ok;
    EXPECT_EQ(p[0]->status.result, ok);
    EXPECT_EQ(p[1]->status.result, ok);
    EXPECT_EQ(p[2]->status.result, ok);
    EXPECT_EQ(p[3]->status.result, FlashResult::program_failed);
    EXPECT_EQ(b.backend->channel(0).counters().multi_plane, 2u) << "the planes were programmed together";
    const auto unit = [&b](std::uint32_t plane, std::uint32_t page) {
        return b.area.at(b.geometry.ppa_of(PageAddress{PlaneId{plane}, 4, page}, 2));
    };
    EXPECT_EQ(unit(0, 1), Spare{5012});
    EXPECT_EQ(unit(1, 1), kPadding) << "what a failed program leaves is nobody's";
    script.failing_page = ~0u;
    const FlashTransaction& next = b.program(0, 1, 4, 2);
    b.agenda.run();
    EXPECT_EQ(next.status.result, ok) << "the failed page counts as programmed";

    b.fill(0, 0, 5, 3);
    const FlashTransaction& bad = b.erase(0, 0, 5);
    const FlashTransaction& good = b.erase(0, 1, 4);
    b.agenda.run();
    EXPECT_EQ(bad.status.result, FlashResult::erase_failed);
    EXPECT_EQ(good.status.result, ok);
    const BlockId block = b.geometry.block_id(PlaneId{0}, 5);
    EXPECT_EQ(b.area.next_page(block), 3u);
    EXPECT_EQ(b.area.erase_count(block), 0u);
    EXPECT_TRUE(b.backend->idle());
    b.inject(nullptr);
}

/// What the array says, counted where it is said.
struct Counted final : ArrayFaults {
    RandomFaults faults;
    std::uint64_t programs = 0, failed = 0, wrong_reads = 0, reads = 0;
    explicit Counted(const FaultRates& rates) : faults(rates, 3) {}
    bool program_fails(const ArrayWork& work) override {
        const bool fails = faults.program_fails(work);
        ++programs;
        failed += fails;
        return fails;
    }
    bool erase_fails(const ArrayWork&) override { return false; }  // the one block is used again and again
    std::uint16_t wrong_bits(const ArrayWork& work, std::uint32_t again) override {
        const std::uint16_t bits = faults.wrong_bits(work, again);
        ++reads;
        wrong_reads += bits != 0;
        return bits;
    }
};

/// One program in 100,000, one read in a thousand once, one page in 10,000 for good.
TEST(FlashStatus, RatesReachTheCompletions) {
    FlashBench& b = benches().rates;
    Counted counted({1e-5, 0, 1e-3, 1e-4, 1000});
    b.inject(&counted);
    FlashTransaction& t = b.make(FlashOp::read, FlashClass::host_read, 0, 0, 0, 0, 4096);
    const auto run = [&](FlashOp op, FlashClass cls, std::uint32_t page) {
        t.op = op;
        t.cls = cls;
        t.address.page = page;
        t.path = nullptr;
        t.data_bytes = op == FlashOp::program ? 16384 : 4096;
        t.spare.fill(Spare{page});
        b.done.clear();
        b.submit(t);
        b.agenda.run();
        return t.status.result;
    };
    std::uint64_t failed = 0, retried = 0, lost = 0, lost_by_page = 0;
    for (std::uint32_t cycle = 0; cycle < 5'000; ++cycle) {
        for (std::uint32_t page = 0; page < 64; ++page) {
            const bool fails = run(FlashOp::program, FlashClass::host_write, page) == FlashResult::program_failed;
            failed += fails;
            const FlashResult read = run(FlashOp::read, FlashClass::host_read, page);
            ASSERT_EQ(t.spare[0], fails ? kPadding : Spare{page});
            lost += read == FlashResult::uncorrectable;
            retried += read == FlashResult::ok && t.status.retries == 1;
            lost_by_page += counted.faults.lost(t.address, cycle);
        }
        ASSERT_EQ(run(FlashOp::erase, FlashClass::erase, 0), FlashResult::ok);
    }
    EXPECT_EQ(counted.programs, 320'000u);
    EXPECT_EQ(failed, counted.failed);
    EXPECT_EQ(lost, lost_by_page);
    EXPECT_EQ(counted.wrong_reads, retried + lost * (EccConfig{}.read_retries + 1u));
    EXPECT_EQ(counted.reads, counted.programs + retried + lost * EccConfig{}.read_retries);
    EXPECT_NEAR(static_cast<double>(failed), 3.2, 8);
    EXPECT_NEAR(static_cast<double>(retried), 320, 5 * 18);
    EXPECT_NEAR(static_cast<double>(lost), 32, 5 * 5.7);
    EXPECT_GT(failed, 0u);
    std::printf("of 320000: %d programs failed, %d reads retried, %d pages lost\n", static_cast<int>(failed),
                static_cast<int>(retried), static_cast<int>(lost));
    b.inject(nullptr);
}

}  // namespace
}  // namespace ssdtlm
