// SPDX-License-Identifier: Apache-2.0
#include "sim/app/run_limits.h"

#include <gmock/gmock.h>

#include <deque>

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Reached = LimitedWorkload::Reached;
using State = Workload::State;

SimTime at(std::int64_t ps) {
    return SimTime{Ps{ps}};
}

/// `requests` of them, `depth` at a time, one every `gap`.
class Paced final : public Workload {
public:
    Paced(std::uint64_t requests, std::uint64_t depth, Ps gap, std::uint64_t preparation = 0)
        : requests_(requests), depth_(depth), gap_(gap), preparation_(preparation) {}
    Next next(SimTime now) override {
        Next n;
        if (issued_ == requests_) return n;
        n.state = State::blocked;
        if (issued_ - completed_ == depth_) return n;
        n.state = State::wait;
        n.when = SimTime{} + static_cast<std::int64_t>(issued_) * gap_;
        if (n.when > now) return n;
        n.state = State::ready;
        n.request.preparation = issued_ < preparation_;
        ++issued_;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override { ++completed_; }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(SimTime) const override { return static_cast<double>(issued_) / static_cast<double>(requests_); }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    const std::uint64_t requests_, depth_;
    const Ps gap_;
    const std::uint64_t preparation_;
    std::uint64_t issued_ = 0, completed_ = 0;
};

struct Outcome {
    std::uint64_t issued = 0;
    SimTime end{};
    Reached reached = Reached::none;
};
/// A host that asks when it may, and a device that answers after `latency`.
Outcome drive(Paced inner, LimitedWorkload::Limits limits, Ps latency) {
    LimitedWorkload w(inner, limits);
    Outcome o;
    std::deque<std::pair<SimTime, HostRequest>> due;
    SimTime now{};
    for (;;) {
        const Workload::Next n = w.next(now);
        if (n.state == State::ready) {
            ++o.issued;
            due.emplace_back(now + latency, n.request);
            continue;
        }
        if (due.empty() && n.state != State::wait) break;
        if (n.state == State::wait && (due.empty() || n.when < due.front().first)) {
            now = n.when;
        } else {
            now = due.front().first;
            w.completed(due.front().second, {}, {}, now, true);
            due.pop_front();
        }
    }
    o.end = now;
    o.reached = w.reached();
    return o;
}

TEST(LimitedWorkload, ExactlySoManyRequests) {
    for (const std::uint64_t limit : {1u, 7u, 99u}) {
        const Outcome o = drive({100, 8, 0ns}, {limit, kNever}, 1us);
        EXPECT_EQ(o.issued, limit);
        EXPECT_EQ(o.reached, Reached::requests);
    }
    // It would have ended there anyway.
    for (const std::uint64_t limit : {100u, 101u}) {
        const Outcome o = drive({100, 8, 0ns}, {limit, kNever}, 1us);
        EXPECT_EQ(o.issued, 100u);
        EXPECT_EQ(o.reached, Reached::none);
    }
}

TEST(LimitedWorkload, NothingFromATimeOn) {
    // Every 10 us: 0, 10, 20, 30; what began at 30 completes.
    Outcome o = drive({100, 8, 10us}, {~std::uint64_t{0}, SimTime{35us}}, 7us);
    EXPECT_EQ(o.issued, 4u);
    EXPECT_EQ(o.end, SimTime{37us});
    EXPECT_EQ(o.reached, Reached::time);
    // The limit itself is outside.
    EXPECT_EQ(drive({100, 8, 10us}, {~std::uint64_t{0}, SimTime{30us}}, 7us).issued, 3u);
    // One that waits for an hour is not waited for.
    o = drive({100, 8, 3'600'000'000us}, {~std::uint64_t{0}, SimTime{1'000'000us}}, 7us);
    EXPECT_EQ(o.issued, 1u);
    EXPECT_EQ(o.end, SimTime{1'000'000us});
    // Closed loop: blocked at the limit, asked at the next completion.
    o = drive({100, 2, 0ns}, {~std::uint64_t{0}, SimTime{15us}}, 10us);
    EXPECT_EQ(o.issued, 4u);
    EXPECT_EQ(o.end, SimTime{20us});
    EXPECT_EQ(drive({4, 2, 0ns}, {~std::uint64_t{0}, SimTime{15us}}, 10us).reached, Reached::none);
}

TEST(LimitedWorkload, PreparationCountsForNothing) {
    // 20 requests, two at a time, lay out files until 100 us.
    EXPECT_EQ(drive({100, 2, 0ns, 20}, {7, kNever}, 10us).issued, 27u);
    const Outcome o = drive({100, 2, 0ns, 20}, {~std::uint64_t{0}, SimTime{15us}}, 10us);
    EXPECT_EQ(o.issued, 24u);
    EXPECT_EQ(o.end, SimTime{120us});
    EXPECT_EQ(o.reached, Reached::time);
    EXPECT_EQ(drive({100, 2, 0ns, 20}, {80, SimTime{1'000us}}, 10us).reached, Reached::none);
}

TEST(LimitedWorkload, ProgressIsOfWhateverComesFirst) {
    Paced inner(100, 100, 0ns);
    LimitedWorkload w(inner, {50, SimTime{1us}});
    for (int i = 0; i < 10; ++i) w.next(SimTime{});
    EXPECT_DOUBLE_EQ(w.progress(SimTime{}), 0.2);
    EXPECT_DOUBLE_EQ(w.progress(at(750'000)), 0.75);
}

TEST(RunLimits, Texts) {
    std::vector<Problem> problems;
    const auto parsed = [&](const char* time, const char* commands) {
        return parse_run_limits({time, commands}, problems);
    };
    EXPECT_FALSE(parsed("", "").any());
    EXPECT_EQ(parsed("2s", "").until, SimTime{Ps{2'000'000'000'000}});
    EXPECT_EQ(parsed("", "1").requests, 1u);
    EXPECT_EQ(parsed("", "10k").requests, 10'000u);
    EXPECT_EQ(parsed("", "2Ki").requests, 2'048u);
    EXPECT_EQ(parsed("1ms", "3M").requests, 3'000'000u);
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(ended_by(Reached::time, {"2s", "10k"}), "--stop-after-time 2s");
    EXPECT_EQ(ended_by(Reached::requests, {"2s", "10k"}), "--stop-after-commands 10k");
    EXPECT_EQ(ended_by(Reached::none, {"2s", "10k"}), "workload");
    for (const char* text : {"0", "-1", "x", "1x", "1 k", "99999999999999999999", "18446744073709551615k"}) {
        problems.clear();
        parsed("", text);
        ASSERT_EQ(problems.size(), 1u) << text;
        EXPECT_THAT(problems[0].text(), HasSubstr(std::string("--stop-after-commands '") + text + "' is no count"));
    }
    for (const char* text : {"0s", "2", "2sec", "-1s"}) {
        problems.clear();
        parsed(text, "");
        ASSERT_EQ(problems.size(), 1u) << text;
        EXPECT_THAT(problems[0].text(), HasSubstr(std::string("--stop-after-time '") + text + "'"));
    }
}

}  // namespace
}  // namespace ssdtlm
