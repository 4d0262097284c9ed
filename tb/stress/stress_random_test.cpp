// SPDX-License-Identifier: Apache-2.0
// Configurations and workloads drawn at random: the combinations that nobody thought of.
#include "controller/ftl/allocation/plane_order.h"
#include "controller/ftl/victims/victim_policy.h"
#include "stress.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

template <class T>
T one_of(Random& r, std::initializer_list<T> all) {
    return all.begin()[r.below(all.size())];
}

SsdConfig random_device(Random& r) {
    const auto unit = one_of<std::uint32_t>(r, {4096, 4096, 8192, 16384});
    SsdConfig c = stress_device(unit * one_of<std::uint32_t>(r, {1, 1, 2, 4}), unit);
    NandGeometry& g = c.nand.geometry;
    g.channels = one_of<std::uint32_t>(r, {1, 2, 3});
    g.ways = one_of<std::uint32_t>(r, {1, 2});
    g.dies_per_chip = one_of<std::uint32_t>(r, {1, 2, 3});
    g.planes_per_die = one_of<std::uint32_t>(r, {1, 2, 4});
    g.blocks_per_plane = 12 + static_cast<std::uint32_t>(r.below(20));
    g.pages_per_block = 4 + static_cast<std::uint32_t>(r.below(40));
    c.nand.geometry.bits_per_cell = one_of<std::uint32_t>(r, {1, 2, 3});
    c.nand.t_read = {Ps{50'000'000}};
    c.nand.t_program = {Ps{300'000'000}};
    c.nand.independent_plane_read = r.percent(50);
    c.scheduler.policy = one_of<const char*>(r, {"read_first", "fifo"});
    c.scheduler.multi_plane = r.percent(50);
    c.scheduler.starvation_limit = one_of<std::uint32_t>(r, {0, 1, 2, 64});
    c.ftl.allocation = allocation_orders()[r.below(24)];
    c.ftl.gc_policy = VictimPolicies::instance().names()[r.below(VictimPolicies::instance().names().size())];
    c.ftl.gc_hard_free_blocks = 2 + static_cast<std::uint32_t>(r.below(2));
    c.ftl.gc_soft_free_blocks = c.ftl.gc_hard_free_blocks + 1 + static_cast<std::uint32_t>(r.below(3));
    c.ftl.gc_max_inflight_pages = one_of<std::uint32_t>(r, {1, 2, 8});
    c.ftl.buffer_bytes = unit * one_of<std::uint64_t>(r, {1, 2, 5, 16, 100, 2000});
    c.ftl.buffer_mode = one_of(r, {BufferMode::write_back, BufferMode::write_back, BufferMode::write_through});
    c.ftl.flush_start_percent = one_of<std::uint32_t>(r, {0, 0, 50, 100});
    c.ftl.flush_depth_per_die = one_of<std::uint32_t>(r, {1, 4, 16});
    c.ftl.initial_state = one_of(r, {InitialState::fresh, InitialState::sequential, InitialState::random});
    if (c.ftl.initial_state == InitialState::random && (c.ftl.gc_policy == "greedy" || c.ftl.gc_policy == "fifo"))
        c.ftl.initial_state = InitialState::analytic;
    c.ftl.superblock = one_of(r, {SuperblockSpan::plane, SuperblockSpan::die});
    c.ftl.fill = one_of(r, {1.0, 0.7});
    c.ftl.free_blocks = one_of(r, {FreeBlocks::in_turn, FreeBlocks::by_wear});
    c.ftl.most_spread = one_of<std::uint32_t>(r, {0, 0, 1, 10});
    c.ftl.levelling_each = one_of<std::uint32_t>(r, {1, 2, 8});
    fill_up(c);
    c.firmware.cores = one_of<std::uint32_t>(r, {1, 2, 5});
    c.firmware.clock_hz = one_of<std::uint64_t>(r, {20'000'000, 500'000'000});
    if (r.percent(20)) {
        c.firmware.read_command = c.firmware.write_command = c.firmware.other_command = c.firmware.map_lookup =
            c.firmware.map_update = c.firmware.buffer_insert = c.firmware.flash_issue = c.firmware.flash_complete =
                c.firmware.gc_victim = 0;
    }
    c.nvme.lba_bytes = one_of<std::uint32_t>(r, {512, 4096});
    c.nvme.fetch_window = one_of<std::uint32_t>(r, {1, 16, 512});
    c.nvme.fetch_burst = one_of<std::uint32_t>(r, {1, 8, 64});
    c.nvme.max_transfer_bytes = one_of<std::uint32_t>(r, {8192, 1u << 17, 1u << 20});
    if (r.percent(30)) {
        c.nvme.interrupt_coalescing_threshold = static_cast<std::uint32_t>(r.below(30));
        c.nvme.interrupt_coalescing_time = 1;
    }
    c.host.queue_pairs = one_of<std::uint32_t>(r, {1, 2, 8});
    c.host.queue_entries = one_of<std::uint32_t>(r, {2, 33, 1024});
    c.host.buffer_offset = 4 * static_cast<std::uint32_t>(r.below(1024));
    if (r.percent(30)) {
        c.host.submit_time = Ps{600'000};
        c.host.completion_time = Ps{800'000};
    }
    return c;
}

RandomMix::Spec random_mix(Random& r, const SsdConfig& c) {
    RandomMix::Spec m;
    m.read = 20 + static_cast<unsigned>(r.below(40));
    m.trim = static_cast<unsigned>(r.below(20));
    m.flush = static_cast<unsigned>(r.below(5));
    m.write = 100 - m.read - m.trim - m.flush;
    m.fua = one_of(r, {0u, 10u, 60u});
    m.whole = one_of(r, {0u, 50u, 100u});
    m.hot = one_of(r, {0u, 30u, 90u});
    m.depth = one_of<std::uint32_t>(r, {1, 4, 32, 300});
    m.jobs = one_of<std::uint32_t>(r, {1, 2, 5});
    m.most_bytes = c.nand.geometry.unit_bytes * one_of<std::uint32_t>(r, {1, 4, 20});
    m.requests = 1500;
    m.seed = r.next();
    return m;
}

TEST(StressRandom, Configurations) {
    const std::uint64_t first = seed_offset();
    std::uint64_t erases = 0;
    for (std::uint64_t seed = first; seed < first + share_of(300); ++seed) {
        Random r(seed, 33);
        SsdConfig c = random_device(r);
        c.name = "configuration " + std::to_string(seed);
        const RandomMix::Spec m = random_mix(r, c);
        try {
            const StressResult result = run_stress(c, m);
            EXPECT_EQ(result.commands, m.requests) << c.name;
            erases += result.erases;
        } catch (const std::exception& e) {
            ADD_FAILURE() << c.name << ": " << e.what();
        }
    }
    EXPECT_GT(erases, 5000u);
}

}  // namespace
}  // namespace ssdtlm
