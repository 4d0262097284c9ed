// SPDX-License-Identifier: Apache-2.0
// The contract in host_block/ports/io_scheduler.h, for every registered scheduler: random streams, and a drive that is
// always full.
#include <map>

#include "common/report/error.h"
#include "support/seeds.h"
#include "unit/block/full_drive.h"
#include "unit/block/request_streams.h"

namespace ssdtlm {
namespace {

class AnyScheduler : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, AnyScheduler, testing::ValuesIn(IoSchedulers::instance().names()), [](const auto& name) {
    std::string text = name.param;
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
});

/// Plays a stream against two schedulers of the kind and checks what the contract says.
class ContractPlay {
public:
    ContractPlay(const std::string& name, std::uint64_t seed) : player_(draw_shape(seed), seed) {
        IoSchedulerSetup setup;
        setup.queue_depth = shape_.depth;
        setup.queueing = shape_.depth > 1;
        one_ = make_io_scheduler(name, setup);
        two_ = make_io_scheduler(name, setup);
    }
    void play(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            player_.pass_time();
            switch (player_.draw_step()) {
                case StreamPlayer::Step::insert:
                    insert();
                    break;
                case StreamPlayer::Step::ask:
                case StreamPlayer::Step::dispatch:
                    while (player_.in_drive.size() < shape_.depth && dispatch()) {
                    }
                    break;
                case StreamPlayer::Step::complete:
                    if (!player_.in_drive.empty()) complete(player_.random().below(player_.in_drive.size()));
                    break;
                case StreamPlayer::Step::gate:
                    player_.turn_a_gate();
                    break;
                case StreamPlayer::Step::cancel:
                    cancel();
                    break;
            }
            ASSERT_EQ(one_->waiting(), waiting_.size());
        }
        player_.gate.open.assign(shape_.contexts, true);
        drain();
    }
    std::uint64_t merges = 0, nulls = 0, asked = 0;

private:
    StreamPlayer::Shape draw_shape(std::uint64_t seed) {
        Random random(seed, 3);
        shape_.contexts = 1 + static_cast<std::uint32_t>(random.below(8));
        shape_.depth = 1u << random.below(6);
        shape_.one_class = random.percent(50);
        return shape_;
    }
    bool barrier_waits() const {
        return std::any_of(waiting_.begin(), waiting_.end(), [](const auto& w) { return w.second->barrier; });
    }
    void insert() {
        const BlockRequest r = player_.draw();
        bool front = false, front_two = false;
        BlockRequest* const into = one_->find_merge(r, front);
        ASSERT_EQ(two_->find_merge(r, front_two), into);
        if (into == nullptr) {
            BlockRequest& stored = player_.store(r);
            waiting_[++arrivals_] = &stored;
            arrival_of_[stored.handle] = arrivals_;
            one_->insert(stored, player_.now);
            two_->insert(stored, player_.now);
            return;
        }
        ++merges;
        ASSERT_EQ(front, front_two);
        ASSERT_TRUE(std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& w) { return w.second == into; }));
        ASSERT_FALSE(barrier_waits());
        ASSERT_FALSE(r.barrier || into->barrier || r.fua || into->fua);
        ASSERT_EQ(into->op, r.op);
        ASSERT_NE(r.op, HostOp::flush);
        ASSERT_EQ(into->sync, r.sync);
        ASSERT_EQ(into->context.number, r.context.number);
        ASSERT_EQ(front ? r.end() : into->end(), front ? into->offset : r.offset);
        const std::uint64_t old = into->offset;
        StreamPlayer::enlarge(*into, r, front);
        one_->merged(*into, old);
        two_->merged(*into, old);
    }
    bool dispatch() {
        BlockRequest* const r = one_->dispatch(player_.now, player_.gate);
        EXPECT_EQ(two_->dispatch(player_.now, player_.gate), r);
        EXPECT_EQ(one_->ask_again(), two_->ask_again());
        if (r == nullptr) {
            ++nulls;
            honest();
            return false;
        }
        const std::uint64_t arrival = arrival_of_[r->handle];
        const auto it = waiting_.find(arrival);
        EXPECT_TRUE(it != waiting_.end() && it->second == r) << "was not waiting";
        if (it == waiting_.end()) return false;
        EXPECT_TRUE(player_.gate.may_dispatch(r->context.number));
        for (const auto& [when, other] : waiting_) {
            if (when >= arrival) break;
            EXPECT_FALSE(r->barrier) << "a barrier goes before what came earlier";
            EXPECT_FALSE(other->barrier) << "passes a barrier";
        }
        waiting_.erase(it);
        player_.in_drive.push_back(r->handle);
        return true;
    }
    /// Nothing goes now: all gates are closed, something is in the drive, or a time is named.
    void honest() {
        bool any_open = false;
        for (const auto& [arrival, r] : waiting_) {
            if (r->barrier && arrival != waiting_.begin()->first) break;
            any_open |= player_.gate.may_dispatch(r->context.number);
            if (r->barrier) break;
        }
        if (!any_open || !player_.in_drive.empty()) return;
        ++asked;
        ASSERT_NE(one_->ask_again(), kNever) << one_->dump();
        ASSERT_GT(one_->ask_again(), player_.now) << one_->dump();
        ASSERT_LE(one_->ask_again() - player_.now, Ps{10'000'000'000'000}) << one_->dump();
    }
    void complete(std::size_t i) {
        const std::uint32_t handle = player_.in_drive[i];
        player_.in_drive.erase(player_.in_drive.begin() + static_cast<std::ptrdiff_t>(i));
        one_->completed(player_.at(handle), player_.now);
        two_->completed(player_.at(handle), player_.now);
        player_.release(handle);
    }
    void cancel() {
        const std::vector<std::uint32_t> handles = player_.in_drive;
        player_.in_drive.clear();
        for (const std::uint32_t h : handles) {
            one_->cancelled(player_.at(h), player_.now);
            two_->cancelled(player_.at(h), player_.now);
        }
        for (const std::uint32_t h : handles) {
            waiting_[++arrivals_] = &player_.at(h);
            arrival_of_[h] = arrivals_;
            one_->insert(player_.at(h), player_.now);
            two_->insert(player_.at(h), player_.now);
        }
    }
    /// Nothing new comes: all goes, at the times that the scheduler names when the drive is empty.
    void drain() {
        int idle = 0;
        while (!waiting_.empty() && !testing::Test::HasFailure()) {
            if (player_.in_drive.size() < shape_.depth && dispatch()) {
                idle = 0;
                continue;
            }
            if (!player_.in_drive.empty()) {
                complete(0);
            } else {
                player_.now = one_->ask_again();
                ASSERT_LT(++idle, 10) << "asks again and again\n" << one_->dump();
            }
        }
        while (!player_.in_drive.empty()) complete(0);
        ASSERT_EQ(one_->waiting(), 0u);
        ASSERT_EQ(one_->dispatch(player_.now, player_.gate), nullptr);
    }

    StreamPlayer::Shape shape_;
    StreamPlayer player_;
    std::unique_ptr<IoScheduler> one_, two_;
    std::map<std::uint64_t, BlockRequest*> waiting_;  // by arrival
    std::map<std::uint32_t, std::uint64_t> arrival_of_;
    std::uint64_t arrivals_ = 0;
};

