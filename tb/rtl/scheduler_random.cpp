// SPDX-License-Identifier: Apache-2.0
// An RTL scheduler on random streams, until it has given a number of grants. Each grant must keep the contract of
// SchedulerPort; and, by --check,
//
//   cycles    (default) be the C++ policy's, after as many cycles
//   grants    be the C++ policy's
//   contract  nothing more
//
// Ends with 1 and the stream's configuration, both answers and both states at the first mistake; and with 1 if a bin of
// the functional coverage was never hit (not with contract).
//
// --coverage any: for a block that is too small for some bins.
//
//   scheduler_random [--grants N] [--seed S] [--module M] [--check cycles|grants|contract] [--coverage all|any]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "adapter/rtl_schedulers.h"
#include "controller/scheduler/clocked/checked_core.h"
#include "controller/scheduler/clocked/compare_core.h"
#include "controller/scheduler/clocked/policy_core.h"
#include "rtl/scheduler_stream.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kSteps = 20'000;  // per stream

struct Options {
    std::uint64_t grants = 200'000;
    std::uint64_t seed = 1;
    std::string module = "transaction_scheduler";
    std::string check = "cycles";
    std::string coverage = "all";
};

std::unique_ptr<SchedulerCore> make_core(const Options& o, const RtlScheduler& block, const SchedulerStream& s) {
    auto rtl = block.make(s.config, s.shape);
    if (o.check == "contract") {
        constexpr std::uint64_t kOvertakes = 1'000;  // far more than a fair order of up to 64 dies and 7 classes needs
        const GrantRules::Limits limits{s.shape.dies_per_channel, s.shape.planes_per_die,
                                        s.shape.independent_plane_read, s.config.multi_plane, kOvertakes};
        return std::make_unique<CheckedCore>(block.name + " (RTL)", std::uint16_t{0}, Clock::hertz(s.config.clock_hz),
                                             limits, std::move(rtl));
    }
    auto port = make_scheduler_policy(s.config, s.shape);
    auto policy = std::make_unique<PolicyCore>(
        std::unique_ptr<QueueScheduler>(static_cast<QueueScheduler*>(port.release())), s.config.queue_depth);
    return std::make_unique<CompareCore>(
        std::uint16_t{0}, CompareCore::Named{s.config.policy + " (C++)", std::move(policy)},
        CompareCore::Named{block.name + " (RTL)", std::move(rtl)}, o.check == "cycles");
}

int run(const Options& o) {
    const RtlScheduler* block = nullptr;
    for (const RtlScheduler& b : rtl_schedulers())
        if (b.name == o.module) block = &b;
    if (block == nullptr) {
        std::fprintf(stderr, "scheduler_random: no module '%s' was built\n", o.module.c_str());
        return 2;
    }
    SchedulerCoverage coverage;
    std::uint64_t grants = 0;
    std::uint64_t streams = 0;
    const auto start = std::chrono::steady_clock::now();
    for (; grants < o.grants; ++streams) {
        SchedulerStream stream(o.seed + streams, block->dies, block->planes, block->depth);
        try {
            grants += stream.run(*make_core(o, *block, stream), kSteps, coverage);
        } catch (const std::exception& e) {
            std::printf("seed %llu, %s, %u dies, %u planes%s, multi-plane %s, starvation limit %u, depth %u\n%s\n",
                        static_cast<unsigned long long>(o.seed + streams), stream.config.policy.c_str(),
                        stream.shape.dies_per_channel, stream.shape.planes_per_die,
                        stream.shape.independent_plane_read ? " read independently" : "",
                        stream.config.multi_plane ? "on" : "off", stream.config.starvation_limit,
                        stream.config.queue_depth, e.what());
            return 1;
        }
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto missed = coverage.missed();
    std::printf("%llu grants in %llu streams without a mistake, %.1f s; %zu of %zu coverage bins hit\n",
                static_cast<unsigned long long>(grants), static_cast<unsigned long long>(streams), seconds,
                coverage.bins() - missed.size(), coverage.bins());
    if (o.check == "contract" || o.coverage == "any") return 0;
    for (const std::string& name : missed) std::printf("never: %s\n", name.c_str());
    return missed.empty() ? 0 : 1;
}

}  // namespace
}  // namespace ssdtlm

int main(int argc, char** argv) {
    ssdtlm::Options o;
    for (int i = 1; i < argc; i += 2) {
        const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
        if (i + 1 < argc && is("--grants")) {
            o.grants = std::strtoull(argv[i + 1], nullptr, 10);
        } else if (i + 1 < argc && is("--seed")) {
            o.seed = std::strtoull(argv[i + 1], nullptr, 10);
        } else if (i + 1 < argc && is("--module")) {
            o.module = argv[i + 1];
        } else if (i + 1 < argc && is("--check")) {
            o.check = argv[i + 1];
        } else if (i + 1 < argc && is("--coverage")) {
            o.coverage = argv[i + 1];
        } else {
            std::fprintf(stderr,
                         "scheduler_random [--grants N] [--seed S] [--module M] [--check cycles|grants|contract] "
                         "[--coverage all|any]\n");
            return 2;
        }
    }
    return ssdtlm::run(o);
}
