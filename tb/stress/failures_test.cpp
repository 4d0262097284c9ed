// SPDX-License-Identifier: Apache-2.0
// Flash that fails at the rates of worn parts, seen from the host of a whole SSD: what it is told, what SMART says, and
// that exactly the units that cannot be read are the ones it cannot read.
#include <cmath>
#include <cstdio>
#include <set>

#include "nand/array/random_faults.h"
#include "stress.h"

namespace ssdtlm {
namespace {

/// Overwrites units at random, then reads each unit once and remembers which reads failed.
class WriteThenRead final : public Workload {
public:
    WriteThenRead(std::uint64_t writes, std::uint64_t units, std::uint32_t unit_bytes, std::uint64_t seed)
        : writes_(writes), units_(units), unit_bytes_(unit_bytes), random_(seed, 21) {}

    Next next(SimTime) override {
        Next n;
        if (issued_ == writes_ + units_) return n;
        n.state = State::blocked;
        if (outstanding_ == kDepth || (issued_ == writes_ && outstanding_ != 0)) return n;
        n.state = State::ready;
        n.request.op = issued_ < writes_ ? HostOp::write : HostOp::read;
        n.request.offset = (issued_ < writes_ ? random_.below(units_) : issued_ - writes_) * unit_bytes_;
        n.request.bytes = unit_bytes_;
        ++issued_;
        ++outstanding_;
        return n;
    }
    void completed(const HostRequest& r, SimTime, SimTime, SimTime, bool ok) override {
        --outstanding_;
        if (!ok)
            (r.op == HostOp::read ? unreadable : unwritten).insert(static_cast<std::uint32_t>(r.offset / unit_bytes_));
    }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return kDepth; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

