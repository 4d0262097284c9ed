// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/queue_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/random/random.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace {

struct Jobs : Workload {
    std::vector<std::uint32_t> tenants;
    Next next(SimTime) override { return {}; }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override {}
    std::uint32_t jobs() const override { return static_cast<std::uint32_t>(tenants.size()); }
    std::uint32_t tenant(std::uint32_t job) const override { return tenants[job]; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }
};

TEST(QueuePlan, WithoutTenantsJobsTakeTurnsAndTheDriveIsToldNothing) {
    HostConfig config;
    Jobs jobs;
    jobs.tenants = {0, 1, 2, 3, 4};
    QueuePlan plan(config, jobs);
    plan.deal(3);
    for (std::uint32_t job = 0; job < 5; ++job) EXPECT_EQ(plan.pair_of(job), job % 3);
    for (std::uint32_t pair = 0; pair < 3; ++pair) {
        EXPECT_EQ(plan.tenant_of(pair), 0);
        EXPECT_EQ(plan.priority_of(pair), 0);
    }
}

TEST(QueuePlan, APriorityWithoutTenantsIsThatOfAllQueues) {
    HostConfig config;
    config.queue_priorities = {2};
    Jobs jobs;
    jobs.tenants = {0};
    QueuePlan plan(config, jobs);
    plan.deal(2);
    EXPECT_EQ(plan.priority_of(0), 2);
    EXPECT_EQ(plan.priority_of(1), 2);
}

/// No pair serves two tenants; those of a tenant are as many as any other's or one more, and its jobs spread evenly
/// over them.
TEST(QueuePlan, EachTenantHasItsOwnPairs) {
    Random random(11);
    for (int round = 0; round < 500; ++round) {
        HostConfig config;
        config.tenants = Tenants::by_job;
        config.queue_priorities = {3, 1};
        const auto tenants = static_cast<std::uint32_t>(1 + random.below(6));
        const auto pairs = static_cast<std::uint32_t>(tenants + random.below(10));
        Jobs jobs;
        for (std::uint32_t t = 0; t < tenants; ++t)
            for (std::uint64_t n = 1 + random.below(9); n != 0; --n) jobs.tenants.push_back(t);
        QueuePlan plan(config, jobs);
        plan.deal(pairs);
        ASSERT_EQ(plan.tenants(), tenants);
        std::map<std::uint32_t, std::set<std::uint32_t>> pairs_of;
        for (std::uint32_t p = 0; p < pairs; ++p) pairs_of[plan.tenant_of(p)].insert(p);
        for (std::uint32_t t = 0; t < tenants; ++t) {
            const auto own = static_cast<std::uint32_t>(pairs_of[t + 1].size());
            ASSERT_TRUE(own == pairs / tenants || own == pairs / tenants + 1);
            for (const std::uint32_t p : pairs_of[t + 1]) ASSERT_EQ(plan.priority_of(p), t == 0 ? 3 : t == 1 ? 1 : 0);
        }
        std::map<std::uint32_t, std::uint32_t> load;
        for (std::uint32_t job = 0; job < jobs.jobs(); ++job) {
            ASSERT_EQ(plan.tenant_of(plan.pair_of(job)), jobs.tenants[job] + 1);
            ++load[plan.pair_of(job)];
        }
        for (std::uint32_t t = 0; t < tenants; ++t) {
            std::uint32_t least = ~0u, most = 0;
            for (const std::uint32_t p : pairs_of[t + 1]) {
                least = std::min(least, load[p]);
                most = std::max(most, load[p]);
            }
            ASSERT_LE(most - least, 1u);
        }
    }
}

TEST(QueuePlan, MoreTenantsThanPairsAreRefused) {
    HostConfig config;
    config.tenants = Tenants::by_job;
    Jobs jobs;
    jobs.tenants = {0, 1, 2};
    QueuePlan plan(config, jobs);
    try {
        plan.deal(2);
        FAIL();
    } catch (const UserError& e) {
        EXPECT_THAT(e.what(), ::testing::AllOf(::testing::HasSubstr("host.tenants"),
                                               ::testing::HasSubstr("3 tenants share 2 queue pairs"),
                                               ::testing::HasSubstr("raise host.queue_pairs")));
    }
}

}  // namespace
}  // namespace ssdtlm
