// SPDX-License-Identifier: Apache-2.0
// What policies with flow queues are told and remember, any number of flows, and what the shipped ones promise, by
// formula.
#include "controller/scheduler/flow_queues.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kChannels = 2, kDies = 3, kPlanes = 4;

SchedulerRequest request(std::uint32_t tag, std::uint16_t tenant, std::uint32_t bytes = 4096, std::uint16_t die = 0,
                         FlashClass cls = FlashClass::host_read) {
    SchedulerRequest r;
    r.tag = tag;
    r.die = die;
    r.cls = cls;
    r.bytes = bytes;
    r.whose.tenant = tenant;
    r.whose.submitted = SimTime{};
    return r;
}
GrantQuery all_idle(std::uint16_t channel = 0, SimTime now = {}) {
    GrantQuery q;
    q.channel = channel;
    q.now = now;
    q.idle_dies = (1u << kDies) - 1;
    return q;
}
std::unique_ptr<SchedulerPort> make(const std::string& policy, const PolicyValues& values = {},
                                    SchedulerShape shape = {1, 1, false, 1}, std::uint32_t limit = 0) {
    SchedulerConfig config;
    config.policy = policy;
    config.policies[policy] = values;
    config.starvation_limit = limit;
    return make_scheduler_policy(config, shape);
}

// --- what a policy sees
// -------------------------------------------------------------------------------------------------

/// Fifo, and writes down all that it is told.
class Told final : public FlowPolicy {
public:
    struct Log {
        std::vector<SchedulerRequest> pushed;
        struct Given {
            SchedulerRequest request;
            std::uint32_t joined;
            SimTime now;
        };
        std::vector<Given> granted;
        std::set<std::int64_t> asked_at;
    };
    explicit Told(Log& log) : log_(log) {}
    std::uint32_t flow_of(const WorkTag& whose) const override { return whose.tenant; }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime now) const override {
        log_.asked_at.insert(now.time_since_epoch().count());
        return a.arrival < b.arrival;
    }
    void pushed(const SchedulerRequest& r) override { log_.pushed.push_back(r); }
    void granted(const SchedulerRequest& r, std::uint32_t joined, SimTime now) override {
        log_.granted.push_back({r, joined, now});
    }

private:
    Log& log_;
};

bool same(const SchedulerRequest& a, const SchedulerRequest& b) {
    return a.tag == b.tag && a.die == b.die && a.cls == b.cls && a.plane == b.plane && a.page == b.page &&
           a.block == b.block && a.bytes == b.bytes && a.pushed_at == b.pushed_at && a.whose.same_flow(b.whose) &&
           a.whose.deadline == b.whose.deadline && a.whose.submitted == b.whose.submitted;
}

