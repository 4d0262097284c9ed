// SPDX-License-Identifier: Apache-2.0
// The contract of SuspendPolicy, for every registered policy, and what for_reads makes of its parameters.
#include <gtest/gtest.h>

#include "common/random/random.h"
#include "controller/scheduler/suspend_policies.h"

namespace ssdtlm {
namespace {

SuspendWork random_work(Random& random) {
    SuspendWork w;
    w.op = random.percent(50) ? FlashOp::program : FlashOp::erase;
    w.cls = w.op == FlashOp::erase ? FlashClass::erase
            : random.percent(50)   ? FlashClass::host_write
                                   : FlashClass::gc_write;
    w.begun = SimTime{Ps{static_cast<std::int64_t>(random.below(1'000'000'000'000))}};
    w.ends = w.begun + Ps{static_cast<std::int64_t>(random.below(4'000'000'000))};
    w.suspends = static_cast<std::uint32_t>(random.below(30));
    return w;
}

TEST(SuspendPolicy, EveryRegisteredOneKeepsTheContract) {
    for (const std::string& name : SuspendPolicies::instance().names()) {
        SCOPED_TRACE(name);
        SchedulerConfig c;
        c.suspend = name;
        const auto policy = make_suspend_policy(c);
        if (policy == nullptr) continue;  // nothing is ever suspended
        Random random(3, 1);
        std::uint32_t suspended = 0;
        for (int n = 0; n < 10'000; ++n) {
            SuspendWork w = random_work(random);
            const SimTime now = w.begun + Ps{static_cast<std::int64_t>(random.below(4'000'000'000))};
            const SimTime at = policy->when(w, now);
            EXPECT_EQ(policy->when(w, now), at) << "not a function of its arguments";
            EXPECT_GE(at, now);
            suspended += at != kNever;
            w.suspends = 100'000;
            EXPECT_EQ(policy->when(w, now), kNever) << "an operation may never end";
        }
        EXPECT_GT(suspended, 1000u);
        EXPECT_LT(policy->longest(random_work(random)), kNever - SimTime{});
    }
}

TEST(SuspendPolicy, OnlyOneNameMeansNone) {
    SchedulerConfig c;
    EXPECT_EQ(make_suspend_policy(c), nullptr);
    c.suspend = "for_read";
    EXPECT_THROW(make_suspend_policy(c), UserError);
}

TEST(SuspendPolicy, ForReadsDoesWhatItsParametersSay) {
    using namespace std::chrono_literals;
    const auto policy = [](bool programs, bool erases, std::int64_t limit, Ps run, Ps left) {
        SchedulerConfig c;
        c.suspend = "for_reads";
        c.policies["for_reads"] = {{"programs", Value{programs}},
                                   {"erases", Value{erases}},
                                   {"limit", Value{limit}},
                                   {"least_run", Value{std::int64_t{run.count()}}},
                                   {"least_left", Value{std::int64_t{left.count()}}}};
        return make_suspend_policy(c);
    };
    const SimTime begun{Ps{1ms}};
    const SuspendWork program{FlashOp::program, FlashClass::host_write, {}, begun, begun + Ps{600us}, 2};
    const SuspendWork erase{FlashOp::erase, FlashClass::erase, {}, begun, begun + Ps{3ms}, 2};
    EXPECT_EQ(policy(true, false, 9, 50us, 0us)->when(program, begun), begun + Ps{50us});
    EXPECT_EQ(policy(true, false, 9, 50us, 0us)->when(erase, begun), kNever);
    EXPECT_EQ(policy(false, true, 9, 50us, 0us)->when(program, begun), kNever);
    EXPECT_EQ(policy(false, true, 9, 50us, 0us)->when(erase, begun), begun + Ps{50us});
    EXPECT_EQ(policy(true, true, 3, 0us, 0us)->when(erase, begun), begun);
    EXPECT_EQ(policy(true, true, 2, 0us, 0us)->when(erase, begun), kNever);
    EXPECT_EQ(policy(true, true, 9, 400us, 200us)->when(program, begun), begun + Ps{400us});
    EXPECT_EQ(policy(true, true, 9, 400us, 201us)->when(program, begun), kNever);
    // What is left is compared at the moment of the suspend, which may be late: for a read that comes late, or a bus
    // that was not free.
    const auto rest = policy(true, true, 9, 100us, 200us);
    EXPECT_EQ(rest->when(program, begun + Ps{99us}), begun + Ps{100us});
    EXPECT_EQ(rest->when(program, begun + Ps{400us}), begun + Ps{400us});
    EXPECT_EQ(rest->when(program, begun + Ps{401us}), kNever);
    EXPECT_EQ(rest->when(erase, begun + Ps{2800us}), begun + Ps{2800us});
    EXPECT_EQ(rest->when(erase, begun + Ps{2801us}), kNever);
}

}  // namespace
}  // namespace ssdtlm
