// SPDX-License-Identifier: Apache-2.0
// The clocked schedulers in the whole SSD under random commands of all kinds with garbage collection: nothing is lost,
// the RTL grants as the C++ policy of the same cycles, and every command takes the same time with both.
#include "stress/stress.h"

namespace ssdtlm {
namespace {

TEST(ClockedStress, EveryCompletionIsTheSame) {
    for (const char* policy : {"read_first", "fifo"}) {
        for (const bool independent : {false, true}) {
            for (const std::uint32_t limit : {1u, 64u}) {
                SsdConfig c = stress_device();
                c.scheduler.policy = policy;
                c.scheduler.starvation_limit = limit;
                c.scheduler.multi_plane = limit == 64;
                c.scheduler.clock_hz = limit == 1 ? 200'000'000 : 333'000'000;
                c.scheduler.queue_depth = independent ? 16 : 256;
                c.nand.independent_plane_read = independent;
                RandomMix::Spec m;
                m.requests = 1500;
                std::uint64_t history = 0;
                for (const char* implementation : {"tlm_clocked", "rtl", "compare"}) {
                    c.scheduler.implementation = implementation;
                    c.name = std::string(policy) + (independent ? " independent" : "") + " limit " +
                             std::to_string(limit) + " " + implementation;
                    const StressResult r = stress(c, m);
                    if (history != 0) {
                        EXPECT_EQ(r.history, history) << c.name;
                    }
                    history = r.history;
                }
            }
        }
    }
}

// A die with many planes, a single die, and more dies than the round robin's first word of candidates is likely to see.
TEST(ClockedStress, Shapes) {
    struct Shape {
        std::uint32_t ways, dies, planes;
    };
    for (const Shape s : {Shape{1, 1, 1}, Shape{1, 1, 8}, Shape{4, 4, 1}, Shape{2, 1, 4}}) {
        SsdConfig c = stress_device();
        c.nand.geometry.ways = s.ways;
        c.nand.geometry.dies_per_chip = s.dies;
        c.nand.geometry.planes_per_die = s.planes;
        c.nand.geometry.blocks_per_plane = 16;
        c.ftl.buffer_bytes = 512ull * c.nand.geometry.unit_bytes;
        c.scheduler.implementation = "compare";
        c.name = std::to_string(s.ways) + " x " + std::to_string(s.dies) + " dies of " + std::to_string(s.planes) +
                 " planes";
        fill_up(c);
        RandomMix::Spec m;
        m.requests = 1500;
        run_stress(c, m);
    }
}

}  // namespace
}  // namespace ssdtlm
