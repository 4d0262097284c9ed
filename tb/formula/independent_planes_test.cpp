// SPDX-License-Identifier: Apache-2.0
// Random reads of planes that read independently, against an event simulation of the planes and their one bus that is
// written here: with so many requests outstanding that all planes are busy, as far as a grant looks ahead.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <queue>
#include <vector>

#include "common/random/random.h"
#include "formula/reference.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kSkip = 10'000;
/// A deep queue whose planes are not looked past is long behind some and short behind others when the last requests
/// come: what is measured is longer then.
constexpr std::uint32_t requests_of(std::uint32_t outstanding, std::size_t look_ahead) {
    return outstanding > 1000 && look_ahead > 1000 ? 500'000 : 150'000;
}

/// Reads per second of 4 KiB each from one die. A plane is busy from its command until its data are out. A free bus
/// carries a command before data, and the data that came first; a plane that was not addressed last is selected before
/// its data. What is over is followed by another one at once, for a random plane. Of those that wait for the die only
/// the first `look_ahead` can start. Counted as in the model: from the issue of the first that is measured until the
/// last has ended.
double simulate(const NandConfig& n, std::uint32_t outstanding, std::size_t look_ahead) {
    const std::uint32_t requests = requests_of(outstanding, look_ahead);
    const std::int64_t command = reference::read_issue(n), array = n.onfi.t_wb.count() + n.t_read[0].count();
    const std::int64_t select = (n.onfi.t_cs + 7 * n.onfi.t_wc + n.onfi.t_ccs).count(),
                       out = reference::data_out(n, 4096), turn = n.onfi.t_rhw.count();
    const std::uint32_t planes = n.geometry.planes_per_die;
    Random random(11, 3);
    std::deque<std::uint32_t> waiting;  // planes, in order of arrival
    std::vector<bool> busy(planes);
    using Ready = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> arrays;  // when the array is done, plane
    std::deque<std::uint32_t> data;
    std::int64_t now = 0, from = 0;
    std::uint32_t addressed = planes, issued = 0;
    const auto issue = [&] {
        if (issued == requests) return;
        if (issued++ == kSkip) from = now;
        waiting.push_back(static_cast<std::uint32_t>(random.below(planes)));
    };
    for (std::uint32_t i = 0; i < outstanding; ++i) issue();
    for (std::uint32_t done = 0; done < requests;) {
        for (; !arrays.empty() && arrays.top().first <= now; arrays.pop()) data.push_back(arrays.top().second);
        std::size_t at = 0;
        while (at < waiting.size() && at < look_ahead && busy[waiting[at]]) ++at;
        if (at < waiting.size() && at < look_ahead) {
            const std::uint32_t plane = waiting[at];
            waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(at));
            busy[plane] = true;
            addressed = plane;
            now += command;
            arrays.emplace(now + array, plane);
        } else if (!data.empty()) {
            const std::uint32_t plane = data.front();
            data.pop_front();
            now += out + (addressed == plane ? 0 : select);
            addressed = plane;
            busy[plane] = false;
            issue();
            ++done;
            now += turn;
        } else {
            now = arrays.top().first;
        }
    }
    return (requests - kSkip) / (static_cast<double>(now - from) * 1e-12);
}

SsdConfig one_die(std::uint32_t planes) {
    SsdConfig c = grid(1, 1, planes);
    NandGeometry& g = c.nand.geometry;
    g.page_bytes = 16384;
    g.blocks_per_plane = 128;
    c.ftl.user_capacity_bytes = g.raw_bytes() / 100 * 80 / 4096 * 4096;
    c.ftl.superblock = SuperblockSpan::die;
    c.nand.t_read = {Ps{60us}};
    c.nand.independent_plane_read = true;
    c.nand.onfi.interface = OnfiInterface::nv_lpddr4;
    c.nand.onfi.megatransfers = 3600;
    c.host.queue_entries = c.nvme.fetch_window = 2048;
    c.firmware.read_command = c.firmware.map_lookup = c.firmware.flash_issue = 0;
    return c;
}

nlohmann::json reads(const SsdConfig& c, std::uint32_t depth) {
    ClosedLoop::Spec s;
    s.depth = depth;
    s.requests = requests_of(depth, c.scheduler.look_ahead);
    s.skip = kSkip;
    s.span = c.ftl.user_capacity_bytes;
    return run_closed_loop(c, s);
}

TEST(IndependentPlanes, ADeepQueueKeepsThemBusy) {
    for (const std::uint32_t planes : {2u, 4u, 8u})
        for (const std::uint32_t depth : {64u, 1023u}) {
            const SsdConfig c = one_die(planes);
            const double formula = simulate(c.nand, depth, ~std::size_t{0}),
                         model = reads(c, depth)["read"]["iops"].get<double>();
            std::printf(
                "[   FIGURE ] random 4 KiB reads of %u planes, %u outstanding: simulated %.0f, model %.0f IOPS, %+.2f "
                "%%\n",
                planes, depth, formula, model, (model / formula - 1) * 100);
            EXPECT_NEAR(model / formula, 1.0, 0.01);
        }
}

// Reads of one unit keep its plane busy alone: so the verdict sees it, though the mean of the die's planes is a
// quarter.
TEST(IndependentPlanes, EachIsAResourceOfItsOwn) {
    SsdConfig c = one_die(4);
    ClosedLoop::Spec s;
    s.depth = 16;
    s.requests = 3000;
    s.skip = 100;
    s.span = 4096;
    const nlohmann::json r = run_closed_loop(c, s);
    const auto busy = r["resources"]["plane"]["busy"].get<std::vector<double>>();
    ASSERT_EQ(busy.size(), 4u);
    EXPECT_EQ(std::count(busy.begin(), busy.end(), 0.0), 3);
    EXPECT_GT(*std::max_element(busy.begin(), busy.end()), 0.98);
    EXPECT_EQ(r["limit"]["names"], nlohmann::json{"plane"});
}

// A shorter look-ahead leaves planes idle, and how long is counted: so much could be won.
TEST(IndependentPlanes, AsFarAsAGrantLooks) {
    for (const std::uint32_t look_ahead : {1u, 4u, 16u, 64u, 1024u}) {
        SsdConfig c = one_die(8);
        c.scheduler.look_ahead = look_ahead;
        const auto r = reads(c, 1023);
        const double formula = simulate(c.nand, 1023, look_ahead), model = r["read"]["iops"].get<double>();
        const double idle = r["counters"]["flash_look_ahead_idle_ps"].get<double>() * 1e-12 /
                            (8 * requests_of(1023, look_ahead) / model);
        std::printf(
            "[   FIGURE ] a grant looks at %u requests: simulated %.0f, model %.0f IOPS, %+.2f %%; planes are held "
            "idle %.2f %% of the time\n",
            look_ahead, formula, model, (model / formula - 1) * 100, idle * 100);
        EXPECT_NEAR(model / formula, 1.0, 0.01);
        EXPECT_EQ(r["counters"]["flash_look_ahead_cuts"] == 0, look_ahead == 1024);
        EXPECT_TRUE(look_ahead > 64 || idle > 0.02);
    }
}

}  // namespace
}  // namespace ssdtlm
