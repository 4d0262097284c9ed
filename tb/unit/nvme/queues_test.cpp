// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/queues.h"

#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

using namespace nvme;

struct Queues : testing::Test {
    Queues() : set(4, 64) {
        set.create_cq(1, 0x1000, 4, 3, true);
        set.create_sq(1, 1, 0x2000, 4, {});
    }
    QueueSet set;
};

TEST_F(Queues, TailDoorbellWrapsAndRemembersItsTime) {
    SubmissionQueue& q = set.sq(1);
    EXPECT_EQ(set.ring_tail(1, 2, SimTime{10ns}), DoorbellResult::ok);
    EXPECT_EQ(set.ring_tail(1, 3, SimTime{20ns}), DoorbellResult::ok);
    EXPECT_EQ(q.waiting(), 3u);
    EXPECT_EQ(q.rung_at(0), SimTime{10ns});
    EXPECT_EQ(q.rung_at(1), SimTime{10ns});
    EXPECT_EQ(q.rung_at(2), SimTime{20ns});
    q.fetch = q.head = 3;
    EXPECT_EQ(q.waiting(), 0u);
    EXPECT_EQ(set.ring_tail(1, 1, SimTime{30ns}), DoorbellResult::ok);  // slots 3 and 0
    EXPECT_EQ(q.waiting(), 2u);
    EXPECT_EQ(q.rung_at(3), SimTime{30ns});
    EXPECT_EQ(q.rung_at(0), SimTime{30ns});
    EXPECT_EQ(q.rung_at(1), SimTime{10ns});
}

TEST_F(Queues, TailDoorbellFaults) {
    EXPECT_EQ(set.ring_tail(2, 1, SimTime{}), DoorbellResult::no_queue);
    EXPECT_EQ(set.ring_tail(99, 1, SimTime{}), DoorbellResult::no_queue);
    EXPECT_EQ(set.ring_tail(1, 4, SimTime{}), DoorbellResult::bad_value);  // not below the size
    EXPECT_EQ(set.ring_tail(1, 0, SimTime{}), DoorbellResult::bad_value);  // same value
    EXPECT_EQ(set.ring_tail(1, 3, SimTime{}), DoorbellResult::ok);         // full: size - 1 entries
    EXPECT_EQ(set.ring_tail(1, 0, SimTime{}), DoorbellResult::bad_value);  // no free slot
    EXPECT_EQ(set.sq(1).tail, 3u);
    set.sq(1).head = set.sq(1).fetch = 1;
    EXPECT_EQ(set.ring_tail(1, 1, SimTime{}), DoorbellResult::bad_value);
    EXPECT_EQ(set.ring_tail(1, 0, SimTime{}), DoorbellResult::ok);
}

TEST_F(Queues, CompletionQueuePhaseWrapAndFull) {
    CompletionQueue& q = set.cq(1);
    std::vector<std::uint64_t> addresses;
    std::vector<bool> phases;
    for (int lap = 0; lap < 3; ++lap) {
        for (int i = 0; i < 4; ++i) {
            ASSERT_FALSE(q.full());
            bool p = false;
            addresses.push_back(q.push(p));
            phases.push_back(p);
            const auto head = static_cast<std::uint32_t>((i + 1) % 4);
            EXPECT_EQ(set.ring_head(1, head), DoorbellResult::ok);
        }
    }
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        EXPECT_EQ(addresses[i], 0x1000 + 16 * (i % 4));
        EXPECT_EQ(phases[i], (i / 4) % 2 == 0);  // 1 in the first lap, then inverted at each wrap
    }
    bool p = false;
    for (int i = 0; i < 3; ++i) q.push(p);
    EXPECT_TRUE(q.full());  // usable depth is size - 1
    EXPECT_EQ(q.posted(), 3u);
}

TEST_F(Queues, HeadDoorbellFaults) {
    EXPECT_EQ(set.ring_head(2, 1), DoorbellResult::no_queue);
    EXPECT_EQ(set.ring_head(1, 1), DoorbellResult::bad_value);  // nothing posted
    bool p = false;
    set.cq(1).push(p);
    EXPECT_EQ(set.ring_head(1, 2), DoorbellResult::bad_value);  // more than posted
    EXPECT_EQ(set.ring_head(1, 4), DoorbellResult::bad_value);
    EXPECT_EQ(set.ring_head(1, 1), DoorbellResult::ok);
    EXPECT_EQ(set.ring_head(1, 1), DoorbellResult::bad_value);  // same value
}

TEST_F(Queues, CommandIdentifiers) {
    SubmissionQueue& q = set.sq(1);
    for (const std::uint16_t cid : std::initializer_list<std::uint16_t>{0, 63, 64, 0xFFFF}) {
        EXPECT_FALSE(q.cid_in_use(cid));
        q.take_cid(cid);
        EXPECT_TRUE(q.cid_in_use(cid));
    }
    q.free_cid(63);
    EXPECT_FALSE(q.cid_in_use(63));
    EXPECT_TRUE(q.cid_in_use(64));
}

TEST_F(Queues, BindingCountsAndClear) {
    set.create_sq(2, 1, 0x3000, 8, {});
    EXPECT_EQ(set.cq(1).bound_sqs, 2u);
    set.delete_sq(1);
    EXPECT_EQ(set.cq(1).bound_sqs, 1u);
    EXPECT_FALSE(set.has_sq(1));
    EXPECT_TRUE(set.any_io_queue());
    set.clear();
    EXPECT_FALSE(set.any_io_queue());
}

}  // namespace
}  // namespace ssdtlm