    std::set<std::uint32_t> unreadable, unwritten;

private:
    static constexpr std::uint32_t kDepth = 64;
    const std::uint64_t writes_, units_;
    const std::uint32_t unit_bytes_;
    Random random_;
    std::uint64_t issued_ = 0;
    std::uint32_t outstanding_ = 0;
};

SsdConfig failing_device(const FaultRates& rates, std::uint32_t spare_blocks) {
    SsdConfig c = stress_device();
    c.name = "failing";
    c.nand.geometry.blocks_per_plane = 64;
    c.nand.geometry.pages_per_block = 64;
    c.ftl.spare_blocks = spare_blocks;
    c.ftl.superblock = SuperblockSpan::plane;
    static_cast<FaultRates&>(c.faults) = rates;
    c.run.seed = 7;
    fill_up(c);
    return c;
}

using Json = nlohmann::json;

/// Everything that a test asks about, from a run in a child.
Json run_failing(const SsdConfig& config, std::uint64_t writes) {
    return Json::parse(in_child([&] {
        const NandGeometry& g = config.nand.geometry;
        WriteThenRead workload(writes, logical_units_of(config.ftl, g), g.unit_bytes, config.run.seed);
        Simulation simulation(config, workload, {});
        const RunSummary r = simulation.run();
        for (const BookLine& b : r.books)
            if (!b.balances()) throw CheckFailed("books: " + b.name);
        const SsdSystem& s = simulation.system();
        const SsdController& c = s.device.controller;
        const NandFlash& flash = s.device.flash;
        c.ftl->verify_books();
        // What cannot be read, by the draw of the faults and by what the FTL marked when it could not move it.
        std::set<std::uint32_t> expected;
        std::uint64_t marked = 0;
        for (std::uint32_t l = 0; l < c.ftl->logical_units(); ++l) {
            const Ppa at = c.ftl->lookup(Lpa{l});
            marked += at == kLost;
            if (at == kLost ||
                (flash.faults->kinds().any() && dynamic_cast<const RandomFaults&>(*flash.faults)
                                                    .lost(g.page_of(at), flash.spare.erase_count(g.block_of(at)))))
                expected.insert(l);
        }
        Json j;
        // Of the whole run: levels, as those of the SMART log are, have no part in a measured window.
        for (const auto& [name, value] : r.counters_whole_run) j[name] = value;
        j["errors"] = r.error_status;
        j["checked"] = r.integrity_checked;
        j["unreadable"] = workload.unreadable.size();
        j["unwritten"] = workload.unwritten.size();
        j["exactly"] = workload.unreadable == expected;
        j["marked"] = marked;
        j["read_only"] = c.ftl->media().read_only;
        j["programs"] = c.flash_pages(FlashClass::host_write) + c.flash_pages(FlashClass::gc_write);
        j["reads"] = c.flash_pages(FlashClass::host_read) + c.flash_pages(FlashClass::gc_read);
        return j.dump();
    }));
}

/// Within five standard deviations.
void expect_rate(double found, double of, double rate) {
    EXPECT_NEAR(found, of * rate, 5 * std::sqrt(of * rate)) << "of " << of;
}

TEST(FailingFlash, OneReadInAThousandIsRetried) {
    const Json j = run_failing(failing_device({0, 0, 1e-3, 0}, 0), 150'000);
    std::printf("%d of %d page reads were retried; %d errors\n", j["flash_read_retries"].get<int>(),
                j["reads"].get<int>(), j["errors"].get<int>());
    // Retries are reads too, and may not have to be retried again.
    expect_rate(j["flash_read_retries"], j["reads"], 1e-3);
    EXPECT_EQ(j["errors"], 0);
    EXPECT_GT(j["checked"], 0);
}

TEST(FailingFlash, OnePageInTenThousandIsLost) {
    const Json j = run_failing(failing_device({0, 0, 1e-3, 1e-4}, 0), 250'000);
    std::printf("%d units cannot be read, %d of them since GC could not move them; in %d programs\n",
                j["unreadable"].get<int>(), j["marked"].get<int>(), j["programs"].get<int>());
    EXPECT_TRUE(j["exactly"]);
    EXPECT_GT(j["marked"], 0);
    EXPECT_GT(j["unreadable"], j["marked"]);
    EXPECT_EQ(j["errors"], j["unreadable"]);
    EXPECT_EQ(j["commands_unrecovered_read"], j["unreadable"]);
    EXPECT_EQ(j["smart_media_errors"], j["unreadable"]);
    EXPECT_EQ(j["smart_critical_warning"], 0);
}

TEST(FailingFlash, OneProgramInAHundredThousandRetiresItsBlock) {
    const Json j = run_failing(failing_device({1e-5, 0, 0, 0}, 8), 400'000);
    std::printf("%d of %d programs failed, %d blocks retired, %d %% of the spare blocks left\n",
                j["flash_program_failures"].get<int>(), j["programs"].get<int>(), j["flash_blocks_retired"].get<int>(),
                j["smart_available_spare_percent"].get<int>());
    EXPECT_GT(j["flash_program_failures"], 0);
    expect_rate(j["flash_program_failures"], j["programs"], 1e-5);
    EXPECT_EQ(j["flash_blocks_retired"], j["flash_program_failures"]);  // no block failed twice
    EXPECT_EQ(j["errors"], 0);                                          // nothing was lost
    EXPECT_FALSE(j["read_only"]);
    EXPECT_LT(j["smart_available_spare_percent"], 100);
}

// A failure is told with the next page's R/B#, when that page is in the array.
TEST(FailingFlash, ProgramsFailInAStreamOfCachedOnes) {
    SsdConfig c = failing_device({1e-4, 1e-3, 0, 0}, 12);
    c.nand.cache_program = true;
    const Json j = run_failing(c, 200'000);
    std::printf("%d of %d cached programs failed, %d blocks retired\n", j["flash_program_failures"].get<int>(),
                j["programs"].get<int>(), j["flash_blocks_retired"].get<int>());
    EXPECT_GT(j["flash_program_failures"], 5);
    expect_rate(j["flash_program_failures"], j["programs"], 1e-4);
    EXPECT_EQ(j["errors"], 0);
    EXPECT_EQ(j["unreadable"], 0);
    EXPECT_GT(j["checked"], 0);
}

TEST(FailingFlash, ADriveWithoutSpareBlocksIsReadOnly) {
    const Json j = run_failing(failing_device({1e-3, 1e-3, 0, 0}, 2), 100'000);
    std::printf("%d blocks retired; %d writes refused, SMART: %d %% spare, critical warning %d\n",
                j["flash_blocks_retired"].get<int>(), j["commands_refused_read_only"].get<int>(),
                j["smart_available_spare_percent"].get<int>(), j["smart_critical_warning"].get<int>());
    EXPECT_TRUE(j["read_only"]);
    EXPECT_EQ(j["smart_available_spare_percent"], 0);
    EXPECT_EQ(j["smart_critical_warning"], 1 | 8);  // spare below its threshold, media read-only
    EXPECT_GT(j["commands_refused_read_only"], 0);
    EXPECT_EQ(j["errors"], j["commands_refused_read_only"]);
    EXPECT_EQ(j["unreadable"], 0);  // what was written before is all there
    EXPECT_GT(j["unwritten"], 0);
}

TEST(FailingFlash, TheSameSeedFailsInTheSameWay) {
    const SsdConfig c = failing_device({1e-4, 1e-4, 1e-3, 1e-3}, 4);
    SsdConfig other = c;
    other.run.seed = 8;
    const Json first = run_failing(c, 30'000);
    EXPECT_EQ(first, run_failing(c, 30'000));
    EXPECT_NE(first, run_failing(other, 30'000));
}

// Everything at once, with every invariant looked at after each event.
TEST(FailingFlash, RandomCommandsOfEveryKind) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SsdConfig c = stress_device();
        c.name = "failing " + std::to_string(seed);
        if (seed > 6) {  // with the map on the flash
            c.ftl.mapping = "dftl";
            c.ftl.map.granularity = seed % 4 < 2 ? MapGranularity::page : MapGranularity::entry;
            c.ftl.map.entry_bytes = 256;
            c.nvme.max_transfer_bytes = 131072;
            c.ftl.map.cache_bytes = 66ull * (seed % 4 < 2 ? c.nand.geometry.unit_bytes : 2 * c.ftl.map.entry_bytes);
        }
        c.nand.geometry.blocks_per_plane = 30;
        c.ftl.spare_blocks = 6;
        static_cast<FaultRates&>(c.faults) = {1e-3, 2e-3, 1e-2, 2e-3};
        if (seed % 2 == 0) c.ftl.superblock = SuperblockSpan::plane;
        c.nand.cache_program = seed % 3 == 0;
        fill_up(c);
        RandomMix::Spec mix;
        mix.seed = seed;
        stress(c, mix);
    }
}

}  // namespace
}  // namespace ssdtlm
