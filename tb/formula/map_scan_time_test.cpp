// SPDX-License-Identifier: Apache-2.0
// The search for the map on an idle drive, against its closed form: one read after the other on one die to the picosecond,
// and on several dies, with several reads at once, between what the busiest resource needs and MapScan::longest.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "formula/reference.h"
#include "sim/simulation.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

/// A read, and when the drive has long been idle, another.
class TwoReads final : public Workload {
public:
    Next next(SimTime now) override {
        Next n;
        n.state = issued_ == 2 ? State::done : State::ready;
        if (issued_ == 1 && now < SimTime{10s}) {
            n.state = State::wait;
            n.when = SimTime{10s};
        }
        if (n.state != State::ready) return n;
        n.request.bytes = 4096;
        n.request.offset = issued_++ * 4096;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override {}
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    std::uint64_t issued_ = 0;
};

struct Scan {
    std::uint64_t reads;
    std::int64_t ps;
};

Scan scan_of(SsdConfig c) {
    c.host.power_cut_at = {1s};
    c.host.power_off_time = 1ms;
    const auto j = nlohmann::json::parse(in_child([&c] {
        TwoReads workload;
        Simulation simulation(c, workload, {});
        const RunSummary r = simulation.run();
        return nlohmann::json{{"reads", r.power_cuts.at(0).scan_reads}, {"ps", r.power_cuts.at(0).scan_time.count()}}.dump();
    }));
    return {j["reads"], j["ps"]};
}

/// Pages that are programmed, and of each block that is not full one more.
std::uint64_t reads_of(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    const std::uint64_t units = c.ftl.user_capacity_bytes / g.unit_bytes, pages = units / g.units_per_page();
    EXPECT_EQ(pages % g.planes(), 0u) << "every plane has the same number";
    const std::uint64_t in_plane = pages / g.planes();
    return g.planes() * (in_plane + (g.blocks_per_plane - in_plane / g.pages_per_block));
}

SsdConfig one_die() {
    SsdConfig c = grid(1, 1);
    NandGeometry& g = c.nand.geometry;
    g.page_bytes = 8192;
    g.spare_bytes = 448;
    g.blocks_per_plane = 32;
    g.pages_per_block = 16;
    c.ftl.user_capacity_bytes = std::uint64_t{20} * g.pages_per_block * g.page_bytes + 5 * g.page_bytes;
    c.ftl.scan_reads_per_die = 1;
    return c;
}

TEST(MapScanTime, OneReadAfterTheOther) {
    for (const Ps decode : {Ps{}, Ps{3'000'000}}) {
        SsdConfig c = one_die();
        c.ecc.decode_time = decode;
        const Scan found = scan_of(c);
        EXPECT_EQ(found.reads, reads_of(c));
        const std::int64_t read = reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() +
                                  reference::data_out(c.nand, c.nand.geometry.spare_bytes) + decode.count();
        // The next command waits for tRHW, if decoding takes no longer.
        const std::int64_t between = std::max<std::int64_t>(0, (c.nand.onfi.t_rhw - decode).count());
        const auto n = static_cast<std::int64_t>(found.reads);
        EXPECT_EQ(found.ps, n * read + (n - 1) * between);
        EXPECT_LE(found.ps, MapScan::longest(c.nand, decode, 1).count());
        std::printf("[   FIGURE ] %lld reads of one die, decoding %lld ps: formula and model %lld ps\n", static_cast<long long>(n),
                    static_cast<long long>(decode.count()), static_cast<long long>(found.ps));
    }
}

TEST(MapScanTime, ManyDiesAtOnce) {
    for (const std::uint32_t at_once : {1u, 4u}) {
        SsdConfig c = one_die();
        NandGeometry& g = c.nand.geometry;
        g.channels = 2;
        g.ways = 4;
        c.ftl.user_capacity_bytes *= 8;
        c.ftl.scan_reads_per_die = at_once;
        const Scan found = scan_of(c);
        EXPECT_EQ(found.reads, reads_of(c));
        const std::uint64_t each = found.reads / g.dies();
        const std::int64_t die = static_cast<std::int64_t>(each) *
                                 (reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() +
                                  reference::data_out(c.nand, g.spare_bytes));
        EXPECT_GE(found.ps, die);
        EXPECT_LE(found.ps, die + die / 20) << "the dies are busy, the bus is not";
        EXPECT_LE(found.ps, MapScan::longest(c.nand, c.ecc.decode_time, 1).count());
    }
}

}  // namespace
}  // namespace ssdtlm
