// SPDX-License-Identifier: Apache-2.0
// What every registered policy must keep, checked against a reference model under random traffic, and what
// read_first and fifo promise beyond it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kDies = 5;
constexpr std::uint32_t kPlanes = 4;
constexpr std::uint32_t kPages = 3;

bool is_read(FlashClass c) {
    return c == FlashClass::host_read || c == FlashClass::mapping_read || c == FlashClass::gc_read;
}

/// Three tenants with numbers far apart, four priorities, and deadlines that do not follow the order of arrival; some
/// work is nobody's.
WorkTag draw_tag(Random& random) {
    WorkTag whose;
    if (random.below(8) == 0) return whose;
    static constexpr std::uint16_t kTenants[] = {0, 1, 40'000};
    whose.tenant = kTenants[random.below(3)];
    whose.submitted = SimTime{Ps{static_cast<std::int64_t>(random.below(1000))}};
    whose.priority = static_cast<std::uint8_t>(random.below(4));
    if (random.below(3) != 0) whose.deadline = SimTime{Ps{static_cast<std::int64_t>(random.below(1000))}};
    return whose;
}

bool must_keep_order(const SchedulerRequest& a, const SchedulerRequest& b) {
    return a.cls == b.cls && (!is_read(a.cls) || a.whose.same_flow(b.whose));
}

struct Waiting {
    SchedulerRequest request;
    std::uint32_t arrival = 0;
    std::uint32_t overtaken = 0;
};

/// Policy name, independent plane read, multi-plane joining, starvation limit, seed.
using Case = std::tuple<std::string, bool, bool, std::uint32_t, std::uint64_t>;

SchedulerConfig config_of(const Case& c) {
    SchedulerConfig config;
    config.policy = std::get<0>(c);
    config.multi_plane = std::get<2>(c);
    config.starvation_limit = std::get<3>(c);
    return config;
}

class SchedulerContract : public ::testing::TestWithParam<Case> {};

/// What is granted at once leaves the scheduler as a push and a grant would.
TEST_P(SchedulerContract, GrantsAtOnceAsIfPushedAndAskedFor) {
    const auto& [policy, independent, multi_plane, limit, seed] = GetParam();
    const SchedulerConfig config = config_of(GetParam());
    const SchedulerShape shape{1, kDies, independent};
    const auto direct = make_scheduler_policy(config, shape);
    const auto queued = make_scheduler_policy(config, shape);
    Random random(seed);
    std::uint32_t at_once = 0;
    Grant grant, expected;
    for (std::uint32_t tag = 0; tag < 5'000; ++tag) {
        SchedulerRequest r;
        r.tag = tag;
        r.die = static_cast<std::uint16_t>(random.below(kDies));
        r.cls = static_cast<FlashClass>(random.below(kFlashClassCount));
        r.plane = static_cast<std::uint8_t>(random.below(kPlanes));
        GrantQuery query;
        query.idle_dies = std::uint64_t{1} << r.die;
        query.idle_read_planes.fill(query.idle_dies);
        query.classes = class_bit(r.cls);
        queued->push(r);
        if (is_read(r.cls) && direct->grant_at_once(r)) {
            ++at_once;
            ASSERT_EQ(queued->grant(query, expected), GrantAnswer::granted);
            ASSERT_EQ(expected.tags[0], tag);
            ASSERT_EQ(expected.count, 1u);
        } else {
            direct->push(r);
        }
        // The dies take turns apart for questions with programs and without: both must have seen the grant.
        for (const ClassSet classes : {static_cast<ClassSet>(kAllClasses & ~kProgramClasses), ClassSet{kAllClasses}}) {
            query.classes = classes;
            query.idle_dies = random.below(1u << kDies);
            query.idle_read_planes.fill(query.idle_dies);
            const GrantAnswer answer = queued->grant(query, expected);
            ASSERT_EQ(direct->grant(query, grant), answer);
            ASSERT_EQ(direct->queued(0), queued->queued(0));
            if (answer != GrantAnswer::granted) continue;
            ASSERT_EQ(grant.die, expected.die);
            ASSERT_EQ(grant.cls, expected.cls);
            ASSERT_EQ(grant.count, expected.count);
            ASSERT_TRUE(std::equal(grant.tags.begin(), grant.tags.begin() + grant.count, expected.tags.begin()));
        }
    }
    EXPECT_GT(at_once, 100u);
}

TEST_P(SchedulerContract, HoldsUnderRandomTraffic) {
    const auto& [policy, independent, multi_plane, limit, seed] = GetParam();
    const SchedulerConfig config = config_of(GetParam());
    const auto scheduler = make_scheduler_policy(config, SchedulerShape{2, kDies, independent});
    Random random(seed);

    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Waiting>> model;  // (channel, die) -> arrival order
    std::vector<std::uint32_t> granted;
    std::uint32_t tag = 0;
    std::array<std::uint32_t, 2> queued{};
    for (int step = 0; step < 20'000; ++step) {
        const bool filling = step < 15'000;
        const auto channel = static_cast<std::uint16_t>(random.below(2));
        if (filling && random.below(100) < 52) {
            SchedulerRequest r;
            r.tag = tag++;
            r.channel = channel;
            r.die = static_cast<std::uint16_t>(random.below(kDies));
            r.cls = static_cast<FlashClass>(random.below(kFlashClassCount));
            r.plane = static_cast<std::uint8_t>(random.below(kPlanes));
            r.page = r.cls == FlashClass::erase ? 0 : static_cast<std::uint32_t>(random.below(kPages));
            r.block = static_cast<std::uint32_t>(random.below(1000));
            r.bytes = r.cls == FlashClass::erase ? 0 : 4096u << random.below(3);
            r.pushed_at = SimTime{Ps{step}};
            r.whose = draw_tag(random);
            scheduler->push(r);
            model[{channel, r.die}].push_back(Waiting{r, r.tag, 0});
            ++queued[channel];
            granted.push_back(0);
            ASSERT_EQ(scheduler->queued(channel), queued[channel]);
            continue;
        }
        GrantQuery query;
        query.channel = channel;
        query.now = SimTime{Ps{step}};
        query.idle_dies = random.below(1u << kDies);
        if (random.below(3) == 0) query.classes = static_cast<ClassSet>(random.below(kAllClasses + 1u));
        if (independent)
            for (std::uint32_t p = 0; p < kPlanes; ++p)
                query.idle_read_planes[p] = query.idle_dies | random.below(1u << kDies);
        Grant grant;
        if (scheduler->grant(query, grant) != GrantAnswer::granted) {
            if (query.classes != kAllClasses) continue;
            // Nothing may be left that could start, except behind a policy's choice that needs the whole die.
            for (std::uint32_t d = 0; d < kDies; ++d)
                if ((query.idle_dies >> d & 1u) != 0) {
                    ASSERT_TRUE((model[{channel, d}].empty())) << "die " << d;
                }
            continue;
        }
        queued[channel] -= grant.count;
        ASSERT_EQ(scheduler->queued(channel), queued[channel]);
        ASSERT_LT(grant.die, kDies);
        ASSERT_GE(grant.count, 1u);
        ASSERT_LE(grant.count, kPlanes);
        ASSERT_NE(query.classes >> static_cast<unsigned>(grant.cls) & 1u, 0u) << "class not asked for";
        if (!multi_plane || (independent && is_read(grant.cls))) {
            ASSERT_EQ(grant.count, 1u);
        }
        auto& waiting = model[{channel, grant.die}];
        std::uint32_t planes = 0;
        std::uint32_t page = 0;
        std::uint32_t first_arrival = 0;
        for (std::uint32_t i = 0; i < grant.count; ++i) {
            const auto it = std::find_if(waiting.begin(), waiting.end(),
                                         [&](const Waiting& w) { return w.request.tag == grant.tags[i]; });
            ASSERT_NE(it, waiting.end()) << "tag never pushed, granted twice, or of another die";
            ASSERT_EQ(++granted[grant.tags[i]], 1u);
            const SchedulerRequest r = it->request;
            ASSERT_EQ(r.cls, grant.cls);
            ASSERT_EQ(planes >> r.plane & 1u, 0u) << "plane twice";
            planes |= 1u << r.plane;
            if (i == 0) {
                page = r.page;
                first_arrival = it->arrival;
            }
            ASSERT_EQ(r.page, page) << "multi-plane partners with different pages";
            // Never an unready die or plane.
            const bool whole = (query.idle_dies >> grant.die & 1u) != 0;
            const bool plane_ready =
                independent && is_read(r.cls) && (query.idle_read_planes[r.plane] >> grant.die & 1u) != 0;
            ASSERT_TRUE(whole || plane_ready);
            // Order within die, class and plane.
            for (auto older = waiting.begin(); older != it; ++older)
                ASSERT_FALSE(must_keep_order(older->request, r) && older->request.plane == r.plane)
                    << "order within a plane";
            // Order within die and class for what leads the grant, except past planes that are busy.
            for (auto older = waiting.begin(); i == 0 && older != it; ++older) {
                if (!must_keep_order(older->request, r)) continue;
                ASSERT_TRUE(independent && is_read(r.cls) &&
                            (query.idle_read_planes[older->request.plane] >> grant.die & 1u) == 0);
            }
            waiting.erase(it);
        }
        // Starvation bound, for the oldest request of each other class.
        std::array<bool, kFlashClassCount> seen{};
        for (Waiting& w : waiting) {
            const auto c = static_cast<std::size_t>(w.request.cls);
            if (seen[c]) continue;
            seen[c] = true;
            if (w.request.cls != grant.cls && w.arrival < first_arrival) ++w.overtaken;
            // With independent planes a read at the bound may still be passed while its own plane is busy.
            if (limit != 0 && !(independent && is_read(w.request.cls))) {
                ASSERT_LE(w.overtaken, limit);
            }
        }
    }
    // Drain: everything pushed is granted.
    for (std::uint16_t channel = 0; channel < 2; ++channel) {
        GrantQuery all;
        all.channel = channel;
        all.idle_dies = (1u << kDies) - 1;
        if (independent) all.idle_read_planes.fill(all.idle_dies);
        Grant grant;
        while (scheduler->grant(all, grant) == GrantAnswer::granted)
            for (std::uint32_t i = 0; i < grant.count; ++i) ++granted[grant.tags[i]];
        EXPECT_EQ(scheduler->queued(channel), 0u);
    }
    EXPECT_TRUE(std::all_of(granted.begin(), granted.end(), [](std::uint32_t n) { return n == 1; }));
}

INSTANTIATE_TEST_SUITE_P(AllPolicies, SchedulerContract,
                         ::testing::Combine(::testing::ValuesIn(SchedulerPolicies::instance().names()),
                                            ::testing::Bool(), ::testing::Bool(), ::testing::Values(0u, 1u, 7u),
                                            ::testing::Values(1u, 2u)));

// --- what the policies promise -------------------------------------------------------------------------------------

class Scripted {
public:
    explicit Scripted(const std::string& policy, std::uint32_t limit = 0, bool multi_plane = true,
                      bool independent = false, std::uint32_t look_ahead = SchedulerConfig{}.look_ahead) {
        SchedulerConfig config;
        config.look_ahead = look_ahead;
        config.policy = policy;
        config.starvation_limit = limit;
        config.multi_plane = multi_plane;
        scheduler_ = make_scheduler_policy(config, SchedulerShape{1, 64, independent});
    }
    void push(std::uint32_t tag, FlashClass cls, std::uint16_t die = 0, std::uint8_t plane = 0,
              std::uint32_t page = 0) {
        scheduler_->push(SchedulerRequest{tag, 0, die, cls, plane, page});
    }
    std::vector<std::uint32_t> grant(std::uint64_t idle = ~std::uint64_t{0}, ClassSet classes = kAllClasses) {
        GrantQuery query;
        query.idle_dies = idle;
        query.classes = classes;
        Grant g;
        if (scheduler_->grant(query, g) != GrantAnswer::granted) return {};
        return {g.tags.begin(), g.tags.begin() + g.count};
    }

private:
    std::unique_ptr<SchedulerPort> scheduler_;
};

using Tags = std::vector<std::uint32_t>;

TEST(ReadFirst, OrdersGroupsAndKeepsArrivalWithinThem) {
    Scripted s("read_first");
    s.push(0, FlashClass::erase);
    s.push(1, FlashClass::gc_read);
    s.push(2, FlashClass::mapping_write);
    s.push(3, FlashClass::host_write);
    s.push(4, FlashClass::mapping_read);
    s.push(5, FlashClass::host_read);
    s.push(6, FlashClass::gc_write);
    for (const std::uint32_t expected : {4u, 5u, 2u, 3u, 0u, 1u, 6u}) EXPECT_EQ(s.grant(), Tags{expected});
    EXPECT_EQ(s.grant(), Tags{});
}

TEST(Fifo, KeepsArrivalAcrossClasses) {
    Scripted s("fifo");
    s.push(0, FlashClass::erase);
    s.push(1, FlashClass::host_write);
    s.push(2, FlashClass::host_read);
    for (const std::uint32_t expected : {0u, 1u, 2u}) EXPECT_EQ(s.grant(), Tags{expected});
}

TEST(ReadFirst, StarvedClassGoesAfterTheLimit) {
    constexpr std::uint32_t kLimit = 3;
    Scripted s("read_first", kLimit, false);
    s.push(100, FlashClass::gc_write);
    for (std::uint32_t i = 0; i < 10; ++i) s.push(i, FlashClass::host_read);
    for (std::uint32_t i = 0; i < kLimit; ++i) EXPECT_EQ(s.grant(), Tags{i});
    EXPECT_EQ(s.grant(), Tags{100});
    EXPECT_EQ(s.grant(), Tags{kLimit});
}

TEST(ReadFirst, MaskHoldsBackTheDieInsteadOfChangingItsOrder) {
    Scripted s("read_first");
    const auto without_programs =
        static_cast<std::uint8_t>(kAllClasses & ~(1u << static_cast<unsigned>(FlashClass::host_write) |
                                                  1u << static_cast<unsigned>(FlashClass::gc_write)));
    s.push(0, FlashClass::host_write);
    s.push(1, FlashClass::erase);  // must not slip in before the write
    EXPECT_EQ(s.grant(~std::uint64_t{0}, without_programs), Tags{});
    s.push(2, FlashClass::host_read, 7);
    EXPECT_EQ(s.grant(~std::uint64_t{0}, without_programs), Tags{2});
    EXPECT_EQ(s.grant(), Tags{0});
    EXPECT_EQ(s.grant(~std::uint64_t{0}, without_programs), Tags{1});
}

TEST(ReadFirst, DiesTakeTurns) {
    Scripted s("read_first", 0, false);
    for (std::uint32_t i = 0; i < 3; ++i)
        for (const std::uint16_t die : {std::uint16_t{0}, std::uint16_t{5}, std::uint16_t{63}})
            s.push(die * 10u + i, FlashClass::host_read, die);
    for (std::uint32_t i = 0; i < 3; ++i)
        for (const std::uint32_t die : {0u, 5u, 63u}) EXPECT_EQ(s.grant(), Tags{die * 10 + i});
}

TEST(ReadFirst, JoinsPlanesWithTheSamePage) {
    Scripted s("read_first");
    s.push(0, FlashClass::host_write, 0, 1, 4);
    s.push(1, FlashClass::host_write, 0, 1, 5);  // same plane: stays
    s.push(2, FlashClass::host_write, 0, 0, 4);
    s.push(3, FlashClass::host_write, 0, 2, 9);  // other page: stays
    s.push(4, FlashClass::host_write, 0, 2, 4);  // behind 3 on its plane: stays
    s.push(5, FlashClass::gc_write, 0, 3, 4);    // other class: stays
    s.push(6, FlashClass::host_write, 1, 3, 4);  // other die: stays
    EXPECT_EQ(s.grant(1), (Tags{0, 2}));
    EXPECT_EQ(s.grant(1), (Tags{1}));
    EXPECT_EQ(s.grant(1), (Tags{3}));
    EXPECT_EQ(s.grant(1), (Tags{4}));
    EXPECT_EQ(s.grant(1), (Tags{5}));
    EXPECT_EQ(s.grant(2), (Tags{6}));
}

TEST(ReadFirst, LooksSoManyRequestsDeepForPartners) {
    for (const std::uint32_t depth : {2u, 16u, 1024u}) {
        Scripted s("read_first", 0, true, false, depth);
        for (std::uint32_t i = 0; i < depth - 1; ++i) s.push(i, FlashClass::host_read, 0, 0, 7);
        s.push(depth - 1, FlashClass::host_read, 0, 1, 7);
        EXPECT_EQ(s.grant(), (Tags{0, depth - 1}));
        for (std::uint32_t i = depth; i < depth + 2; ++i)
            s.push(i, FlashClass::host_read, 0, 0, 7);  // now as many as it looks at on plane 0
        s.push(depth + 2, FlashClass::host_read, 0, 1, 7);
        EXPECT_EQ(s.grant(), (Tags{depth == 2 ? 2u : 1u}));
    }
}

TEST(Registry, UnknownPolicyNamesTheNearest) {
    SchedulerConfig config;
    config.policy = "readfirst";
    try {
        make_scheduler_policy(config, SchedulerShape{});
        FAIL() << "accepted";
    } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find("did you mean 'read_first'"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace ssdtlm
