// SPDX-License-Identifier: Apache-2.0
// Whose work it is reaches the order on the bus and the scheduler: two tenants that ask for the same, and a policy that
// tells them apart.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <sstream>
#include <string>

#include "sim/ssd_system.h"
#include "support/closed_loop.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

/// Two tenants, reads at random in turn, 32 outstanding; one channel, whose bus limits.
SsdConfig two_tenants() {
    SsdConfig c = grid(1, 8);
    c.host.queue_pairs = 2;
    c.host.tenants = Tenants::by_job;
    return c;
}

struct MeanLatency final : CompletionObserver {
    explicit MeanLatency(Stage s) : stage(s) {}
    const Stage stage;  // count: of all
    std::array<double, 2> sum{}, count{};
    void on_complete(const HostRequest& r, SimTime issued, SimTime, SimTime now, const Timeline& t, bool) override {
        sum[r.job] += static_cast<double>((stage == Stage::count ? now - issued : t.of(stage)).count()) / 1e6;
        ++count[r.job];
    }
};

/// Mean latency of each tenant's reads, or what one stage has of it, in microseconds.
std::array<double, 2> latencies(const SsdConfig& c, Stage stage = Stage::count) {
    const std::string text = in_child([&] {
        ClosedLoop::Spec spec;
        spec.depth = 32;
        spec.requests = 4'000;
        spec.jobs = 2;
        spec.span = c.ftl.user_capacity_bytes / 4096 * 4096;
        ClosedLoop workload(spec);
        MeanLatency seen(stage);
        SsdSystem ssd("ssd", c, workload, &seen);
        ssd.host.driver.start();
        ssd.process.run();
        std::ostringstream out;
        out << seen.sum[0] / seen.count[0] << ' ' << seen.sum[1] / seen.count[1];
        return out.str();
    });
    std::array<double, 2> us{};
    std::istringstream(text) >> us[0] >> us[1];
    return us;
}

void expect_equal_service(const std::array<double, 2>& us) {
    EXPECT_GT(us[0], 100);
    EXPECT_NEAR(us[0], us[1], us[0] * 0.05);
}

TEST(Tenants, AreServedAlikeByPoliciesThatDoNotAsk) {
    expect_equal_service(latencies(two_tenants()));
}

TEST(Tenants, AnOrderOnTheBusPrefersOne) {
    for (const std::int64_t preferred : {1, 2}) {
        SsdConfig c = two_tenants();
        c.scheduler.bus_order = "tenant_first";
        c.scheduler.policies["tenant_first"]["tenant"] = preferred;
        // Only the wait for the bus is the order's: most of a read's time passes behind its die.
        const auto waits = latencies(c, Stage::channel_wait);
        EXPECT_LT(waits[preferred - 1] * 1.1, waits[2 - preferred]) << "tenant " << preferred;
        const auto us = latencies(c);
        EXPECT_LT(us[preferred - 1], us[2 - preferred]) << "tenant " << preferred;
    }
}

TEST(Tenants, APolicyThatRemembersGivesTurns) {
    SsdConfig c = two_tenants();
    c.scheduler.policy = "tenant_turns";
    expect_equal_service(latencies(c));
    c.scheduler.policies["tenant_turns"]["weights"] = std::vector<std::int64_t>{1, 4};
    const auto us = latencies(c);
    EXPECT_LT(us[1] * 1.5, us[0]);
}

TEST(Tenants, TheEarlierDeadlineGoesFirst) {
    SsdConfig c = two_tenants();
    c.scheduler.policy = "earliest_deadline";
    c.host.queue_priorities = {1, 0};
    expect_equal_service(latencies(c));  // nobody has a deadline: in order of arrival
    c.nvme.latency_targets = {100us};
    const auto us = latencies(c);
    EXPECT_LT(us[1] * 1.5, us[0]);
    c.nvme.latency_targets = {100us, 100us};
    expect_equal_service(latencies(c));
}

}  // namespace
}  // namespace ssdtlm
