// SPDX-License-Identifier: Apache-2.0
// What ClassQueueScheduler refuses of a policy: more queues than a die may have, and the choice of one that does not wait.
#include "controller/scheduler/class_queues.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace ssdtlm
