// SPDX-License-Identifier: Apache-2.0
// Random mixed traffic with programs and erases that are suspended for reads: everything completes with the right
// contents, every timeline tiles, and after every event nobody waits for nothing.
#include <cstdio>
#include <deque>

#include "flash_traffic.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

/// A policy that nobody vouches for: the contract is checked at each of its grants.
class Unproven final : public SchedulerPort {
public:
    explicit Unproven(std::unique_ptr<SchedulerPort> policy) : policy_(std::move(policy)) {}
    void push(const SchedulerRequest& request) override { policy_->push(request); }
    GrantAnswer grant(const GrantQuery& query, Grant& out) override { return policy_->grant(query, out); }
    std::uint32_t queued(std::uint16_t channel) const override { return policy_->queued(channel); }

private:
    const std::unique_ptr<SchedulerPort> policy_;
};

// In all shapes and with each policy, checked and not.
TEST(SuspendStress, ReadsThatSuspendWhatRuns) {
    struct Case {
        std::unique_ptr<Traffic> traffic;
        SchedulerConfig config;
    };
    std::deque<Case> all;
    for (const std::string& policy : SchedulerPolicies::instance().names())
        for (const bool independent : {false, true})
            for (const std::uint32_t planes : {1u, 4u}) {
                Case& c = all.emplace_back();
                c.config.policy = policy;
                c.config.starvation_limit = 16;
                c.config.suspend = "for_reads";
                const auto n = static_cast<std::uint32_t>(all.size());
                c.config.policies["for_reads"] = {{"least_run", Value{std::int64_t{n % 3 * 40'000'000}}},
                                                  {"least_left", Value{std::int64_t{n % 2 * 100'000'000}}},
                                                  {"longest", Value{std::int64_t{n % 4 * 150'000'000}}},
                                                  {"limit", Value{std::int64_t{1 + n % 5}}}};
                const NandConfig nand = traffic_config(1 + n % 2, planes, independent);
                FlashBench::OwnScheduler own;
                if (n % 3 == 0)
                    own = [&c, shape = scheduler_shape(nand)](Agenda&) {
                        return std::make_unique<Unproven>(make_scheduler_policy(c.config, shape));
                    };
                c.traffic = std::make_unique<Traffic>("s" + std::to_string(n), nand, c.config, 100 + n, own);
            }
    FlashBench::elaborate();
    std::uint64_t suspends = 0;
    for (Case& c : all) {
        SCOPED_TRACE(c.traffic->backend->name());
        c.traffic->run_checked(1'200, 400us);
        c.traffic->run_checked(300, 8ms);  // mostly idle
        c.traffic->check();
        const std::uint64_t of_case =
            c.traffic->backend->channel(0).counters().suspends + c.traffic->backend->channel(1).counters().suspends;
        EXPECT_GT(of_case, 10u);
        suspends += of_case;
    }
    std::printf("%llu suspends of programs and erases in %zu back ends\n", static_cast<unsigned long long>(suspends),
                all.size());
}

}  // namespace
}  // namespace ssdtlm
