// SPDX-License-Identifier: Apache-2.0
// One stressed run of the whole SSD in a child process, with everything checked that can be checked.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/ftl/ftl_check.h"
#include "random_mix.h"
#include "sim/simulation.h"
#include "support/devices.h"
#include "support/forked.h"
#include "support/seeds.h"

namespace ssdtlm {

/// Sets the geometry's consequence: all the capacity that GC can serve.
inline void fill_up(SsdConfig& c) {
    c.ftl.user_capacity_bytes = most_logical_units(c.ftl, c.nand.geometry) * c.nand.geometry.unit_bytes;
}

/// 2 channels x 1 chip x 2 dies x 2 planes of 24 blocks of 16 pages; short flash times, so that everything overlaps.
inline SsdConfig stress_device(std::uint32_t page_bytes = 8192, std::uint32_t unit_bytes = 4096) {
    SsdConfig c = table3_small();
    c.name = "stress";
    NandGeometry& g = c.nand.geometry;
    g.channels = 2;
    g.ways = 1;
    g.dies_per_chip = 2;
    g.planes_per_die = 2;
    g.blocks_per_plane = 24;
    g.pages_per_block = 16;
    g.page_bytes = page_bytes;
    g.spare_bytes = page_bytes / 18;
    g.unit_bytes = unit_bytes;
    c.nand.t_read = {Ps{40'000'000}, Ps{60'000'000}};
    c.nand.t_program = {Ps{200'000'000}, Ps{500'000'000}};
    c.nand.t_erase = Ps{1'000'000'000};
    c.ftl.gc_soft_free_blocks = 4;
    c.ftl.gc_hard_free_blocks = 2;
    c.ftl.buffer_bytes = 128ull * unit_bytes;
    fill_up(c);
    return c;
}

struct StressResult {
    std::uint64_t commands = 0;
    std::uint64_t erases = 0;
    std::uint64_t blocks_checked = 0;
    std::uint64_t multi_plane = 0;
    std::uint64_t wear_victims = 0;
    std::uint64_t history = 0;  ///< hash of every completion: what, when, how long in which stage
};

/// Hash of all completions, and the stage sums.
class History final : public CompletionObserver {
public:
    void on_complete(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, const Timeline& t,
                     bool) override {
        if ((now - issued) != t.sum() || (submitted - issued) != t.of(Stage::host_queue))
            throw CheckFailed("stages do not sum");
        mix(r.tag);
        mix(static_cast<std::uint64_t>(issued.time_since_epoch().count()));
        mix(static_cast<std::uint64_t>(now.time_since_epoch().count()));
        for (std::size_t s = 0; s < kStageCount; ++s) {
            if (t.of(static_cast<Stage>(s)) < Ps{}) throw CheckFailed("negative stage");
            mix(static_cast<std::uint64_t>(t.of(static_cast<Stage>(s)).count()));
        }
        ++commands;
    }
    std::uint64_t hash = 0, commands = 0;

private:
    void mix(std::uint64_t v) { hash = (hash ^ v) * 0x9E3779B97F4A7C15u + (hash >> 29); }
};

inline StressResult run_stress(SsdConfig config, RandomMix::Spec mix) {
    mix.seed += seed_offset();
    config.run.seed = mix.seed;
    config.run.check_waiters = true;
    config.host.queue_pairs = std::min(config.host.queue_pairs, mix.jobs);
    const auto j = nlohmann::json::parse(in_child([&] {
        const NandGeometry& g = config.nand.geometry;
        RandomMix workload(mix, logical_units_of(config.ftl, g) * g.unit_bytes, config.nvme.lba_bytes, g.unit_bytes);
        History history;
        Simulation::Options options;
        options.workload_name = "stress";
        options.observer = &history;
        Simulation simulation(config, workload, options);
        try {
            const RunSummary r = simulation.run();
            for (const BookLine& b : r.books)
                if (!b.balances())
                    throw CheckFailed("books: " + b.name + ": " + std::to_string(b.left) + " against " +
                                      std::to_string(b.right));
            const SsdSystem& s = simulation.system();
            const SsdController& c = s.device.controller;
            c.ftl->verify_books();
            if (!c.backend.idle()) throw CheckFailed("back end not idle");
            if (r.error_status != s.host.driver.counters().media_errors() ||
                (r.error_status != 0 && !config.faults.any()))
                throw CheckFailed("commands failed: " + s.host.driver.first_error());
            if (s.oracle && s.oracle->unverified() != 0) throw CheckFailed("reads not verified");
            std::uint64_t multi_plane = 0;
            for (std::uint32_t ch = 0; ch < g.channels; ++ch)
                multi_plane += c.backend.channel(ch).counters().multi_plane;
            return nlohmann::json{{"commands", history.commands},       {"erases", c.ftl->counters().blocks_erased},
                                  {"checked", r.integrity_checked},     {"multi_plane", multi_plane},
                                  {"wear_victims", r.ftl.wear_victims}, {"history", history.hash}}
                .dump();
        } catch (const std::exception& e) {
            throw std::runtime_error(std::string(e.what()) + "\n" + simulation.state_dump());
        }
    }));
    StressResult r;
    r.commands = j["commands"];
    r.erases = j["erases"];
    r.blocks_checked = j["checked"];
    r.multi_plane = j["multi_plane"];
    r.wear_victims = j["wear_victims"];
    r.history = j["history"];
    return r;
}

/// The same as a test: nothing fails, everything completes, garbage was collected.
inline StressResult stress(const SsdConfig& config, const RandomMix::Spec& mix = {}) {
    StressResult r;
    try {
        r = run_stress(config, mix);
    } catch (const std::exception& e) {
        ADD_FAILURE() << config.name << ": " << e.what();
        return r;
    }
    // A drive that has no volatile write cache gets no Flush, so those requests of the mix become no command.
    if (config.ftl.buffer_mode == BufferMode::write_back) {
        EXPECT_EQ(r.commands, mix.requests) << config.name;
    } else {
        EXPECT_LE(r.commands, mix.requests) << config.name;
        EXPECT_GT(r.commands * 10, mix.requests * 9) << config.name;
    }
    EXPECT_GT(r.erases, 0u) << config.name;
    EXPECT_TRUE(!config.run.integrity || r.blocks_checked > 0) << config.name;
    return r;
}

}  // namespace ssdtlm
