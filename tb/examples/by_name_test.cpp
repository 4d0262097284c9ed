// SPDX-License-Identifier: Apache-2.0
// Mappings and failures that are linked from outside: chosen by name, with parameters of their own, in a whole drive.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "common/units/age.h"
#include "controller/ftl/ftl_check.h"
#include "controller/ftl/mapping/mapping.h"
#include "sim/config/config_loader.h"
#include "sim/ssd_system.h"
#include "support/closed_loop.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

SsdConfig device(std::vector<std::string> settings) {
    settings.insert(settings.begin(), {"precondition.state=sequential", "buffer.size=256KiB", "host.submit_time=0s",
                                       "host.completion_time=0s"});
    return load_config({"tiny-test"}, settings).config;
}

/// What a run came to: latencies, errors, and the counters of the drive.
struct Outcome {
    std::vector<std::int64_t> latency, mapping;  // of each command, in ps
    std::uint64_t errors = 0, retries = 0, lost = 0;
    std::uint64_t full_merges = 0, other_merges = 0, checked = 0;
};

struct Watch final : CompletionObserver {
    std::ostringstream text;
    void on_complete(const HostRequest&, SimTime issued, SimTime, SimTime now, const Timeline& t, bool) override {
        text << (now - issued).count() << ' ' << t.of(Stage::mapping).count() << ' ';
    }
};

Outcome run(const SsdConfig& c, ClosedLoop::Spec spec) {
    spec.span = c.ftl.user_capacity_bytes / spec.bytes * spec.bytes;
    const std::string text = in_child([&] {
        ClosedLoop workload(spec);
        Watch seen;
        SsdSystem ssd("ssd", c, workload, &seen);
        ssd.host.driver.start();
        ssd.process.run();
        ssd.device.controller.ftl->verify_books();
        std::uint64_t retries = 0;
        for (std::uint32_t ch = 0; ch < c.nand.geometry.channels; ++ch)
            retries += ssd.device.controller.backend.channel(ch).counters().read_retries;
        const FtlCounters& n = ssd.device.controller.ftl->counters();
        std::ostringstream out;
        out << spec.requests << ' ' << seen.text.str() << ssd.host.driver.counters().errors << ' ' << retries << ' '
            << ssd.device.controller.ftl->lost_units() << ' ' << n.full_merges << ' '
            << n.switch_merges + n.partial_merges << ' ' << (ssd.oracle ? ssd.oracle->blocks_checked() : 0);
        return out.str();
    });
    Outcome o;
    std::istringstream in(text);
    std::size_t commands = 0;
    in >> commands;
    for (std::size_t i = 0; i < commands; ++i) {
        in >> o.latency.emplace_back();
        in >> o.mapping.emplace_back();
    }
    in >> o.errors >> o.retries >> o.lost >> o.full_merges >> o.other_merges >> o.checked;
    EXPECT_TRUE(in) << text.substr(0, 300);
    return o;
}

ClosedLoop::Spec reads(std::uint64_t requests) {
    ClosedLoop::Spec s;
    s.requests = requests;
    return s;
}

TEST(MappingByName, EachOtherRegionIsWaitedFor) {
    const Outcome page = run(device({}), reads(400));
    const SsdConfig c = device({"ftl.mapping=regions", "ftl.regions.units=8", "ftl.regions.wait=7us"});
    const Outcome own = run(c, reads(400));
    // As many waits as there are steps from one region to another in what is read.
    Random random(1);
    std::uint64_t waits = 0, before = ~std::uint64_t{0};
    for (int i = 0; i < 400; ++i) {
        const std::uint64_t region = random.below(c.ftl.user_capacity_bytes / 4096) / 8;
        waits += region != before;
        before = region;
    }
    EXPECT_GT(waits, 390u);
    std::int64_t mapping = 0;
    for (std::size_t i = 0; i < own.latency.size(); ++i) {
        EXPECT_EQ(own.latency[i] - page.latency[i], own.mapping[i]) << i;
        mapping += own.mapping[i];
    }
    EXPECT_EQ(mapping, static_cast<std::int64_t>(waits) * 7'000'000);
    EXPECT_EQ(own.checked, 400u * 4096 / c.nvme.lba_bytes);
    // One region for all: the first command waits.
    const Outcome one =
        run(device({"ftl.mapping=regions", "ftl.regions.units=1000000", "ftl.regions.wait=7us"}), reads(50));
    EXPECT_EQ(one.mapping[0], 7'000'000);
    EXPECT_TRUE(std::all_of(one.mapping.begin() + 1, one.mapping.end(), [](std::int64_t t) { return t == 0; }));
}

