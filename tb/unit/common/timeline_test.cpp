// SPDX-License-Identifier: Apache-2.0
// Timelines against plain lists of what was charged: sums by stage for any length, order for the first steps.
#include "common/latency/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace ssdtlm {
namespace {

/// What a timeline should say.
struct Reference {
    struct Step {
        int stage;  // -1: an operation
        std::int64_t ps;
        FlashOperation operation;
    };
    std::vector<Step> steps;
    std::map<Stage, std::int64_t> sums;
    std::int64_t total = 0;
    bool long_one = false;  // a duration that fits in no step

    void charge(Stage s, std::int64_t ps) {
        if (ps == 0) return;
        steps.push_back({static_cast<int>(s), ps, {}});
        sums[s] += ps;
        total += ps;
        long_one |= ps >= std::int64_t{1} << 59;
    }
};

void expect_equal(const Timeline& t, const Reference& r, SimTime start) {
    EXPECT_EQ(t.start(), start);
    EXPECT_EQ(t.last(), start + Ps{r.total});
    EXPECT_EQ(t.sum(), Ps{r.total});
    std::map<Stage, std::int64_t> sums;
    int before = -1;
    t.for_each([&](Stage s, std::int64_t ps) {
        EXPECT_GT(static_cast<int>(s), before) << "in the order of the stages";
        before = static_cast<int>(s);
        sums[s] = ps;
    });
    EXPECT_EQ(sums, r.sums);
    for (std::size_t s = 0; s < kStageCount; ++s) {
        const auto found = r.sums.find(static_cast<Stage>(s));
        EXPECT_EQ(t.of(static_cast<Stage>(s)), Ps{found == r.sums.end() ? 0 : found->second});
    }
    std::size_t at = 0;
    SimTime from = start;
    const SimTime known = t.for_each_step(
        [&](Stage s, SimTime a, SimTime b) {
            ASSERT_LT(at, r.steps.size());
            EXPECT_EQ(r.steps[at].stage, static_cast<int>(s));
            EXPECT_EQ(a, from);
            EXPECT_EQ(b - a, Ps{r.steps[at++].ps});
            from = b;
        },
        [&](const FlashOperation& op) {
            ASSERT_LT(at, r.steps.size());
            EXPECT_EQ(r.steps[at].stage, -1);
            EXPECT_EQ(r.steps[at].operation.number, op.number);
            EXPECT_EQ(r.steps[at].operation.plane, op.plane);
            EXPECT_EQ(r.steps[at++].operation.whole_die, op.whole_die);
        });
    EXPECT_EQ(known, from);
    const std::size_t kept = std::min<std::size_t>(r.steps.size(), Timeline::kSteps);
    EXPECT_TRUE(at == kept || r.long_one) << at << " steps of " << r.steps.size();
}

TEST(Timeline, RandomAgainstLists) {
    std::mt19937_64 random(1);
    const auto below = [&random](std::uint64_t n) { return random() % n; };
    std::size_t lost = 0, preceded = 0;
    Timeline t, part;  // used again and again, as in the model
    for (int round = 0; round < 20000; ++round) {
        const SimTime start{Ps{static_cast<std::int64_t>(below(1u << 30))}};
        Reference r;
        t.begin(start);
        const auto fill = [&](Timeline& line, Reference& of, std::uint64_t most) {
            for (std::uint64_t n = below(most); n != 0; --n) {
                if (below(6) == 0) {
                    const FlashOperation op{below(std::uint64_t{1} << 38), static_cast<std::uint32_t>(below(1u << 20)),
                                            below(2) != 0};
                    line.begins(op);
                    of.steps.push_back({-1, 0, op});
                } else {
                    const auto s = static_cast<Stage>(below(kStageCount));
                    const auto ps = static_cast<std::int64_t>(below(500) == 0 ? std::uint64_t{1} << 59
                                                                              : below(3) * below(1u << 20));
                    line.charge(s, line.last() + Ps{ps});
                    of.charge(s, ps);
                }
            }
        };
        fill(t, r, 1 + below(50));
        if (below(2) == 0) {
            part.begin(t.last());
            Reference p;
            fill(part, p, 1 + below(50));
            expect_equal(part, p, t.last());
            // Of a part whose order is lost only the sums arrive, after the steps that it kept.
            const bool whole = p.steps.size() <= Timeline::kSteps && !p.long_one;
            const Timeline copy = part;
            t.append(copy);
            for (const auto& s : p.steps) {
                if (s.stage >= 0)
                    r.charge(static_cast<Stage>(s.stage), s.ps);
                else
                    r.steps.push_back(s);
            }
            if (whole) fill(t, r, 5);
        }
        // The host's part in front, of none to two steps.
        SimTime begins = start;
        if (below(2) == 0) {
            const auto draw = [&] {
                return static_cast<std::int64_t>(below(500) == 0 ? std::uint64_t{1} << 59 : below(3) * below(1u << 20));
            };
            const std::int64_t submit = draw(), queued = draw();
            Reference front;
            front.charge(Stage::host_queue, queued);
            front.charge(Stage::submit, submit);
            front.steps.insert(front.steps.end(), r.steps.begin(), r.steps.end());
            for (const auto& [stage, ps] : r.sums) front.sums[stage] += ps;
            front.total += r.total;
            front.long_one |= r.long_one;
            r = front;
            begins -= Ps{submit} + Ps{queued};
            t.precede(begins, begins + Ps{queued});
            ++preceded;
        }
        expect_equal(t, r, begins);
        if (below(4) == 0) {
            const Timeline copy = t;
            expect_equal(copy, r, begins);
        }
        lost += r.steps.size() > Timeline::kSteps || r.long_one;
        if (HasFailure()) return;
    }
    EXPECT_GT(lost, 2000u);
    EXPECT_GT(preceded, 5000u);
    std::printf("20000 timelines, %zu longer than %u steps or with a step of days\n", lost, Timeline::kSteps);
}

TEST(Timeline, RefusesToGoBack) {
    Timeline t;
    t.begin(SimTime{Ps{10}});
    EXPECT_THROW(t.charge(Stage::fetch, SimTime{Ps{9}}), std::exception);
    EXPECT_THROW(t.precede(SimTime{Ps{9}}, SimTime{Ps{11}}), std::exception);
    EXPECT_THROW(t.precede(SimTime{Ps{9}}, SimTime{Ps{8}}), std::exception);
    Timeline part;
    part.begin(SimTime{Ps{11}});
    EXPECT_THROW(t.append(part), std::exception);
}

TEST(Timeline, SubmittedIsTheEndOfTheHostsPart) {
    Timeline t;
    t.begin(SimTime{Ps{10}});
    EXPECT_EQ(t.submitted(), SimTime{Ps{10}});
    t.charge(Stage::fetch, SimTime{Ps{15}});
    t.precede(SimTime{Ps{5}}, SimTime{Ps{8}});
    EXPECT_EQ(t.submitted(), SimTime{Ps{8}});
    EXPECT_EQ(t.of(Stage::submit), Ps{2});
    EXPECT_EQ(t.sum(), Ps{10});
}

// For whom each wait was: sums by stage and flow, also of what is in no step any more, of parts and of what is put in
// front.
TEST(Timeline, WaitsByFlowAgainstSums) {
    std::mt19937_64 random(2);
    const auto below = [&random](std::uint64_t n) { return random() % n; };
    using Sums = std::map<std::pair<Stage, int>, std::int64_t>;
    const auto waits_of = [](const Timeline& t) {
        Sums sums;
        t.for_each_wait([&](Stage s, std::uint8_t flow, std::int64_t ps) { sums[{s, flow}] += ps; });
        return sums;
    };
    std::size_t lost = 0;
    Timeline t, part;
    for (int round = 0; round < 20000; ++round) {
        Sums expected;
        std::map<Stage, std::int64_t> stages;
        const auto fill = [&](Timeline& line) {
            for (std::uint64_t n = below(30); n != 0; --n) {
                const auto s = static_cast<Stage>(below(kStageCount));
                const auto ps = static_cast<std::int64_t>(below(3) * below(1u << 20));
                const auto flow = static_cast<std::uint8_t>(below(65));
                if (ps != 0) stages[s] += ps;
                if (!is_flash_wait(s)) {
                    line.charge(s, line.last() + Ps{ps});
                } else {
                    line.charge_wait(s, line.last() + Ps{ps}, flow);
                    if (ps != 0) expected[{s, flow}] += ps;
                }
            }
        };
        t.begin(SimTime{1us});
        fill(t);
        part.begin(t.last());
        fill(part);
        const Timeline copy = part;
        t.append(copy);
        fill(t);
        t.precede(SimTime{0us}, SimTime{300ns});
        stages[Stage::host_queue] += 300'000;
        stages[Stage::submit] += 700'000;
        EXPECT_EQ(waits_of(t), expected);
        std::map<Stage, std::int64_t> found;
        t.for_each([&](Stage s, std::int64_t ps) { found[s] = ps; });
        EXPECT_EQ(found, stages);
        lost += t.for_each_step([](Stage, SimTime, SimTime) {}, [](const FlashOperation&) {}) != t.last() ? 1 : 0;
    }
    EXPECT_GT(lost, 1000u);
    EXPECT_LT(lost, 19000u);
}

}  // namespace
}  // namespace ssdtlm
