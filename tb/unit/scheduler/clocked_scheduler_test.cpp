// SPDX-License-Identifier: Apache-2.0
// The clocked shell with a scripted core: which edge each request and question gets, what waits for what, and when the
// answer comes. Then the C++ policy's cycles by formula, and what comparing two cores reports.
#include "controller/scheduler/clocked/clocked_scheduler.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "controller/scheduler/clocked/compare_core.h"
#include "controller/scheduler/clocked/policy_core.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kHertz = 400'000'000;
constexpr Ps kPeriod{2500};

/// Writes down the edges of its calls. Answers after `cycles` with the oldest request, or with nothing if empty.
class ScriptedCore final : public SchedulerCore {
public:
    struct Log {
        std::vector<std::pair<std::uint32_t, std::uint64_t>> pushes;  // tag, edge
        std::vector<std::uint64_t> questions;
        std::vector<std::uint32_t> held;
        std::uint32_t cycles = 4;
        std::uint32_t push_cycles = 1;
        std::uint32_t depth = 100;
        bool has_signals = false;
        std::vector<std::string> traces;
    };
    explicit ScriptedCore(Log& log) : log_(log) {}
    bool full() const override { return log_.held.size() >= log_.depth; }
    std::uint64_t push(const SchedulerRequest& r, std::uint64_t edge) override {
        log_.pushes.push_back({r.tag, edge});
        log_.held.push_back(r.tag);
        return edge + log_.push_cycles - 1;
    }
    void decide(const GrantQuery&, std::uint64_t edge, CoreDecision& out) override {
        log_.questions.push_back(edge);
        out.cycles = log_.cycles;
        out.answer = log_.held.empty() ? GrantAnswer::nothing : GrantAnswer::granted;
        if (log_.held.empty()) return;
        out.grant.count = 1;
        out.grant.tags[0] = log_.held.front();
        log_.held.erase(log_.held.begin());
    }
    std::string dump() const override { return {}; }
    bool open_trace(const std::string& path) override {
        if (log_.has_signals) log_.traces.push_back(path);
        return log_.has_signals;
    }

private:
    Log& log_;
};

class ClockedShell : public ::testing::Test, private GrantListener {
protected:
    using Pushes = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

    ClockedShell() : scheduler_(agenda_, Clock::hertz(kHertz), cores()) { scheduler_.listen(0, *this); }
    std::vector<std::unique_ptr<SchedulerCore>> cores() {
        std::vector<std::unique_ptr<SchedulerCore>> v;
        v.push_back(std::make_unique<ScriptedCore>(log_));
        return v;
    }
    void at(std::int64_t ps) { agenda_.run_until(SimTime{Ps{ps}}); }
    void push(std::uint32_t tag) {
        SchedulerRequest r;
        r.tag = tag;
        scheduler_.push(r);
    }
    void ask() {
        Grant unused;
        ASSERT_EQ(scheduler_.grant(GrantQuery{}, unused), GrantAnswer::pending);
    }
    void grant_decided(GrantAnswer answer, const Grant& grant) override {
        answers_.push_back({answer == GrantAnswer::granted ? static_cast<int>(grant.tags[0]) : -1,
                            agenda_.now().time_since_epoch().count()});
        if (ask_again_ > 0) {
            --ask_again_;
            ask();
        }
    }

    Agenda agenda_;
    ScriptedCore::Log log_;
    std::vector<std::pair<int, std::int64_t>> answers_;  // tag or -1, time
    int ask_again_ = 0;
    ClockedScheduler scheduler_;
};

TEST_F(ClockedShell, AnEdgeSeesWhatHappenedBeforeIt) {
    at(2499);
    push(1);
    at(2500);  // at an edge: the next one sees it
    push(2);
    at(7501);
    push(3);
    EXPECT_THAT(log_.pushes, (Pushes{{1, 1}, {2, 2}, {3, 4}}));
}