TEST(MappingByName, LogBlocksOfOnesOwn) {
    const auto with = [](const std::string& logs) {
        return device({"ftl.mapping=scattered_logs", "ftl.user_capacity=8MiB", "ftl.scattered_logs.logs=" + logs});
    };
    ClosedLoop::Spec ascending;
    ascending.op = HostOp::write;
    ascending.bytes = 16384;
    ascending.pattern = ClosedLoop::Pattern::sequential;
    ascending.requests = 2000;
    ascending.depth = 4;
    ClosedLoop::Spec mixed;
    mixed.write_percent = 70;
    mixed.depth = 8;
    mixed.requests = 4000;
    std::vector<std::uint64_t> merges;
    for (const char* const logs : {"1", "6"}) {
        const SsdConfig c = with(logs);
        const Outcome o = run(c, mixed);
        EXPECT_EQ(o.other_merges, 0u) << "no log block is a sequential one";
        EXPECT_GT(o.full_merges, 20u);
        EXPECT_EQ(o.errors, 0u);
        EXPECT_GT(o.checked, 1000u);
        merges.push_back(run(c, ascending).full_merges);
        EXPECT_GT(merges.back(), 10u) << "an ascending write has to be merged too";
    }
    // FAST takes the same ascending write without one.
    const Outcome fast =
        run(device({"ftl.mapping=fast", "ftl.user_capacity=8MiB", "fast.random_log_blocks=6"}), ascending);
    EXPECT_EQ(fast.full_merges, 0u);
    EXPECT_GT(fast.other_merges, 10u);
    // Each log block takes a superblock of each group from the host's data.
    const SsdConfig few = with("1"), many = with("6");
    const NandGeometry& g = few.nand.geometry;
    EXPECT_EQ(most_logical_units(few.ftl, g) - most_logical_units(many.ftl, g),
              std::uint64_t{5} * g.planes() * g.units_per_block());
}

TEST(MappingByName, WhatIsWrongIsSaidAsOfAnyOther) {
    const auto said = [](std::vector<std::string> settings) {
        try {
            load_config({"tiny-test"}, settings);
        } catch (const UserError& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    EXPECT_NE(said({"ftl.mapping=region"}).find("did you mean"), std::string::npos);
    EXPECT_NE(said({"ftl.mapping=regions", "ftl.regions.wait=2s"}).find("1ns..1ms"), std::string::npos)
        << said({"ftl.mapping=regions", "ftl.regions.wait=2s"});
    EXPECT_NE(said({"ftl.mapping=scattered_logs", "wear.most_spread=1"}).find("wear.most_spread"), std::string::npos);
    EXPECT_NE(said({"nand.faults.model=worn_cell"}).find("did you mean"), std::string::npos);
    EXPECT_NE(said({"nand.faults.worn_cells.age_at_start=200y"}).find("100y"), std::string::npos);
    EXPECT_EQ(said({"nand.faults.model=worn_cells", "nand.faults.worn_cells.age_at_start=2.5y"}), "accepted");
}

TEST(FaultsByName, RetriesGrowWithTheAgeOfWhatIsRead) {
    // So many wrong bits a year; the decoder corrects up to correctable_bits, and each retry halves what is wrong.
    constexpr int kPerYear = 100;
    for (const int years : {0, 1, 3, 8, 20}) {
        const SsdConfig c = device({"nand.faults.model=worn_cells", "nand.faults.worn_cells.per_kilocycle=0",
                                    "nand.faults.worn_cells.per_year=" + std::to_string(kPerYear),
                                    "nand.faults.worn_cells.age_at_start=" + std::to_string(years) + "y"});
        std::uint64_t retries = 0;
        while ((kPerYear * years >> retries) > c.ecc.correctable_bits) ++retries;
        ASSERT_LE(retries, c.ecc.read_retries);
        const Outcome o = run(c, reads(200));
        EXPECT_EQ(o.retries, 200 * retries) << years;
        EXPECT_EQ(o.errors, 0u) << years;
    }
}

TEST(FaultsByName, WhatIsTooOldIsLostAndWhatIsWrittenAnewIsNot) {
    const SsdConfig c = device({"nand.faults.model=worn_cells", "nand.faults.worn_cells.per_kilocycle=0",
                                "nand.faults.worn_cells.per_year=1000", "nand.faults.worn_cells.age_at_start=60y"});
    ClosedLoop::Spec each = reads(100);
    each.pattern = ClosedLoop::Pattern::sequential;  // one that is lost is not read from the flash again
    const Outcome old = run(c, each);
    EXPECT_EQ(old.errors, 100u);
    EXPECT_EQ(old.retries, 100u * c.ecc.read_retries);
    // On a fresh drive nothing is older than the run, of seconds.
    ClosedLoop::Spec spec;
    spec.write_percent = 50;
    spec.requests = 3000;
    spec.pattern = ClosedLoop::Pattern::sequential;
    const SsdConfig fresh = device({"precondition.state=fresh", "nand.faults.model=worn_cells",
                                    "nand.faults.worn_cells.per_year=65535", "nand.faults.worn_cells.per_kilocycle=0"});
    EXPECT_EQ(run(fresh, spec).errors, 0u);
}

TEST(FaultsByName, RatesStayOneOfThem) {
    const std::vector<std::string> names = FaultModels::instance().names();
    EXPECT_EQ(names, (std::vector<std::string>{"rates", "worn_cells"}));
    const SsdConfig c = device({"nand.faults.read_retry=100%"});
    EXPECT_EQ(run(c, reads(100)).retries, 100u);
}

}  // namespace
}  // namespace ssdtlm
