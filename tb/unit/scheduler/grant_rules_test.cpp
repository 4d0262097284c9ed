// SPDX-License-Identifier: Apache-2.0
// Every rule of the scheduler's contract: an answer that breaks it, and what the run then says. Through a clocked core,
// so that the clock cycle is there too.
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "controller/scheduler/class_queues.h"
#include "controller/scheduler/clocked/checked_core.h"
#include "controller/scheduler/clocked/clocked_scheduler.h"
#include "controller/scheduler/clocked/policy_core.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr GrantRules::Limits kJoining{4, 4, false, true}, kSingle{4, 4, false, false}, kIndependent{4, 4, true, true};

/// Answers what it is told, three cycles after each question.
class ToldCore final : public SchedulerCore {
public:
    explicit ToldCore(const CoreDecision& told) : told_(told) {}
    bool full() const override { return false; }
    std::uint64_t push(const SchedulerRequest&, std::uint64_t edge) override { return edge; }
    void decide(const GrantQuery&, std::uint64_t, CoreDecision& out) override {
        out = told_;
        out.cycles = 3;
    }
    std::string dump() const override { return {}; }

private:
    const CoreDecision& told_;
};

CoreDecision grant(std::uint16_t die, FlashClass cls, std::vector<std::uint32_t> tags) {
    CoreDecision d;
    d.answer = GrantAnswer::granted;
    d.grant.die = die;
    d.grant.cls = cls;
    d.grant.count = static_cast<std::uint8_t>(tags.size());
    std::copy(tags.begin(), tags.end(), d.grant.tags.begin());
    return d;
}
CoreDecision count(CoreDecision d, std::uint8_t n) {
    d.grant.count = n;
    return d;
}

constexpr FlashClass kRead = FlashClass::host_read, kWrite = FlashClass::host_write, kErase = FlashClass::erase;

/// Always waiting: on die 1 host reads 10 (plane 0, page 5), 11 (plane 0, page 6), 12 (plane 1, page 5), 13 (plane 2,
/// page 6), 14 (plane 2, page 5) in this order, and host write 20 (plane 0, page 5); on die 3 erase 30. Asked: reads
/// and erases; die 1 is idle.
struct Case {
    const char* name;
    GrantRules::Limits limits;
    CoreDecision answer;
    const char* says;  // empty: the answer is right
    std::uint64_t idle_dies = 0b0010;
    std::uint64_t idle_plane_0 = 0b0010;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.name;
}

class Rule : public ::testing::TestWithParam<Case> {};

