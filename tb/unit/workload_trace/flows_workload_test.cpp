// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/flows_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

using State = Workload::State;

/// Says what it is told to, and remembers what it is told.
class Scripted final : public Workload {
public:
    explicit Scripted(std::uint32_t jobs) : jobs_(jobs) {}
    Next next(SimTime) override {
        ++asked;
        return answer;
    }
    void completed(const HostRequest& request, SimTime, SimTime, SimTime, bool) override { ended.push_back(request); }
    std::uint32_t jobs() const override { return jobs_; }
    std::uint32_t tenant(std::uint32_t job) const override { return job; }
    std::uint32_t depth(std::uint32_t job) const override { return 10 + job; }
    double progress(SimTime) const override { return share; }
    bool measuring(const HostRequest& r, SimTime) const override { return r.job == 0; }

    Next answer;
    int asked = 0;
    double share = 0;
    std::vector<HostRequest> ended;

private:
    std::uint32_t jobs_;
};

Workload::Next ready(std::uint32_t job, std::uint64_t offset) {
    Workload::Next n;
    n.state = State::ready;
    n.request.job = job;
    n.request.offset = offset;
    return n;
}
Workload::Next state(State s, SimTime when = {}) {
    Workload::Next n;
    n.state = s;
    n.when = when;
    return n;
}

struct Flows : ::testing::Test {
    explicit Flows(std::optional<std::uint32_t> only = std::nullopt)
        : own{new Scripted(2), new Scripted(1), new Scripted(3)}, flows(parts(), only) {}
    std::vector<FlowsWorkload::Flow> parts() {
        std::vector<FlowsWorkload::Flow> all;
        for (std::uint64_t i = 0; i < 3; ++i) all.push_back({std::unique_ptr<Workload>(own[i]), i * 1000});
        return all;
    }
    Scripted* own[3];
    FlowsWorkload flows;
    const SimTime at = SimTime{1us};
};

TEST_F(Flows, JobsAreNumberedThrough) {
    EXPECT_EQ(flows.jobs(), 6u);
    const std::uint32_t depths[] = {10, 11, 10, 10, 11, 12}, tenants[] = {0, 0, 1, 2, 2, 2};
    for (std::uint32_t job = 0; job < 6; ++job) {
        EXPECT_EQ(flows.depth(job), depths[job]);
        EXPECT_EQ(flows.tenant(job), tenants[job]);
    }
}

TEST_F(Flows, TakeTurnsAndHaveTheirRegions) {
    own[0]->answer = ready(1, 7);
    own[1]->answer = ready(0, 8);
    own[2]->answer = ready(2, 9);
    const std::uint32_t jobs[] = {1, 2, 5};
    const std::uint64_t offsets[] = {7, 1008, 2009};
    for (int n = 0; n < 9; ++n) {
        const auto next = flows.next(at);
        ASSERT_EQ(next.state, State::ready);
        EXPECT_EQ(next.request.job, jobs[n % 3]);
        EXPECT_EQ(next.request.offset, offsets[n % 3]);
        EXPECT_EQ(flows.measuring(next.request, at), n % 3 == 1);  // job 0 of its own
        flows.completed(next.request, at, at, at, true);
        EXPECT_EQ(own[n % 3]->ended.back().offset, 7u + n % 3);
        EXPECT_EQ(own[n % 3]->ended.back().job, own[n % 3]->answer.request.job);
    }
}

// Who waits for a completion or for a time is not asked meanwhile.
TEST_F(Flows, WaitForTheNearestAndForCompletions) {
    own[0]->answer = state(State::blocked);
    own[1]->answer = state(State::wait, SimTime{9us});
    own[2]->answer = state(State::wait, SimTime{5us});
    for (int n = 0; n < 3; ++n) {
        const auto next = flows.next(at);
        EXPECT_EQ(next.state, State::wait);
        EXPECT_EQ(next.when, SimTime{5us});
    }
    EXPECT_EQ(own[0]->asked + own[1]->asked + own[2]->asked, 3);
    own[2]->answer = state(State::done);
    EXPECT_EQ(flows.next(SimTime{5us}).when, SimTime{9us});
    EXPECT_EQ(own[1]->asked, 1);
    own[1]->answer = state(State::done);
    EXPECT_EQ(flows.next(SimTime{9us}).state, State::blocked);
    HostRequest request;
    flows.completed(request, at, at, at, true);
    own[0]->answer = state(State::done);
    EXPECT_EQ(flows.next(SimTime{9us}).state, State::done);
    EXPECT_EQ(own[0]->asked, 2);
}

struct OnlyOne : Flows {
    OnlyOne() : Flows(1) {}
};
TEST_F(OnlyOne, TheOthersAreThereAndSilent) {
    own[0]->answer = ready(0, 0);
    own[1]->answer = ready(0, 0);
    own[2]->answer = ready(0, 0);
    own[1]->share = 0.25;
    EXPECT_EQ(flows.jobs(), 6u);
    EXPECT_DOUBLE_EQ(flows.progress(at), 0.25);
    EXPECT_EQ(flows.next(at).request.job, 2u);
    own[1]->answer = state(State::done);
    EXPECT_EQ(flows.next(at).state, State::done);
    EXPECT_EQ(own[0]->asked + own[2]->asked, 0);
}

}  // namespace
}  // namespace ssdtlm