// Up to the last day that SimTime can tell, where a double holds no picosecond any more.
TEST(ClockedEdges, AreExactAtAnyTimeOfARun) {
    Random random(3, 1);
    for (const std::uint64_t hertz :
         {1'000ull, 333'333'333ull, 400'000'000ull, 799'999'999ull, 1'000'000'000ull, 2'700'000'001ull}) {
        const Clock clock = Clock::hertz(hertz);
        for (int i = 0; i < 2'000; ++i) {
            const std::uint64_t longest = std::uint64_t{1} << (10 + i % 53);  // ps
            const auto edge = 1 + random.below(static_cast<std::uint64_t>(static_cast<double>(longest) * 1e-12 *
                                                                          static_cast<double>(hertz)) +
                                               1);
            const SimTime at_edge{clock.cycles(edge)};
            for (const int around : {-1, 0, 1}) {
                Agenda agenda;
                ScriptedCore::Log log;
                std::vector<std::unique_ptr<SchedulerCore>> cores;
                cores.push_back(std::make_unique<ScriptedCore>(log));
                ClockedScheduler scheduler(agenda, clock, std::move(cores));
                agenda.run_until(at_edge + Ps{around});
                scheduler.push(SchedulerRequest{});
                ASSERT_EQ(log.pushes.front().second, edge + (around >= 0))
                    << hertz << " Hz, " << around << " ps from edge " << edge;
            }
        }
    }
}

TEST_F(ClockedShell, OneRequestPerEdgeThenTheQuestion) {
    at(100);
    push(1);
    push(2);
    ask();
    EXPECT_THAT(log_.pushes, (Pushes{{1, 1}, {2, 2}}));
    EXPECT_THAT(log_.questions, ElementsAre(3));
    agenda_.run();
    // Alignment and pipeline: the answer is taken four cycles behind the question's edge.
    EXPECT_THAT(answers_, ElementsAre(std::pair<int, std::int64_t>{1, (3 + 4) * kPeriod.count()}));
    EXPECT_EQ(scheduler_.queued(0), 1u);
}

TEST_F(ClockedShell, RequestsDuringADecisionComeBehindIt) {
    push(1);
    ask();  // edge 2, answered at 6
    at(6000);
    push(2);
    push(3);
    EXPECT_THAT(log_.pushes, (Pushes{{1, 1}}));
    EXPECT_EQ(scheduler_.queued(0), 3u);
    agenda_.run();
    EXPECT_THAT(log_.pushes, (Pushes{{1, 1}, {2, 7}, {3, 8}}));
    EXPECT_EQ(scheduler_.queued(0), 2u);
}

TEST_F(ClockedShell, AQuestionAskedWithinTheAnswerComesBehindTheBacklog) {
    push(1);
    ask();
    at(6000);
    push(2);
    ask_again_ = 1;
    agenda_.run();
    EXPECT_THAT(log_.questions, ElementsAre(2, 8));  // answer at 6, request at 7
    EXPECT_EQ(answers_.back(), (std::pair<int, std::int64_t>{2, 12 * kPeriod.count()}));
}

TEST_F(ClockedShell, AFullCoreHoldsRequestsBackInOrder) {
    log_.depth = 2;
    for (std::uint32_t tag = 1; tag <= 5; ++tag) push(tag);
    EXPECT_EQ(log_.pushes.size(), 2u);
    EXPECT_EQ(scheduler_.counters().held_back, 3u);
    ask_again_ = 5;
    ask();
    agenda_.run();
    std::vector<int> tags;
    for (const auto& a : answers_) tags.push_back(a.first);
    EXPECT_THAT(tags, ElementsAre(1, 2, 3, 4, 5, -1));
    EXPECT_EQ(scheduler_.queued(0), 0u);
}

TEST_F(ClockedShell, ASlowPushDelaysWhatFollows) {
    log_.push_cycles = 3;
    push(1);
    push(2);
    ask();
    EXPECT_THAT(log_.pushes, (Pushes{{1, 1}, {2, 4}}));
    EXPECT_THAT(log_.questions, ElementsAre(7));
}

TEST_F(ClockedShell, IdleTimeCostsNoEvent) {
    push(1);
    EXPECT_EQ(agenda_.pending(), 0u);
    ask();
    EXPECT_EQ(agenda_.pending(), 1u);
    agenda_.run();
    EXPECT_TRUE(agenda_.empty());
}

TEST(ClockedTime, PeriodsThatAreNoWholePicosecondsRoundUpOnce) {
    struct Listener final : GrantListener {
        void grant_decided(GrantAnswer, const Grant&) override {}
    } listener;
    const Clock clock = Clock::hertz(333'000'000);
    Agenda agenda;
    ScriptedCore::Log log;
    std::vector<std::unique_ptr<SchedulerCore>> cores;
    cores.push_back(std::make_unique<ScriptedCore>(log));
    ClockedScheduler scheduler(agenda, clock, std::move(cores));
    scheduler.listen(0, listener);
    for (const std::uint64_t edge : {1ull, 5ull, 999ull, 1'000'000ull, 333'000'000'007ull}) {
        agenda.run_until(SimTime{clock.cycles(edge)} - Ps{1});
        scheduler.push(SchedulerRequest{});
        agenda.run_until(SimTime{clock.cycles(edge)});
        scheduler.push(SchedulerRequest{});
        const std::size_t n = log.pushes.size();
        EXPECT_EQ(log.pushes[n - 2].second, edge);
        EXPECT_EQ(log.pushes[n - 1].second, edge + 1);
    }
}

// --- the policy's cycles ---------------------------------------------------------------------------------------------

class PolicyCycles : public ::testing::Test {
protected:
    void make(SchedulerConfig config, bool independent, std::uint32_t planes) {
        std::unique_ptr<SchedulerPort> port = make_scheduler_policy(config, SchedulerShape{1, 8, independent, planes});
        core_ = std::make_unique<PolicyCore>(
            std::unique_ptr<QueueScheduler>(static_cast<QueueScheduler*>(port.release())), 100);
    }
    void push(std::uint32_t tag, std::uint16_t die, std::uint8_t plane, std::uint32_t page = 0,
              FlashClass cls = FlashClass::host_read) {
        core_->push(SchedulerRequest{tag, 0, die, cls, plane, page}, 0);
    }
    CoreDecision ask(std::uint64_t idle, std::uint64_t plane0 = 0) {
        GrantQuery q;
        q.idle_dies = idle;
        q.idle_read_planes[0] = plane0;
        CoreDecision d;
        core_->decide(q, 0, d);
        return d;
    }
    std::unique_ptr<PolicyCore> core_;
};

TEST_F(PolicyCycles, OneForTheDieOneForTheRequestAndTwo) {
    make({}, false, 4);
    push(1, 3, 0);
    EXPECT_EQ(ask(0xFF).cycles, 4u);
    const CoreDecision nothing = ask(0xFF);
    EXPECT_EQ(nothing.answer, GrantAnswer::nothing);
    EXPECT_EQ(nothing.cycles, 2u);
}

TEST_F(PolicyCycles, EachRequestLookedAtForAPartner) {
    make({}, false, 4);
    push(1, 3, 0, 7);
    push(2, 3, 1, 8);  // other page
    push(3, 3, 2, 7);
    const CoreDecision d = ask(0xFF);
    EXPECT_EQ(d.grant.count, 2u);
    EXPECT_EQ(d.cycles, 2u + 1u + 3u);
}

TEST_F(PolicyCycles, LookingEndsWhenAllPlanesWereSeen) {
    make({}, false, 2);
    for (std::uint32_t tag = 0; tag < 10; ++tag) push(tag, 0, static_cast<std::uint8_t>(tag % 2), 7);
    EXPECT_EQ(ask(1).cycles, 2u + 1u + 2u);
}

TEST_F(PolicyCycles, WithoutJoiningOnlyTheHead) {
    SchedulerConfig config;
    config.multi_plane = false;
    make(config, false, 4);
    push(1, 0, 0, 7);
    push(2, 0, 1, 7);
    EXPECT_EQ(ask(1).cycles, 4u);
}

TEST_F(PolicyCycles, EachDieTriedWithIndependentPlanes) {
    make({}, true, 4);
    push(1, 0, 1);  // wants plane 1
    push(2, 0, 2);
    push(3, 1, 0);                        // wants plane 0
    const CoreDecision d = ask(0, 0b11);  // plane 0 of dies 0 and 1
    EXPECT_EQ(d.grant.tags[0], 3u);
    EXPECT_EQ(d.cycles, 2u + 2u + 3u);
}

// --- comparing -------------------------------------------------------------------------------------------------------

TEST(Compare, ReportsTheFirstDifference) {
    ScriptedCore::Log a, b;
    CompareCore both(5, {"first", std::make_unique<ScriptedCore>(a)}, {"second", std::make_unique<ScriptedCore>(b)},
                     true);
    SchedulerRequest r;
    CoreDecision d;
    both.push(r, 1);
    both.decide(GrantQuery{}, 2, d);
    EXPECT_EQ(d.answer, GrantAnswer::granted);
    both.push(r, 7);
    b.held.clear();
    try {
        both.decide(GrantQuery{}, 8, d);
        FAIL() << "not noticed";
    } catch (const CheckFailed& e) {
        EXPECT_THAT(e.what(), HasSubstr("channel 5, question 2 after 2 requests, at clock edge 8"));
        EXPECT_THAT(e.what(), HasSubstr("first: die 0, host_read, tags 0, after 4 cycles"));
        EXPECT_THAT(e.what(), HasSubstr("second: nothing, after 4 cycles"));
    }
}

TEST(Compare, CyclesCountOnlyIfAsked) {
    for (const bool cycles : {false, true}) {
        ScriptedCore::Log a, b;
        b.cycles = 9;
        CompareCore both(0, {"first", std::make_unique<ScriptedCore>(a)}, {"second", std::make_unique<ScriptedCore>(b)},
                         cycles);
        CoreDecision d;
        if (cycles) {
            EXPECT_THROW(both.decide(GrantQuery{}, 1, d), CheckFailed);
            continue;
        }
        both.decide(GrantQuery{}, 1, d);
        EXPECT_EQ(d.cycles, 4u);
        both.push(SchedulerRequest{}, 6);  // the second is busy until 10
        EXPECT_EQ(a.pushes.front().second, 6u);
        EXPECT_EQ(b.pushes.front().second, 11u);
    }
}

// One file for a channel: of the core the model uses if that has signals, else of the other.
TEST(Compare, TracesTheFirstCoreThatHasSignals) {
    for (const bool first : {false, true})
        for (const bool second : {false, true}) {
            ScriptedCore::Log a, b;
            a.has_signals = first;
            b.has_signals = second;
            CompareCore both(0, {"first", std::make_unique<ScriptedCore>(a)},
                             {"second", std::make_unique<ScriptedCore>(b)}, true);
            EXPECT_EQ(both.open_trace("0.fst"), first || second);
            EXPECT_EQ(a.traces.size(), first ? 1u : 0u);
            EXPECT_EQ(b.traces.size(), second && !first ? 1u : 0u);
        }
}

TEST(Compare, IsFullWhenEitherCoreIs) {
    for (const bool first : {false, true})
        for (const bool second : {false, true}) {
            ScriptedCore::Log a, b;
            a.depth = first ? 0 : 1;
            b.depth = second ? 0 : 1;
            CompareCore both(0, {"first", std::make_unique<ScriptedCore>(a)},
                             {"second", std::make_unique<ScriptedCore>(b)}, true);
            EXPECT_EQ(both.full(), first || second);
        }
}

// --- what the configuration may ask for ------------------------------------------------------------------------------

std::vector<std::string> problems_of(SchedulerConfig config, SchedulerShape shape,
                                     const std::vector<RtlScheduler>& rtl) {
    Agenda agenda;
    try {
        make_scheduler(config, shape, agenda, rtl);
    } catch (const UserError& e) {
        std::vector<std::string> texts;
        for (const Problem& p : e.problems()) texts.push_back(p.text());
        return texts;
    }
    return {};
}

TEST(Implementations, AnRtlBlockMustBeBuiltAndLargeEnough) {
    const std::vector<RtlScheduler> one{{"transaction_scheduler", 16, 8, 256, nullptr}};
    SchedulerConfig config;
    config.implementation = "tlm_clocked";
    EXPECT_THAT(problems_of(config, SchedulerShape{2, 64, false, 8}, {}), IsEmpty());
    config.implementation = "rtl";
    EXPECT_THAT(problems_of(config, SchedulerShape{2, 4, false, 2}, {}),
                ElementsAre(HasSubstr("built without Verilator")));
    config.queue_depth = 300;
    EXPECT_THAT(
        problems_of(config, SchedulerShape{2, 32, false, 2}, one),
        ElementsAre(HasSubstr("32 dies on a channel are too many for the Verilated transaction_scheduler; at most 16"),
                    HasSubstr("300 requests are too many for the Verilated transaction_scheduler; at most 256")));
    config.rtl_module = "transaction_schedular";
    EXPECT_THAT(problems_of(config, SchedulerShape{2, 4, false, 2}, one),
                ElementsAre(HasSubstr("did you mean 'transaction_scheduler'?")));
}

}  // namespace
}  // namespace ssdtlm
