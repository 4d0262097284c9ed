// SPDX-License-Identifier: Apache-2.0
// One thing changed at a time.
#include "stress.h"

#include "controller/ftl/allocation/plane_order.h"
#include "controller/ftl/victims/victim_policy.h"

namespace ssdtlm {
namespace {

TEST(Stress, AllocationOrders) {
    RandomMix::Spec m;
    m.requests = 1500;
    for (const std::string& order : allocation_orders()) {
        SsdConfig c = stress_device();
        c.name = c.ftl.allocation = order;
        c.nand.geometry.ways = 2;
        c.nand.geometry.blocks_per_plane = 16;
        fill_up(c);
        stress(c, m);
    }
}

TEST(Stress, VictimPolicies) {
    for (const std::string& policy : VictimPolicies::instance().names()) {
        SsdConfig c = stress_device();
        c.name = c.ftl.gc_policy = policy;
        stress(c);
    }
}

// Every other victim is one of wear levelling, as soon as two blocks differ.
TEST(Stress, WearLevelling) {
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
        SsdConfig c = stress_device();
        c.name = "wear";
        c.ftl.superblock = span;
        c.ftl.free_blocks = FreeBlocks::by_wear;
        c.ftl.most_spread = 1;
        c.ftl.levelling_each = 2;
        fill_up(c);
        EXPECT_GT(stress(c).wear_victims, 20u);
    }
}

// A policy that knows only one class order still ends; limits say how far it may go.
TEST(Stress, SchedulersPlanesAndStarvation) {
    for (const char* policy : {"read_first", "fifo"}) {
        for (const bool multi_plane : {false, true}) {
            for (const bool independent : {false, true}) {
                for (const std::uint32_t limit : {0u, 1u, 64u}) {
                    SsdConfig c = stress_device();
                    c.scheduler.policy = policy;
                    c.scheduler.multi_plane = multi_plane;
                    c.scheduler.starvation_limit = limit;
                    c.nand.independent_plane_read = independent;
                    c.name = std::string(policy) + (multi_plane ? " multi-plane" : "") +
                             (independent ? " independent" : "") + " limit " + std::to_string(limit);
                    RandomMix::Spec m;
                    m.requests = 2000;
                    const StressResult r = stress(c, m);
                    EXPECT_EQ(r.multi_plane > 0, multi_plane) << c.name;
                }
            }
        }
    }
}

TEST(Stress, FourPlanes) {
    SsdConfig c = stress_device();
    c.nand.geometry.planes_per_die = 4;
    for (const char* order : {"CWDP", "PDWC", "PCWD"}) {
        c.name = c.ftl.allocation = order;
        fill_up(c);
        stress(c);
    }
}

TEST(Stress, BufferSizesAndModes) {
    for (const BufferMode mode : {BufferMode::write_back, BufferMode::write_through}) {
        for (const std::uint64_t units : {1, 2, 3, 8, 32, 4096}) {
            SsdConfig c = stress_device();
            c.ftl.buffer_mode = mode;
            c.ftl.buffer_bytes = units * 4096;
            c.name =
                std::string(mode == BufferMode::write_back ? "write back " : "write through ") + std::to_string(units);
            RandomMix::Spec m;
            m.requests = 2000;
            stress(c, m);
        }
    }
    for (const std::uint32_t percent : {30u, 100u}) {
        SsdConfig c = stress_device();
        c.ftl.flush_start_percent = percent;
        stress(c);
    }
}

TEST(Stress, QueueDepthsAndPairs) {
    for (const std::uint32_t depth : {1u, 2u, 8u, 64u, 512u}) {
        for (const std::uint32_t jobs : {1u, 3u, 8u}) {
            SsdConfig c = stress_device();
            c.host.queue_entries = depth == 2 ? 2 : 64;  // smaller than the depth: the host waits for room
            c.name = "depth " + std::to_string(depth) + " jobs " + std::to_string(jobs);
            RandomMix::Spec m;
            m.depth = depth;
            m.jobs = jobs;
            m.requests = 2000;
            stress(c, m);
        }
    }
}

TEST(Stress, HostBuffersPagesAndCpuTimes) {
    for (const std::uint32_t offset : {4u, 512u, 4092u}) {
        SsdConfig c = stress_device();
        c.host.buffer_offset = offset;
        c.host.submit_time = Ps{700'000};
        c.host.completion_time = Ps{900'000};
        c.host.interrupt_latency = Ps{1'500'000};
        c.name = "offset " + std::to_string(offset);
        RandomMix::Spec m;
        m.most_bytes = 200'000;
        stress(c, m);
    }
}

TEST(Stress, LogicalBlocksAndUnits) {
    struct Sizes {
        std::uint32_t lba, unit, page;
    };
    for (const Sizes s :
         {Sizes{512, 4096, 4096}, Sizes{512, 16384, 16384}, Sizes{4096, 4096, 16384}, Sizes{512, 4096, 65536},
          Sizes{4096, 16384, 65536}, Sizes{4096, 65536, 65536}, Sizes{512, 512, 8192}}) {
        SsdConfig c = stress_device(s.page, s.unit);
        c.nvme.lba_bytes = s.lba;
        c.name = "LBA " + std::to_string(s.lba) + " unit " + std::to_string(s.unit) + " page " + std::to_string(s.page);
        RandomMix::Spec m;
        m.most_bytes = 4 * s.unit;
        stress(c, m);
    }
}

TEST(Stress, LargeCommandsThroughASmallBuffer) {
    SsdConfig c = stress_device();
    c.ftl.buffer_bytes = 16 * 4096;
    RandomMix::Spec m;
    m.most_bytes = 1u << 20;
    m.requests = 400;
    for (const std::uint32_t mdts : {0u, 1u << 20, 1u << 16, 8192u}) {
        c.nvme.max_transfer_bytes = mdts;
        c.name = "MDTS " + std::to_string(mdts);
        stress(c, m);
    }
}

TEST(Stress, InterruptCoalescing) {
    for (const std::uint32_t threshold : {1u, 7u, 255u}) {
        SsdConfig c = stress_device();
        c.nvme.interrupt_coalescing_threshold = threshold;
        c.nvme.interrupt_coalescing_time = 1;
        c.name = "threshold " + std::to_string(threshold);
        stress(c);
    }
}

TEST(Stress, FetchingAndArbitration) {
    SsdConfig c = stress_device();
    c.nvme.fetch_window = 1;
    c.nvme.fetch_burst = 1;
    c.nvme.fetch_depth = 1;
    c.nvme.arbitration_burst = 0;
    stress(c);
    c.nvme.fetch_window = 512;
    c.nvme.fetch_burst = 64;
    c.nvme.arbitration_burst = 7;
    RandomMix::Spec m;
    m.depth = 512;
    stress(c, m);
}

TEST(Stress, SlowAndManyCores) {
    for (const std::uint32_t cores : {1u, 4u}) {
        SsdConfig c = stress_device();
        c.firmware.cores = cores;
        c.firmware.clock_hz = 20'000'000;
        c.name = "cores " + std::to_string(cores);
        stress(c);
    }
}

TEST(Stress, PartialWritesTrimsAndFlushes) {
    RandomMix::Spec m;
    m.read = 30;
    m.write = 45;
    m.trim = 20;
    m.flush = 5;
    m.fua = 40;
    m.whole = 5;
    m.hot = 90;
    m.requests = 8000;
    for (const InitialState state : {InitialState::fresh, InitialState::sequential, InitialState::random}) {
        SsdConfig c = stress_device();
        c.ftl.initial_state = state;
        c.ftl.flush_start_percent = 20;
        m.hot = state == InitialState::fresh ? 30 : 90;
        stress(c, m);
    }
}

TEST(Stress, SingleInflightGcPageAndThresholds) {
    SsdConfig c = stress_device();
    c.ftl.gc_max_inflight_pages = 1;
    stress(c);
    c.ftl.gc_soft_free_blocks = 3;
    fill_up(c);
    stress(c);
    c.ftl.gc_soft_free_blocks = 16;
    c.ftl.gc_hard_free_blocks = 15;
    fill_up(c);
    stress(c);
}

// Equal results whatever the way of keeping step with the kernel, and from run to run.
TEST(Stress, LockstepAndRunAhead) {
    for (const std::uint64_t seed : {1, 2}) {
        SsdConfig c = stress_device();
        RandomMix::Spec m;
        m.seed = seed;
        m.requests = 3000;
        c.host.submit_time = Ps{seed == 1 ? 0 : 500'000};
        const StressResult ahead = stress(c, m), again = stress(c, m);
        c.run.agenda = AgendaMode::lockstep;
        const StressResult lockstep = stress(c, m);
        EXPECT_EQ(ahead.history, again.history);
        EXPECT_EQ(ahead.history, lockstep.history);
    }
}

}  // namespace
}  // namespace ssdtlm