TEST_P(Rule, IsChecked) {
    const Case& c = GetParam();
    CheckedCore core("mine (RTL)", 6, Clock::hertz(400'000'000), c.limits, std::make_unique<ToldCore>(c.answer));
    const auto push = [&](std::uint32_t tag, std::uint16_t die, FlashClass cls, std::uint8_t plane,
                          std::uint32_t page) {
        core.push(SchedulerRequest{tag, 6, die, cls, plane, page}, tag);
    };
    push(10, 1, kRead, 0, 5);
    push(11, 1, kRead, 0, 6);
    push(12, 1, kRead, 1, 5);
    push(13, 1, kRead, 2, 6);
    push(14, 1, kRead, 2, 5);
    push(20, 1, kWrite, 0, 5);
    push(30, 3, kErase, 0, 0);
    GrantQuery q;
    q.channel = 6;
    q.classes = 0b1010011;
    q.idle_dies = c.idle_dies;
    if (c.limits.independent_plane_read) q.idle_read_planes = {c.idle_plane_0, 0b1111, c.idle_dies, c.idle_dies};
    CoreDecision d;
    if (*c.says == '\0') {
        EXPECT_NO_THROW(core.decide(q, 1000, d));
        EXPECT_THROW(core.decide(q, 1100, d), CheckFailed) << "granted once, and never again";
        return;
    }
    try {
        core.decide(q, 1000, d);
        FAIL() << "not noticed";
    } catch (const CheckFailed& e) {
        // Cycle 1003 at 400 MHz.
        EXPECT_THAT(e.what(), StartsWith("scheduler mine (RTL), channel 6, at 2.507500 us, clock cycle 1003: "));
        EXPECT_THAT(e.what(), HasSubstr(c.says));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Grants, Rule,
    ::testing::Values(
        Case{"the head", kJoining, grant(1, kRead, {10}), ""},
        Case{"partners", kJoining, grant(1, kRead, {10, 12}), ""},
        Case{"a plane of its own", kIndependent, grant(1, kRead, {12}), "", 0, 0},
        Case{"no such die", kJoining, grant(4, kRead, {10}),
             "grant of die 4, host_read, tags 10: there is no such die; the channel has 0 to 3"},
        Case{"no such class", kJoining, grant(1, FlashClass{7}, {10}),
             "grant of die 1, class 7, tags 10: there is no such class; 0 to 6"},
        Case{"none", kJoining, grant(1, kRead, {}), "0 requests in one grant; 1 to 4, the planes of a die"},
        Case{"twelve", kJoining, count(grant(1, kRead, {10, 11, 12, 13, 0, 0, 0, 99}), 12),
             "tags 10 11 12 13 0 0 0 99: 12 requests in one grant; 1 to 4"},
        Case{"class not asked for", kJoining, grant(1, kWrite, {20}),
             "the class was not asked for; asked for were host_read, mapping_read, gc_read, erase"},
        Case{"busy die", kJoining, grant(3, kErase, {30}),
             "grant of die 3, erase, tags 30: the die is busy; idle dies: 1"},
        Case{"busy die of independent planes", kIndependent, grant(3, kErase, {30}), "the die is busy; idle dies: 1"},
        Case{"busy plane", kIndependent, grant(1, kRead, {10}),
             "tag 10 is for plane 0, which is busy; idle on that plane: dies none", 0, 0},
        Case{"joined without multi-plane", kSingle, grant(1, kRead, {10, 12}),
             "joins planes, though scheduler.multi_plane is off"},
        Case{"joined independent planes", kIndependent, grant(1, kRead, {10, 12}),
             "joins planes that read independently"},
        Case{"unknown tag", kJoining, grant(1, kRead, {99}),
             "tag 99 does not wait: it was never given to this channel's scheduler, or was granted already"},
        Case{"tag of another die", kJoining, grant(1, kRead, {30}),
             "tag 30 waits for die 3 as erase; only what waits for this die in this class"},
        Case{"tag of another class", kJoining, grant(1, kRead, {20}), "tag 20 waits for die 1 as host_write"},
        Case{"named twice", kJoining, grant(1, kRead, {10, 10}), "tag 10 is named twice"},
        Case{"second first", kJoining, grant(1, kRead, {12}),
             "tag 12 passes tag 10, which came before it; a class of a die goes in order of arrival, for each tenant "
             "and priority;"},
        Case{"second of a plane first", kIndependent, grant(1, kRead, {11}),
             "tag 11 passes tag 10, which came before it; a class of a die goes in order of arrival on each plane"},
        Case{"partner of another page", kJoining, grant(1, kRead, {10, 13}),
             "tag 13 is for page 6, tag 10 for page 5; planes are joined for equal pages"},
        Case{"partner passes its plane", kJoining, grant(1, kRead, {10, 14}),
             "tag 14 passes tag 13, which came before it"},
        Case{"nothing", kJoining, CoreDecision{},
             "answered that nothing can start, but die 3 is idle and all that waits there (erase) was asked for",
             0b1010}));

TEST(Rules, SamePlaneTwice) {
    const CoreDecision told = grant(0, kRead, {1, 2});
    CheckedCore core("mine", 0, Clock::hertz(400'000'000), kJoining, std::make_unique<ToldCore>(told));
    for (std::uint32_t tag : {1u, 2u}) core.push(SchedulerRequest{tag, 0, 0, kRead, 3, 8}, tag);
    GrantQuery q;
    q.idle_dies = 1;
    CoreDecision d;
    try {
        core.decide(q, 5, d);
        FAIL() << "not noticed";
    } catch (const CheckFailed& e) {
        EXPECT_THAT(e.what(), HasSubstr("tag 2 is for plane 3, as tag 1; each plane once in a grant"));
    }
}

// Nothing is right as long as something that was not asked for may be what goes next.
TEST(Rules, NothingMayBeTheAnswerWhereOtherClassesWait) {
    const CoreDecision told;
    CheckedCore core("mine", 0, Clock::hertz(400'000'000), kJoining, std::make_unique<ToldCore>(told));
    core.push(SchedulerRequest{1, 0, 0, kRead, 0, 0}, 1);
    core.push(SchedulerRequest{2, 0, 0, kWrite, 0, 0}, 2);
    GrantQuery q;
    q.idle_dies = 1;
    q.classes = 1u << static_cast<unsigned>(kRead);
    CoreDecision d;
    EXPECT_NO_THROW(core.decide(q, 5, d));
    EXPECT_NO_THROW(core.decide(q, 15, d));
    core.push(SchedulerRequest{3, 0, 0, kWrite, 0, 1}, 20);
    q.classes = 1u << static_cast<unsigned>(kWrite);
    EXPECT_NO_THROW(core.decide(q, 25, d)) << "the push may have changed what goes next";
    q.classes = 1u << static_cast<unsigned>(kRead);
    EXPECT_THROW(core.decide(q, 35, d), CheckFailed) << "neither a write nor a read";
}

TEST(Proven, AreThePoliciesOfTheRegistryAndNoOthers) {
    struct Mine final : ClassQueueScheduler {
        using ClassQueueScheduler::ClassQueueScheduler;
        std::uint8_t choose(const DieWork& work) const override { return oldest(work, work.waiting); }
    };
    EXPECT_FALSE(Mine(SchedulerConfig{}, SchedulerShape{}).proven());
    SchedulerConfig config;
    for (const std::string& policy : SchedulerPolicies::instance().names()) {
        config.policy = policy;
        EXPECT_TRUE(make_scheduler_policy(config, SchedulerShape{})->proven()) << policy;
    }
    Agenda agenda;
    const auto clocked = [&](std::unique_ptr<SchedulerCore> core) {
        std::vector<std::unique_ptr<SchedulerCore>> cores;
        cores.push_back(std::move(core));
        return ClockedScheduler(agenda, Clock::hertz(400'000'000), std::move(cores)).proven();
    };
    const CoreDecision told;
    EXPECT_FALSE(clocked(std::make_unique<ToldCore>(told)));
    EXPECT_FALSE(clocked(std::make_unique<PolicyCore>(std::make_unique<Mine>(SchedulerConfig{}, SchedulerShape{}), 8)));
    EXPECT_TRUE(clocked(
        std::make_unique<CheckedCore>("mine", 0, Clock::hertz(1'000'000), kJoining, std::make_unique<ToldCore>(told))));
}

/// Always grants the youngest request of die 0.
class UnfairCore final : public SchedulerCore {
public:
    bool full() const override { return false; }
    std::uint64_t push(const SchedulerRequest& r, std::uint64_t edge) override {
        if (r.die == 0) tag_ = r.tag;
        return edge;
    }
    void decide(const GrantQuery&, std::uint64_t, CoreDecision& out) override {
        out = grant(0, kRead, {tag_});
        out.cycles = 1;
    }
    std::string dump() const override { return {}; }

private:
    std::uint32_t tag_ = 0;
};

/// One request waits for die 1; `rounds` times one for die 0 comes and is granted, and die 1 is idle in `idle` of ten
/// of them.
std::string overtaken(std::uint64_t bound, std::uint64_t rounds, std::uint64_t idle, SchedulerFairness& seen) {
    GrantRules::Limits limits = kJoining;
    limits.overtake_bound = bound;
    CheckedCore core("unfair", 0, Clock::hertz(400'000'000), limits, std::make_unique<UnfairCore>());
    core.push(SchedulerRequest{1, 0, 1, kWrite, 0, 0}, 0);
    try {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            core.push(SchedulerRequest{static_cast<std::uint32_t>(10 + i), 0, 0, kRead, 0, 0}, 10 * i + 1);
            GrantQuery q;
            q.idle_dies = i % 10 < idle ? 0b11 : 0b01;
            CoreDecision d;
            core.decide(q, 10 * i + 4, d);
        }
    } catch (const CheckFailed& e) {
        seen = *core.fairness();
        return e.what();
    }
    seen = *core.fairness();
    return {};
}

TEST(GrantRulesFairness, ARequestThatCouldStartIsNotPassedForEver) {
    SchedulerFairness seen;
    EXPECT_EQ(overtaken(100, 100, 10, seen), "");
    EXPECT_EQ(seen.most_overtakes, 100u);
    // Pushed at edge 10 i + 1, taken at 10 i + 5: 4 periods of 2.5 ns.
    EXPECT_EQ(seen.longest_wait, Ps{10'000});
    const std::string said = overtaken(100, 101, 10, seen);
    EXPECT_THAT(said, HasSubstr("starves die 1, host_write: tag 1 could have started, and 101 grants passed it; at "
                                "most scheduler.overtake_bound = 100"));
    EXPECT_EQ(overtaken(100, 250, 4, seen), "") << "while its die is busy nothing passes it";
    EXPECT_EQ(seen.most_overtakes, 100u);
    EXPECT_EQ(overtaken(0, 5'000, 10, seen), "") << "0: any number";
    EXPECT_EQ(seen.most_overtakes, 5'000u);
}

}  // namespace
}  // namespace ssdtlm