TEST_P(AnyScheduler, KeepsTheContract) {
    std::uint64_t merges = 0, nulls = 0;
    for (std::uint64_t seed = seed_offset(); seed < seed_offset() + share_of(200); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ContractPlay play(GetParam(), seed);
        play.play(500);
        if (HasFailure()) return;
        merges += play.merges;
        nulls += play.nulls;
    }
    EXPECT_GT(merges, 100u);
    EXPECT_GT(nulls, 100u);
}

/// Three contexts read, one writes, 16 requests each; the drive takes 100 us for a request and 8 at a time.
TEST_P(AnyScheduler, LetsNoneOfEqualsStarve) {
    FullDrive d;
    d.make(GetParam());
    for (int i = 0; i < 4; ++i) d.add();
    d.tenants[3].op = HostOp::write;
    d.run(SimTime{Ps{7'000'000'000'000}});
    std::uint64_t all = 0;
    for (const FullDrive::Tenant& t : d.tenants) all += t.served;
    EXPECT_GT(all, 280'000u) << "the drive is held back";  // it could do twice as many
    for (const FullDrive::Tenant& t : d.tenants) {
        // The longest rule of all: a write waits 5 s for its deadline, then for the batches before it.
        EXPECT_LT(t.longest, Ps{5'500'000'000'000});
        EXPECT_GT(t.served, all / 10);
    }
}

TEST(IoSchedulers, UnknownNamesAreRefused) {
    EXPECT_THROW(make_io_scheduler("deadlin", {}), UserError);
}

}  // namespace
}  // namespace ssdtlm
