// SPDX-License-Identifier: Apache-2.0
// Somebody else's C++ scheduler in a back end: a right one works, a wrong one ends the run with one message that says
// whose channel, what and when; whether it answers at once or later.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "common/report/error.h"
#include "controller/scheduler/class_queues.h"
#include "support/forked.h"
#include "unit/channel_ctrl/flash_bench.h"

namespace ssdtlm::user {

enum class Mistake { none, unknown_tag, busy_die, twelve, lazy, second_answer, pending_answer, choice };

/// One queue for the whole channel, oldest first. Makes its mistake from the third grant on. `delay`: 0 answers at
/// once.
class OneQueue final : public SchedulerPort {
public:
    OneQueue(Agenda& agenda, Ps delay, Mistake mistake) : agenda_(agenda), delay_(delay), mistake_(mistake) {}
    void push(const SchedulerRequest& r) override { queue_.push_back(r); }
    GrantAnswer grant(const GrantQuery& query, Grant& out) override {
        answer_ = decide(query);
        if (delay_ == Ps{0}) {
            out = grant_;
            return answer_;
        }
        agenda_.post(agenda_.now() + delay_, Then::to<&OneQueue::answer>(this));
        return GrantAnswer::pending;
    }
    void listen(std::uint16_t, GrantListener& listener) override { listener_ = &listener; }
    std::uint32_t queued(std::uint16_t) const override { return static_cast<std::uint32_t>(queue_.size()); }

private:
    void answer() {
        const bool wrong = grants_ > 3;
        listener_->grant_decided(wrong && mistake_ == Mistake::pending_answer ? GrantAnswer::pending : answer_, grant_);
        if (wrong && mistake_ == Mistake::second_answer) listener_->grant_decided(answer_, grant_);
    }
    GrantAnswer decide(const GrantQuery& query) {
        const bool wrong = grants_ >= 3;
        if (wrong && mistake_ == Mistake::lazy) return GrantAnswer::nothing;
        for (auto it = queue_.begin(); it != queue_.end(); ++it) {
            const bool idle = (query.idle_dies >> it->die & 1u) != 0;
            if (idle == (wrong && mistake_ == Mistake::busy_die) ||
                (query.classes >> static_cast<unsigned>(it->cls) & 1u) == 0)
                continue;
            grant_ = Grant{};
            grant_.die = it->die;
            grant_.cls = it->cls;
            grant_.count = wrong && mistake_ == Mistake::twelve ? 12 : 1;
            grant_.tags[0] = wrong && mistake_ == Mistake::unknown_tag ? 4711 : it->tag;
            queue_.erase(it);
            ++grants_;
            return GrantAnswer::granted;
        }
        return GrantAnswer::nothing;
    }
    Agenda& agenda_;
    const Ps delay_;
    const Mistake mistake_;
    std::deque<SchedulerRequest> queue_;
    Grant grant_;
    GrantAnswer answer_ = GrantAnswer::nothing;
    GrantListener* listener_ = nullptr;
    std::uint32_t grants_ = 0;
};

/// A policy that chooses a class that does not wait.
class WrongChoice final : public ClassQueueScheduler {
public:
    using ClassQueueScheduler::ClassQueueScheduler;

private:
    std::uint8_t choose(const DieWork&) const override { return static_cast<std::uint8_t>(FlashClass::gc_write); }
};

}  // namespace ssdtlm::user

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using user::Mistake;

/// "done N of 24", or what ended the run.
std::string run(Mistake mistake, Ps delay) {
    return in_child([&] {
        NandConfig nand;
        nand.geometry.ways = 4;
        nand.geometry.blocks_per_plane = 4;
        nand.geometry.pages_per_block = 8;
        FlashBench bench("bench", nand, {}, {}, [&](Agenda& agenda) -> std::unique_ptr<SchedulerPort> {
            if (mistake != Mistake::choice) return std::make_unique<user::OneQueue>(agenda, delay, mistake);
            return std::make_unique<user::WrongChoice>(SchedulerConfig{},
                                                       SchedulerShape{1, 4, false, nand.geometry.planes_per_die});
        });
        FlashBench::elaborate();
        for (std::uint32_t d = 0; d < 4; ++d) bench.fill(d, 0, 0, 4);
        try {
            for (std::uint32_t i = 0; i < 16; ++i) bench.read(i % 4, 0, 0, i / 4, 4096);
            for (std::uint32_t i = 0; i < 8; ++i) bench.program(i % 4, 0, 1, i / 4);
            bench.agenda.run();
        } catch (const CheckFailed& e) {
            return std::string(e.what());
        }
        return "done " + std::to_string(bench.done.size()) + " of 24";
    });
}

struct Case {
    Mistake mistake;
    const char* says;
    bool only_later = false;
};

TEST(CheckedScheduler, ARightSchedulerWorksAtOnceAndLater) {
    EXPECT_EQ(run(Mistake::none, Ps{0}), "done 24 of 24");
    EXPECT_EQ(run(Mistake::none, 30ns), "done 24 of 24");
}

TEST(CheckedScheduler, TheFirstMistakeEndsTheRunWithOneMessage) {
    const Case cases[] = {
        {Mistake::unknown_tag,
         "grant of die [0-3], host_(read|write), tags 4711: tag 4711 does not wait: it was never given"},
        {Mistake::busy_die, "grant of die [0-3], host_(read|write), tags [0-9]+: the die is busy; idle dies: "},
        {Mistake::twelve, "tags [0-9]+ 0 0 0 0 0 0 0: 12 requests in one grant; 1 to "},
        {Mistake::lazy, "answered that nothing can start, but die [0-3] is idle and all that waits there"},
        {Mistake::second_answer, "gave an answer, but no question is pending", true},
        {Mistake::pending_answer, "decided that the answer is pending; granted or nothing", true},
    };
    for (const Case& c : cases)
        for (const Ps delay : {Ps{0}, Ps{30'000}}) {
            if (c.only_later && delay == Ps{0}) continue;
            const std::string text = run(c.mistake, delay);
            EXPECT_THAT(text,
                        MatchesRegex("scheduler ssdtlm::user::OneQueue, channel 0, at [0-9]+\\.[0-9]{6} us: (.|\n)*"));
            EXPECT_THAT(text, ::testing::ContainsRegex(c.says));
            EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 0) << "one line";
            if (delay == Ps{0}) std::printf("[   FIGURE ] %s\n", text.c_str());
        }
}

TEST(CheckedScheduler, APolicyThatChoosesWhatDoesNotWait) {
    const std::string text = run(Mistake::choice, Ps{0});
    EXPECT_THAT(
        text,
        HasSubstr(
            "scheduler ssdtlm::user::WrongChoice, channel 0, at 0.000000 us: choose() returned class 5 for die 0; "
            "waiting there: host_read, host_write; the contract is in"));
}

}  // namespace
}  // namespace ssdtlm