// Each channel has an object of its own, which is told of each of its requests once, with all of it, and when it was
// granted with how many.
TEST(FlowPolicies, AreToldOfEachRequestOfTheirChannel) {
    for (const bool independent : {false, true}) {
        std::array<Told::Log, kChannels> logs;
        std::vector<std::unique_ptr<FlowPolicy>> policies;
        for (Told::Log& log : logs) policies.push_back(std::make_unique<Told>(log));
        FlowQueueScheduler scheduler(SchedulerConfig{}, SchedulerShape{kChannels, kDies, independent, kPlanes},
                                     std::move(policies));
        Random random(independent, 3);
        std::array<std::map<std::uint32_t, SchedulerRequest>, kChannels> waiting;
        std::array<std::uint64_t, kChannels> grants{}, at_once{};
        for (std::uint32_t step = 0; step < 20'000; ++step) {
            const auto c = static_cast<std::uint16_t>(random.below(kChannels));
            const SimTime now{Ps{step}};
            if (random.percent(45)) {
                SchedulerRequest r = request(step, static_cast<std::uint16_t>(random.below(5)),
                                             4096u << random.below(3), static_cast<std::uint16_t>(random.below(kDies)),
                                             static_cast<FlashClass>(random.below(kFlashClassCount)));
                r.channel = c;
                r.plane = static_cast<std::uint8_t>(random.below(kPlanes));
                r.page = static_cast<std::uint32_t>(random.below(2));
                r.block = static_cast<std::uint32_t>(random.below(100));
                r.pushed_at = now;
                r.whose.deadline = now + Ps{static_cast<std::int64_t>(random.below(100))};
                r.whose.submitted = now - Ps{static_cast<std::int64_t>(random.below(100))};
                const std::size_t pushed = logs[c].pushed.size(), granted = logs[c].granted.size();
                if (r.cls == FlashClass::host_read && scheduler.grant_at_once(r)) {
                    ++at_once[c];
                    ASSERT_EQ(logs[c].granted.size(), granted + 1);
                    ASSERT_TRUE(same(logs[c].granted.back().request, r) && logs[c].granted.back().joined == 1 &&
                                logs[c].granted.back().now == now);
                } else {
                    scheduler.push(r);
                    waiting[c].emplace(r.tag, r);
                }
                ASSERT_EQ(logs[c].pushed.size(), pushed + 1);
                ASSERT_TRUE(same(logs[c].pushed.back(), r));
                continue;
            }
            GrantQuery query = all_idle(c, now);
            query.idle_dies &= random.below(1u << kDies);
            if (independent)
                for (std::uint32_t p = 0; p < kPlanes; ++p) query.idle_read_planes[p] = query.idle_dies;
            const std::size_t told = logs[c].granted.size();
            Grant grant;
            if (scheduler.grant(query, grant) != GrantAnswer::granted) {
                ASSERT_EQ(logs[c].granted.size(), told);
                continue;
            }
            ++grants[c];
            ASSERT_EQ(logs[c].granted.size(), told + grant.count);
            for (std::uint32_t i = 0; i < grant.count; ++i) {
                const Told::Log::Given& given = logs[c].granted[told + i];
                ASSERT_TRUE(same(given.request, waiting[c].at(grant.tags[i])));
                ASSERT_EQ(given.joined, grant.count);
                ASSERT_EQ(given.now, now);
                waiting[c].erase(grant.tags[i]);
            }
        }
        for (std::uint32_t c = 0; c < kChannels; ++c) {
            EXPECT_GT(grants[c], 3'000u);
            EXPECT_GT(at_once[c], 50u);
            EXPECT_GT(logs[c].asked_at.size(), 1'000u);
        }
    }
}

/// Counts the objects that live and have lived.
class Counted final : public FlowPolicy {
public:
    Counted() { ++made; }
    std::uint32_t flow_of(const WorkTag& whose) const override { return whose.tenant; }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime) const override { return a.arrival < b.arrival; }
    static inline std::uint32_t made = 0;
};
const SchedulerPolicies::Registered kCounted{
    {"counted", "for this test", {}, [](const SchedulerSetup& s, const PolicySettings&) {
         return flow_scheduler(s, [] { return std::make_unique<Counted>(); });
     }}};

TEST(FlowPolicies, AreMadeAnewWithEachScheduler) {
    Counted::made = 0;
    for (std::uint32_t n = 1; n <= 3; ++n) {
        const auto scheduler = make("counted", {}, {5, 1, false, 1});
        EXPECT_EQ(Counted::made, 5 * n);
        EXPECT_FALSE(scheduler->proven()) << "a policy of somebody else is checked in each run";
    }
}

// --- any number of flows
// ------------------------------------------------------------------------------------------------

// Each tenant has some reads on one die, and the least served goes first: nobody gets its second before all had their
// first.
TEST(FlowQueues, AreAsManyAsThereAreFlows) {
    for (const std::uint32_t tenants : {1u, 6u, 7u, 64u, 1'000u, 60'000u}) {
        const auto scheduler = make("weighted");
        constexpr std::uint32_t kEach = 3;
        std::uint32_t tag = 0;
        for (std::uint32_t t = tenants; t-- != 0;)
            for (std::uint32_t i = 0; i < kEach; ++i) scheduler->push(request(tag++, static_cast<std::uint16_t>(t)));
        if (tenants > 1'000) {  // a grant looks at all that wait
            EXPECT_EQ(scheduler->queued(0), tag);
            continue;
        }
        std::vector<std::uint32_t> given(tenants);
        Grant grant;
        for (std::uint32_t n = 0; n < tenants * kEach; ++n) {
            ASSERT_EQ(scheduler->grant(all_idle(), grant), GrantAnswer::granted);
            const std::uint32_t t = tenants - 1 - grant.tags[0] / kEach;
            ASSERT_EQ(grant.tags[0] % kEach, given[t]) << "in order of arrival";
            ASSERT_EQ(given[t]++, n / tenants);
        }
        EXPECT_EQ(scheduler->grant(all_idle(), grant), GrantAnswer::nothing);
    }
}

// --- shares
// -------------------------------------------------------------------------------------------------------------

constexpr std::int64_t kRead = 50, kProgram = 600, kErase = 3'000;  // microseconds
SchedulerShape timed(std::uint32_t dies) {
    SchedulerShape shape{1, dies, false, kPlanes};
    for (std::size_t c = 0; c < kFlashClassCount; ++c)
        shape.array_time[c] = std::chrono::microseconds{(kReadClasses >> c & 1u) != 0      ? kRead
                                                        : (kProgramClasses >> c & 1u) != 0 ? kProgram
                                                                                           : kErase};
    shape.byte_time = Ps{1'000};
    return shape;
}

// All tenants always wait on all dies, with requests of sizes of their own. After any number of grants each has had its
// share, to within one request of each: the bound of deficit round robin.
TEST(Weighted, SharesAreTheWeights) {
    const std::vector<std::int64_t> weights{1, 2, 4, 1000, 3};
    const std::uint32_t bytes[] = {4096, 16384, 4096, 16384, 512, 8192};  // of tenant 6: not named, weight 5
    for (const bool die_time : {false, true})
        for (const std::uint32_t dies : {1u, 3u}) {
            const auto scheduler = make("weighted",
                                        {{"weights", weights},
                                         {"others", std::int64_t{5}},
                                         {"share_of", std::string(die_time ? "die_time" : "bytes")}},
                                        timed(dies));
            const auto weight = [&](std::size_t t) { return static_cast<double>(t < weights.size() ? weights[t] : 5); };
            const auto cost = [&](std::size_t t) {
                return die_time ? static_cast<double>(kRead) * 1e6 + bytes[t] * 1e3 : bytes[t];
            };
            std::map<std::uint32_t, std::pair<std::size_t, std::uint16_t>> waiting;  // tag: tenant, die
            std::uint32_t tag = 0;
            const auto push = [&](std::size_t t, std::uint16_t d) {
                waiting[tag] = {t, d};
                scheduler->push(request(tag++, static_cast<std::uint16_t>(t + 1), bytes[t], d));
            };
            for (std::size_t t = 0; t < 6; ++t)
                for (std::uint16_t d = 0; d < dies; ++d)
                    for (int i = 0; i < 2; ++i) push(t, d);
            std::array<double, 6> served{};
            double most = 0;
            for (std::size_t t = 0; t < 6; ++t) most = std::max(most, cost(t) / weight(t));
            for (std::uint32_t n = 0; n < 30'000; ++n) {
                Grant grant;
                ASSERT_EQ(scheduler->grant(all_idle(), grant), GrantAnswer::granted);
                const auto [t, d] = waiting.at(grant.tags[0]);
                waiting.erase(grant.tags[0]);
                served[t] += cost(t) / weight(t);
                push(t, d);
                const auto [least, greatest] = std::minmax_element(served.begin(), served.end());
                ASSERT_LE(*greatest - *least, most * 1.01) << "after " << n << " grants";
            }
        }
}

/// Which of two tenants go, from now on, by number.
std::string order(SchedulerPort& scheduler, std::uint32_t grants) {
    std::string tenants;
    for (Grant grant; grants != 0 && scheduler.grant(all_idle(), grant) == GrantAnswer::granted; --grants)
        tenants += static_cast<char>('0' + grant.tags[0] / 1000);
    return tenants;
}

// A tenant that has not asked for long goes first for so many requests as it may catch up with, and then in turn.
TEST(Weighted, WhoWantedLessCatchesUpABoundedWay) {
    for (const std::uint32_t catch_up : {0u, 3u, 10u}) {
        const auto scheduler = make("weighted", {{"catch_up", std::int64_t{catch_up}}});
        for (std::uint32_t i = 0; i < 100; ++i) scheduler->push(request(1000 + i, 1));
        EXPECT_EQ(order(*scheduler, 50), std::string(50, '1'));
        for (std::uint32_t i = 0; i < 40; ++i) scheduler->push(request(2000 + i, 2));
        // Tenant 1 is one request further than it was when its last one was granted.
        const std::string then = order(*scheduler, catch_up + 12);
        EXPECT_EQ(then.substr(0, catch_up + 1), std::string(catch_up + 1, '2'));
        const std::string turns = then.substr(catch_up + 1);
        for (std::size_t i = 2; i < turns.size(); ++i) EXPECT_EQ(turns[i], turns[i - 2]) << turns;
        EXPECT_NE(turns[0], turns[1]) << turns;
    }
}

// Programs, collection and erases count for whoever wrote or has caused them; in die time an erase has its price.
TEST(Weighted, WhatAWriterHasCausedIsItsOwn) {
    const auto scheduler =
        make("weighted", {{"share_of", std::string("die_time")}, {"catch_up", std::int64_t{1000}}}, timed(1));
    for (std::uint32_t i = 0; i < 900; ++i) scheduler->push(request(2000 + i, 2, 0));
    for (std::uint32_t i = 0; i < 3; ++i) scheduler->push(request(1000 + i, 1, 0, 0, FlashClass::erase));
    const std::string all = order(*scheduler, 400);
    // Between two erases the other one reads for as long.
    std::vector<std::size_t> between;
    for (std::size_t at = all.find('1'), last = at; (at = all.find('1', at + 1)) != std::string::npos; last = at)
        between.push_back(at - last - 1);
    EXPECT_THAT(between, ElementsAre(kErase / kRead, kErase / kRead));
}

// Classes: a class that was passed by others so often goes before all; the tenants of one class may pass each other as
// the weights say.
TEST(Weighted, ClassesDoNotStarveAndWeightsHoldWithinThem) {
    constexpr std::uint32_t kLimit = 7;
    const auto scheduler = make("weighted", {{"weights", std::vector<std::int64_t>{1, 100}}}, {1, 1, false, 1}, kLimit);
    scheduler->push(request(1000, 1, 16384, 0, FlashClass::host_write));
    for (std::uint32_t i = 0; i < 400; ++i) scheduler->push(request(2000 + i, 2, 4096));
    EXPECT_EQ(order(*scheduler, 1), "2") << "read before write";
    EXPECT_EQ(order(*scheduler, 3).find('1'), std::size_t{0}) << "then the one that was given nothing";
    scheduler->push(request(1001, 1, 4096));
    std::string all = order(*scheduler, 300);
    EXPECT_GT(all.find('1'), std::size_t{2 * kLimit}) << "the limit is not for tenants of one class";
}

TEST(PriorityClasses, UrgentBeforeHighBeforeMediumBeforeLow) {
    const auto scheduler = make("priority_classes");
    std::uint32_t tag = 0;
    const auto push = [&](std::uint8_t priority, FlashClass cls, bool nobodys = false) {
        SchedulerRequest r = request(tag++, priority, 4096, 0, cls);
        r.whose.priority = priority;
        if (nobodys) r.whose = WorkTag{};
        scheduler->push(r);
    };
    push(0, FlashClass::gc_read, true);  // 0: nobody's, as the low ones
    push(3, FlashClass::host_read);      // 1
    push(3, FlashClass::host_write);     // 2
    push(1, FlashClass::gc_write);       // 3: caused by a high one
    push(1, FlashClass::host_write);     // 4: behind the program of a low one, which it may not pass
    push(2, FlashClass::mapping_read);   // 5
    push(0, FlashClass::erase);          // 6: caused by an urgent one
    push(0, FlashClass::host_read);      // 7
    push(0, FlashClass::host_read);      // 8
    std::vector<std::uint32_t> tags;
    for (Grant grant; scheduler->grant(all_idle(), grant) == GrantAnswer::granted;) tags.push_back(grant.tags[0]);
    EXPECT_THAT(tags, ElementsAre(7, 8, 6, 3, 5, 1, 2, 4, 0));
}

// A low one is passed so often, and no more.
TEST(PriorityClasses, TheStarvationLimitHolds) {
    constexpr std::uint32_t kLimit = 5;
    const auto scheduler = make("priority_classes", {}, {1, 1, false, 1}, kLimit);
    SchedulerRequest low = request(1000, 1);
    low.whose.priority = 3;
    scheduler->push(low);
    for (std::uint32_t i = 0; i < 20; ++i) scheduler->push(request(2000 + i, 2));
    EXPECT_EQ(order(*scheduler, 20).find('1'), std::size_t{kLimit});
}

/// Levels of the next `n` grants, of one die, for a scheduler that always has reads of all of `levels`.
std::string levels_granted(SchedulerPort& scheduler, const std::vector<std::uint8_t>& levels, std::uint32_t n) {
    std::uint32_t tag = 0;
    const auto push = [&](std::uint8_t level) {
        SchedulerRequest r = request(tag++ * 4 + level, level);
        r.whose.priority = level;
        scheduler.push(r);
    };
    for (const std::uint8_t level : levels)
        for (int i = 0; i < 3; ++i) push(level);
    std::string out;
    for (Grant grant; out.size() < n && scheduler.grant(all_idle(), grant) == GrantAnswer::granted;) {
        const auto level = static_cast<std::uint8_t>(grant.tags[0] % 4);
        out += "UHML"[level];
        push(level);
    }
    return out;
}

TEST(WeightedPriorities, SharesAreTheWeightsInTheOrderOfMqsim) {
    EXPECT_EQ(levels_granted(*make("weighted_priorities"), {1, 2, 3}, 14), "HHHMHMLHHHMHML");
    // A level without reads is passed over, and the others keep their shares.
    EXPECT_EQ(levels_granted(*make("weighted_priorities"), {1, 3}, 10), "HHHHLHHHHL");
    EXPECT_EQ(levels_granted(*make("weighted_priorities"), {2, 3}, 6), "MMLMML");
    EXPECT_EQ(levels_granted(*make("weighted_priorities"), {0, 1, 2, 3}, 5), "UUUUU");
    for (const std::vector<std::int64_t>& weights :
         {std::vector<std::int64_t>{4, 2, 1}, {1, 1, 1}, {7, 3, 2}, {1, 5, 9}}) {
        const auto scheduler = make("weighted_priorities", {{"weights", weights}});
        const std::int64_t cycle = weights[0] + weights[1] + weights[2], rounds = 1000;
        const std::string all = levels_granted(*scheduler, {1, 2, 3}, static_cast<std::uint32_t>(cycle * rounds));
        for (std::size_t level = 0; level < 3; ++level)
            EXPECT_EQ(std::count(all.begin(), all.end(), "HML"[level]), rounds * weights[level]);
    }
}

TEST(WeightedPriorities, MapThenUrgentThenSharesThenProgramsThenCollection) {
    const auto scheduler = make("weighted_priorities");
    std::uint32_t tag = 0;
    const auto push = [&](std::uint8_t priority, FlashClass cls, bool nobodys = false) {
        SchedulerRequest r = request(tag++, priority, 4096, 0, cls);
        r.whose.priority = priority;
        if (nobodys) r.whose = WorkTag{};
        scheduler->push(r);
    };
    push(0, FlashClass::gc_read);          // 0: collection of an urgent one is collection
    push(3, FlashClass::host_write);       // 1
    push(0, FlashClass::host_write);       // 2: behind the program before it
    push(3, FlashClass::host_read);        // 3
    push(1, FlashClass::host_read);        // 4
    push(0, FlashClass::host_read);        // 5
    push(3, FlashClass::mapping_read);     // 6
    push(0, FlashClass::host_read, true);  // 7: nobody's, as the low ones
    std::vector<std::uint32_t> tags;
    for (Grant grant; scheduler->grant(all_idle(), grant) == GrantAnswer::granted;) tags.push_back(grant.tags[0]);
    EXPECT_THAT(tags, ElementsAre(6, 5, 4, 3, 7, 1, 2, 0));
}

// Each die has turns of its own.
TEST(WeightedPriorities, DiesCountForThemselves) {
    const auto scheduler =
        make("weighted_priorities", {{"weights", std::vector<std::int64_t>{2, 1, 1}}}, {1, 2, false, 1});
    const auto push = [&](std::uint32_t tag, std::uint8_t level, std::uint16_t die) {
        SchedulerRequest r = request(tag, level, 4096, die);
        r.whose.priority = level;
        scheduler->push(r);
    };
    for (std::uint32_t i = 0; i < 4; ++i)
        for (const std::uint16_t die : {std::uint16_t{0}, std::uint16_t{1}})
            for (const std::uint8_t level : {std::uint8_t{1}, std::uint8_t{3}})
                push(i * 100 + die * 10u + level, level, die);
    std::map<std::uint32_t, std::string> by_die;
    for (Grant grant; scheduler->grant(all_idle(), grant) == GrantAnswer::granted;)
        by_die[grant.die] += "UHML"[grant.tags[0] % 10];
    EXPECT_EQ(by_die[0], "HHLHHLLL");
    EXPECT_EQ(by_die[1], "HHLHHLLL");
}

// --- a clock
// ------------------------------------------------------------------------------------------------------------

/// Passes everybody who has waited for longer than an age. What it says is asked with the time of the question.
class OldFirst final : public FlowPolicy {
public:
    std::uint32_t flow_of(const WorkTag& whose) const override { return whose.tenant; }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime now) const override {
        const auto rank = [now](const FlowQueue& q) {
            return std::pair{now - q.first.whose.submitted < Ps{100}, -static_cast<std::int64_t>(q.first.bytes)};
        };
        return rank(a) < rank(b);
    }
};

TEST(FlowPolicies, SeeHowOldAndHowLargeARequestIs) {
    for (const std::int64_t now : {99, 100}) {
        std::vector<std::unique_ptr<FlowPolicy>> policies;
        policies.push_back(std::make_unique<OldFirst>());
        FlowQueueScheduler scheduler(SchedulerConfig{}, SchedulerShape{1, 1, false, 1}, std::move(policies));
        scheduler.push(request(1, 1, 512));
        SchedulerRequest young = request(2, 2, 4096);
        young.whose.submitted = SimTime{Ps{50}};
        scheduler.push(young);
        Grant grant;
        ASSERT_EQ(scheduler.grant(all_idle(0, SimTime{Ps{now}}), grant), GrantAnswer::granted);
        EXPECT_EQ(grant.tags[0], now < 100 ? 2u : 1u) << "at " << now;
    }
}

}  // namespace
}  // namespace ssdtlm
