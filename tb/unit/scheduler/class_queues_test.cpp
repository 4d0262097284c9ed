// SPDX-License-Identifier: Apache-2.0
// What ClassQueueScheduler refuses of a policy: more queues than a die may have, and the choice of one that does not wait. How far a grant looks, and which planes that
// leaves idle.
#include "controller/scheduler/class_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kChannels = 2, kDies = 5;

/// Has `more` queues beside those of the classes, all for `cls`, and chooses what it is told.
class Told final : public ClassQueueScheduler {
public:
    Told(std::uint32_t more, FlashClass cls, std::uint8_t choice)
        : ClassQueueScheduler(SchedulerConfig{}, SchedulerShape{kChannels, kDies, false}), first_(kFlashClassCount), choice_(choice) {
        for (std::uint32_t q = 0; q < more; ++q) EXPECT_EQ(add_queue(cls), first_ + q);
    }
    static constexpr std::uint32_t kRoom = kQueues - kFlashClassCount;

private:
    std::uint8_t choose(const DieWork&) const override { return choice_; }
    /// Priority 0 goes to the queue of its class, the others to one each.
    std::uint32_t queue_of(const SchedulerRequest& r) const override {
        return r.whose.priority == 0 ? static_cast<std::uint32_t>(r.cls) : first_ + r.whose.priority - 1;
    }
    const std::uint32_t first_;
    const std::uint8_t choice_;
};

TEST(ClassQueues, APolicyAddsQueuesForReadsWhileThereIsRoom) {
    ASSERT_GT(Told::kRoom, 2u);
    for (std::uint32_t c = 0; c < kFlashClassCount; ++c) {
        const auto cls = static_cast<FlashClass>(c);
        const bool reads = cls == FlashClass::host_read || cls == FlashClass::mapping_read || cls == FlashClass::gc_read;
        EXPECT_NO_THROW(Told(0, cls, 0));
        for (std::uint32_t more = 1; more <= Told::kRoom + 2; ++more) {
            if (reads && more <= Told::kRoom)
                EXPECT_NO_THROW(Told(more, cls, 0)) << more << " for class " << c;
            else
                EXPECT_THROW(Told(more, cls, 0), Panic) << more << " for class " << c;
        }
    }
}

SchedulerRequest request(std::uint32_t tag, std::uint32_t queue) {
    SchedulerRequest r;
    r.tag = tag;
    r.channel = 1;
    r.die = 3;
    if (queue < kFlashClassCount)
        r.cls = static_cast<FlashClass>(queue);
    else
        r.whose.priority = static_cast<std::uint8_t>(queue - kFlashClassCount + 1);
    return r;
}

// Two queues wait, and the policy chooses any number. When the third request comes, or one is granted, there is a choice.
TEST(ClassQueues, AChoiceMustWait) {
    constexpr std::uint32_t kMore = 3, kAll = kFlashClassCount + kMore;
    for (std::uint32_t a = 0; a < kAll; ++a)
        for (std::uint32_t b = 0; b < kAll; ++b) {
            if (a == b) continue;
            ClassSet waiting = 0;
            for (const std::uint32_t q : {a, b}) waiting |= class_bit(q < kFlashClassCount ? static_cast<FlashClass>(q) : FlashClass::host_read);
            for (std::uint32_t choice = 0; choice < 256; ++choice) {
                Told scheduler(kMore, FlashClass::host_read, static_cast<std::uint8_t>(choice));
                scheduler.push(request(0, a));  // nothing to choose from
                std::string refused;
                try {
                    scheduler.push(request(1, b));
                } catch (const SchedulerFault& e) {
                    refused = e.what();
                }
                const std::string expected = choice == a || choice == b ? ""
                                                                        : "choose() returned queue " + std::to_string(choice) +
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

// Reads of one die in order of arrival: the first that may start is among those that a grant looks at, or none is granted, and the planes count for which one waits behind.
TEST(ClassQueues, AGrantLooksAtSoManyRequests) {
    constexpr std::uint32_t kPlanes = 8;
    Random random(3, 6);
    std::uint64_t cuts = 0, all_cuts = 0;
    for (const std::uint32_t look_ahead : {1u, 2u, 5u, 16u, 4095u}) {
        SchedulerConfig config;
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

// Programs of one page on the planes of a die: as many come along as a grant looks at, and the planes of the others are held until its next grant.
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
