// SPDX-License-Identifier: Apache-2.0
// The RTL scheduler against the C++ policy on random streams, cycle for cycle, until a number of grants were equal. Ends
// with 1 and both answers and states at the first difference, and with 1 if a bin of the coverage was never hit.
//
//   scheduler_random [GRANTS] [FIRST_SEED]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "adapter/rtl_schedulers.h"
#include "controller/scheduler/clocked/compare_core.h"
#include "controller/scheduler/clocked/policy_core.h"
#include "rtl/scheduler_stream.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kSteps = 20'000;  // per stream

std::unique_ptr<SchedulerCore> policy_core(const SchedulerStream& s) {
    auto port = make_scheduler_policy(s.config, s.shape);
    return std::make_unique<PolicyCore>(
        std::unique_ptr<ClassQueueScheduler>(static_cast<ClassQueueScheduler*>(port.release())), s.config.queue_depth);
}

int run(std::uint64_t wanted, std::uint64_t seed) {
    const RtlScheduler& block = rtl_schedulers().front();
    SchedulerCoverage coverage;
    std::uint64_t grants = 0;
    std::uint64_t streams = 0;
    const auto start = std::chrono::steady_clock::now();
    for (; grants < wanted; ++streams) {
        const std::uint64_t this_seed = seed + streams;
        SchedulerStream stream(this_seed, block.dies, block.planes, block.depth);
        CompareCore both(0, {stream.config.policy + " (C++)", policy_core(stream)},
                         {block.name + " (RTL)", block.make(stream.config, stream.shape)}, true);
        try {
            grants += stream.run(both, kSteps, coverage);
        } catch (const std::exception& e) {
            std::printf("seed %llu, %s, %u dies, %u planes%s, multi-plane %s, starvation limit %u, depth %u\n%s\n",
                        static_cast<unsigned long long>(this_seed), stream.config.policy.c_str(), stream.shape.dies_per_channel,
                        stream.shape.planes_per_die, stream.shape.independent_plane_read ? " read independently" : "",
                        stream.config.multi_plane ? "on" : "off", stream.config.starvation_limit, stream.config.queue_depth,
                        e.what());
            return 1;
        }
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto missed = coverage.missed();
    std::printf("%llu grants in %llu streams without a difference, %.1f s; %zu of %zu coverage bins hit\n",
                static_cast<unsigned long long>(grants), static_cast<unsigned long long>(streams), seconds,
                coverage.bins() - missed.size(), coverage.bins());
    for (const std::string& name : missed) std::printf("never: %s\n", name.c_str());
    return missed.empty() ? 0 : 1;
}

}  // namespace
}  // namespace ssdtlm

int main(int argc, char** argv) {
    const std::uint64_t grants = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    return ssdtlm::run(grants, seed);
}
