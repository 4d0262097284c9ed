// SPDX-License-Identifier: Apache-2.0
// What limits the throughput of a run: what raises it when it is doubled. Plain values go in, and plain values come
// out.
//
// 1. A resource that is used all the time (a die, a bus, a core, the link, ...) limits, whatever waits further up. A
//    link that is idle because it lacks credits counts as used: then the credits limit. Flash that only drains the
//    write buffer, while no command waits for room in it, does not count.
// 2. Else a wait that is there most of the time limits, the one nearest to the flash: what is full further up is full
//    because of it.
// 3. Else more load would be served: the offered load limits.
//
// "All the time" means that twice the load would bring less than 2 %. That is computed from the busy shares: they say
// how much of each resource a command needs, and a closed queueing network with these demands says how the throughput
// grows with the number of commands in it (mean value analysis with Schweitzer's approximation; Bard and Schweitzer
// 1979). tb/limits proves the verdict by doing what it says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/limits/verdict.h"
#include "sim/limits/wait_kind.h"
#include "sim/results/run_summary.h"

namespace ssdtlm {

/// A device's parameters as far as verdicts name them.
struct LimitContext {
    Bound queue_entries{{"host.queue_entries"}, {}};  ///< what sets the slots of a queue
    Bound block_depth{{"block.queue_depth"}, {}};     ///< and the depth of the block layer
    std::string buffer_room = "buffer.size";
    std::string fetch_window = "nvme.fetch_window";  ///< how many commands the front end takes
    std::vector<std::string> host_cpu;               ///< parameters that cost its time beside those that always can
    double commands = 0;                             ///< outstanding on average
    bool independent_planes = false;
    bool only_buffered_writes = false;  ///< no command waits for the flash, but for room in the write buffer
    std::string background;  ///< what the dies do beside the host's reads and writes: "34 % is garbage collection, 5 %
                             ///< erases"; empty: nothing worth a word
};

/// Judges a run. `resources` and `waits` are those of the time while the workload had more to give.
LimitVerdict judge_limits(const std::vector<ResourceUse>& resources, const WaitShares& waits,
                          const LimitContext& context);

/// All waits, in the order of WaitKind.
std::vector<WaitUse> wait_uses(const WaitShares& shares, const LimitContext& context);

/// By how much twice the load raises throughput if only the resources limit it, as a share: 0.02 for 2 %. Infinite
/// without resources.
double gain_of_twice_the_load(const std::vector<ResourceUse>& resources);
/// By how much these resources (by index), twice as fast, raise throughput while the number of commands stays.
double gain_of_twice_the_speed(const std::vector<ResourceUse>& resources, const std::vector<std::size_t>& faster);

}  // namespace ssdtlm
