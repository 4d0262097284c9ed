// SPDX-License-Identifier: Apache-2.0
// Finds what limits the throughput of a run, which is what raises the throughput when it is doubled. Input and output
// are plain values.
//
// 1. A resource (a die, a bus, a core, the link, ...) that is used all the time limits, whatever waits in front of it.
//    A link that is idle because it lacks credits counts as used; then the credits limit. Flash that only drains the
//    write buffer does not count while no command waits for room in the buffer.
// 2. Else a wait that lasts most of the time limits. If there are several, it is the one nearest to the flash, because
//    it causes the others.
// 3. Else the offered load limits, because the drive would serve more.
//
// "All the time" means that twice the load would bring less than 2 %. The busy shares tell how much of each resource a
// command needs. A closed queueing network with these demands tells how the throughput grows with the number of
// commands (mean value analysis with Schweitzer's approximation; Bard and Schweitzer 1979). tb/limits checks verdicts
// by doing what they say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/limits/verdict.h"
#include "sim/limits/wait_kind.h"
#include "sim/results/run_summary.h"

namespace ssdtlm {

/// The facts about a device and a run that verdicts name.
struct LimitContext {
    Bound queue_entries{{"host.queue_entries"}, {}};  ///< the bound of the slots of a queue
    Bound block_depth{{"block.queue_depth"}, {}};     ///< the bound of the commands below the block layer
    std::string buffer_room = "buffer.size";
    std::string fetch_window = "nvme.fetch_window";  ///< parameter of the commands that the front end takes
    std::vector<std::string> host_cpu;               ///< further parameters that cost time of the host CPU
    double commands = 0;                             ///< mean number of outstanding commands
    bool independent_planes = false;    ///< most of the flash's work are reads, for which each plane goes by itself
    bool only_buffered_writes = false;  ///< no command waits for the flash, but for room in the write buffer
    std::string background;  ///< other work of the dies: "34 % is garbage collection, 5 % erases"; empty: less than 1 %
};

/// Judges a run. `resources` and `waits`: shares of the time in which the workload had more requests.
LimitVerdict judge_limits(const std::vector<ResourceUse>& resources, const WaitShares& waits,
                          const LimitContext& context);

/// All waits, in the order of WaitKind.
std::vector<WaitUse> wait_uses(const WaitShares& shares, const LimitContext& context);

/// The gain of throughput by twice the load if only the resources limit it, as a share: 0.02 for 2 %. It is infinite
/// without resources.
double gain_of_twice_the_load(const std::vector<ResourceUse>& resources);
/// The gain of throughput if the resources `faster` (by index) are twice as fast, with the same number of commands.
double gain_of_twice_the_speed(const std::vector<ResourceUse>& resources, const std::vector<std::size_t>& faster);

}  // namespace ssdtlm
