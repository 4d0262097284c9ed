// SPDX-License-Identifier: Apache-2.0
// What ClassQueueScheduler refuses of a policy: the choice of a class that does not wait. How far a grant looks, and
// which planes that leaves idle, of policies with class queues and with flow queues.
#include "controller/scheduler/class_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "common/random/random.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kChannels = 2, kDies = 5;

/// Chooses what it is told.
class Told final : public ClassQueueScheduler {
public:
    explicit Told(std::uint8_t choice)
        : ClassQueueScheduler(SchedulerConfig{}, SchedulerShape{kChannels, kDies, false}), choice_(choice) {}

private:
    std::uint8_t choose(const DieWork&) const override { return choice_; }
    const std::uint8_t choice_;
};

SchedulerRequest request(std::uint32_t tag, std::uint32_t cls) {
    SchedulerRequest r;
    r.tag = tag;
    r.channel = 1;
    r.die = 3;
    r.cls = static_cast<FlashClass>(cls);
    return r;
}

// Two classes wait, and the policy chooses any number. When the third request comes, or one is granted, there is a
// choice.
TEST(ClassQueues, AChoiceMustWait) {
    for (std::uint32_t a = 0; a < kFlashClassCount; ++a)
        for (std::uint32_t b = 0; b < kFlashClassCount; ++b) {
            if (a == b) continue;
            const ClassSet waiting = class_bit(static_cast<FlashClass>(a)) | class_bit(static_cast<FlashClass>(b));
            for (std::uint32_t choice = 0; choice < 256; ++choice) {
                Told scheduler(static_cast<std::uint8_t>(choice));
                scheduler.push(request(0, a));  // nothing to choose from
                std::string refused;
                try {
                    scheduler.push(request(1, b));
                } catch (const SchedulerFault& e) {
                    refused = e.what();
                }
                const std::string expected = choice == a || choice == b
                                                 ? ""
                                                 : "choose() returned class " + std::to_string(choice) +
                                                       " for die 3; waiting there: " + class_names(waiting);
                ASSERT_EQ(refused, expected) << a << " and " << b;
                if (!refused.empty()) continue;
                // The chosen one goes, and then the policy chooses what has gone.
                GrantQuery query;
                query.channel = 1;
                query.idle_dies = 1u << 3;
                Grant grant;
                try {
                    scheduler.grant(query, grant);
                } catch (const SchedulerFault& e) {
                    refused = e.what();
                }
                EXPECT_EQ(grant.tags[0], choice == a ? 0u : 1u);
                EXPECT_NE(refused, "");
            }
        }
}

// Reads of one die in order of arrival: the first that may start is among those that a grant looks at, or none is
// granted, and the planes count for which one waits behind.
TEST(ClassQueues, AGrantLooksAtSoManyRequests) {
    constexpr std::uint32_t kPlanes = 8;
    Random random(3, 6);
    std::uint64_t cuts = 0, all_cuts = 0;
    for (const auto& [policy, look_ahead] : {std::pair{"read_first", 1u},
                                             {"read_first", 2u},
                                             {"read_first", 5u},
                                             {"read_first", 16u},
                                             {"read_first", 4095u},
                                             {"weighted", 1u},
                                             {"weighted", 5u},
                                             {"weighted", 4095u}}) {
        SchedulerConfig config;
        config.policy = policy;
        config.look_ahead = look_ahead;
        const auto scheduler = make_scheduler_policy(config, SchedulerShape{1, 1, true, kPlanes});
        std::deque<std::pair<std::uint32_t, std::uint32_t>> waiting;  // plane, tag
        std::uint32_t tag = 0, held = 0;
        for (int n = 0; n < 20'000; ++n) {
            if (waiting.size() < 40 && random.percent(waiting.size() < 20 ? 70 : 45)) {
                SchedulerRequest r;
                r.tag = tag++;
                r.plane = static_cast<std::uint8_t>(random.below(kPlanes));
                scheduler->push(r);
                waiting.emplace_back(r.plane, r.tag);
                continue;
            }
            GrantQuery query;
            query.classes = class_bit(FlashClass::host_read);
            std::uint32_t idle = 0;
            for (std::uint32_t p = 0; p < kPlanes; ++p)
                if (random.percent(15)) {
                    query.idle_read_planes[p] = 1;
                    idle |= 1u << p;
                }
            const auto may_start = [idle](const auto& w) { return (idle >> w.first & 1u) != 0; };
            const auto found = std::find_if(waiting.begin(), waiting.end(), may_start);
            const auto at = static_cast<std::size_t>(found - waiting.begin());
            Grant grant;
            const GrantAnswer answer = scheduler->grant(query, grant);
            if (found != waiting.end() && at < look_ahead) {
                ASSERT_EQ(answer, GrantAnswer::granted);
                ASSERT_EQ(grant.tags[0], found->second);
                waiting.erase(found);
                held = 0;
            } else {
                ASSERT_EQ(answer, GrantAnswer::nothing);
                std::uint32_t planes = 0;
                for (const auto& w : waiting)
                    if (may_start(w)) planes |= 1u << w.first;
                cuts += held == 0 && planes != 0;
                // Without an idle plane nobody looks.
                if (idle != 0 && !waiting.empty()) held = static_cast<std::uint32_t>(__builtin_popcount(planes));
            }
            ASSERT_EQ(scheduler->planes_held(0)->planes, held);
        }
        EXPECT_EQ(scheduler->planes_held(0)->cuts, cuts);
        EXPECT_EQ(cuts == 0, look_ahead == 4095);
        all_cuts += cuts;
        cuts = 0;
    }
    std::printf("planes were left idle %llu times by a look-ahead\n", static_cast<unsigned long long>(all_cuts));
}

// Programs of one page on the planes of a die: as many come along as a grant looks at, and the planes of the others are
// held until its next grant.
TEST(ClassQueues, PlanesOfPartnersThatAGrantDoesNotSeeAreHeld) {
    constexpr std::uint32_t kPlanes = 4;
    for (const std::uint32_t look_ahead : {1u, 2u, 3u, 4u, 16u}) {
        SchedulerConfig config;
        config.look_ahead = look_ahead;
        const auto scheduler = make_scheduler_policy(config, SchedulerShape{1, 1, false, kPlanes});
        for (std::uint32_t p = 0; p < kPlanes; ++p) {
            SchedulerRequest r;
            r.tag = p;
            r.plane = static_cast<std::uint8_t>(p);
            r.cls = FlashClass::host_write;
            r.page = 7;
            scheduler->push(r);
        }
        GrantQuery query;
        query.classes = class_bit(FlashClass::host_write);
        query.idle_dies = 1;
        for (std::uint32_t left = kPlanes; left != 0;) {
            Grant grant;
            ASSERT_EQ(scheduler->grant(query, grant), GrantAnswer::granted);
            ASSERT_EQ(grant.count, std::min(left, look_ahead));
            left -= grant.count;
            EXPECT_EQ(scheduler->planes_held(0)->planes, left) << look_ahead;
        }
    }
}

}  // namespace
}  // namespace ssdtlm
