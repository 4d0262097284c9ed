// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_workload.h"

#include <gtest/gtest.h>

#include <deque>

namespace ssdtlm {
namespace {

std::shared_ptr<Trace> make_trace(const std::vector<std::int64_t>& us, std::uint32_t bytes = 4096) {
    auto t = std::make_shared<Trace>();
    for (std::size_t i = 0; i < us.size(); ++i) {
        TraceRecord r;
        r.t = Ps{us[i] * 1'000'000};
        r.offset = i * bytes;
        r.bytes = bytes;
        r.stream = static_cast<std::uint32_t>(i) & 0xFFFFFFu;
        t->records.push_back(r);
    }
    t->stats.duration = t->records.back().t;
    return t;
}

SimTime at_us(std::int64_t us) {
    return SimTime{Ps{us * 1'000'000}};
}
using State = Workload::State;

TEST(TraceWorkload, TimedFollowsTheStampsFromTheFirstCall) {
    TraceWorkload w(make_trace({0, 0, 5, 20}), {});
    EXPECT_EQ(w.next(at_us(100)).state, State::ready);
    EXPECT_EQ(w.next(at_us(100)).state, State::ready);
    auto n = w.next(at_us(100));
    EXPECT_EQ(n.state, State::wait);
    EXPECT_EQ(n.when, at_us(105));
    EXPECT_EQ(w.next(at_us(105)).state, State::ready);
    EXPECT_EQ(w.next(at_us(105)).when, at_us(120));
    n = w.next(at_us(120));
    EXPECT_EQ(n.state, State::ready);
    EXPECT_EQ(n.request.offset, 3u * 4096);
    EXPECT_EQ(w.next(at_us(120)).state, State::done);
    EXPECT_EQ(w.late(), 0u);
    EXPECT_DOUBLE_EQ(w.progress(at_us(120)), 1.0);
}

TEST(TraceWorkload, IsPlayedAgainBehindItsLastStamp) {
    TraceReplayOptions o;
    o.loops = 3;
    TraceWorkload w(make_trace({0, 10}), o);
    for (const std::int64_t us : {0, 10, 10, 20, 20, 30}) {
        auto n = w.next(at_us(us));
        ASSERT_EQ(n.state, State::ready) << us;
        w.completed(n.request, at_us(us), at_us(us), at_us(us), true);
    }
    EXPECT_EQ(w.next(at_us(30)).state, State::done);
    EXPECT_EQ(w.issued(), 6u);
    EXPECT_DOUBLE_EQ(w.progress(at_us(30)), 1.0);
    TraceWorkload early(make_trace({0, 10}), o);
    early.next(at_us(0));
    EXPECT_EQ(early.next(at_us(5)).when, at_us(10));
}

TEST(TraceWorkload, TimeScaleStretches) {
    TraceReplayOptions o;
    o.time_scale = 0.25;
    TraceWorkload w(make_trace({0, 8}), o);
    w.next(at_us(0));
    EXPECT_EQ(w.next(at_us(0)).when, at_us(2));
}

TEST(TraceWorkload, TimedHonoursTheBoundAndCountsLateRequests) {
    TraceReplayOptions o;
    o.max_outstanding = 1;
    TraceWorkload w(make_trace({0, 1, 2}), o);
    const auto first = w.next(at_us(0));
    EXPECT_EQ(w.next(at_us(0)).state, State::wait);
    EXPECT_EQ(w.next(at_us(1)).state, State::blocked);
    w.completed(first.request, at_us(0), at_us(0), at_us(4), true);
    EXPECT_EQ(w.next(at_us(4)).state, State::ready);
    EXPECT_EQ(w.next(at_us(4)).state, State::blocked);
    EXPECT_EQ(w.late(), 1u);
    EXPECT_EQ(w.latest(), Ps{3'000'000});
}

TEST(TraceWorkload, ClosedLoopKeepsExactlyDepthOutstanding) {
    TraceReplayOptions o;
    o.mode = TraceReplayOptions::Mode::closed;
    o.depth = 3;
    TraceWorkload w(make_trace({0, 100, 200, 300, 400, 500, 600}), o);
    std::deque<HostRequest> out;
    std::uint64_t expected = 0;
    for (std::int64_t t = 0; t < 100; ++t) {
        for (auto n = w.next(at_us(t)); n.state != State::blocked; n = w.next(at_us(t))) {
            if (n.state == State::done) break;
            ASSERT_EQ(n.state, State::ready);
            EXPECT_EQ(n.request.offset, 4096 * expected++);
            out.push_back(n.request);
        }
        EXPECT_LE(out.size(), 3u);
        if (expected < 7) {
            EXPECT_EQ(out.size(), 3u);
        }
        if (out.empty()) break;
        w.completed(out.front(), at_us(t), at_us(t), at_us(t + 1), true);
        out.pop_front();
    }
    EXPECT_EQ(expected, 7u);
    EXPECT_EQ(w.depth(0), 3u);
}

TEST(TraceWorkload, LongRequestsAreSplitWithoutGap) {
    TraceReplayOptions o;
    o.max_request_bytes = 4096;
    o.jobs = 2;
    TraceWorkload w(make_trace({0, 0}, 10240), o);
    std::uint64_t next = 0;
    for (int i = 0; i < 6; ++i) {
        const auto n = w.next(at_us(0));
        ASSERT_EQ(n.state, State::ready);
        EXPECT_EQ(n.request.offset, next);
        EXPECT_EQ(n.request.bytes, i % 3 == 2 ? 2048u : 4096u);
        EXPECT_EQ(n.request.job, i < 3 ? 0u : 1u);
        next += n.request.bytes;
    }
    EXPECT_EQ(next, 20480u);
    EXPECT_EQ(w.next(at_us(0)).state, State::done);
}

TEST(TraceWorkload, FlushAndTrimStayWhole) {
    auto t = make_trace({0, 0});
    t->records[0].op_code = static_cast<std::uint32_t>(HostOp::flush);
    t->records[0].bytes = 0;
    t->records[1].op_code = static_cast<std::uint32_t>(HostOp::trim);
    t->records[1].bytes = 1u << 28;
    TraceWorkload w(t, {});
    EXPECT_EQ(w.next(at_us(0)).request.op, HostOp::flush);
    EXPECT_EQ(w.next(at_us(0)).request.bytes, 1u << 28);
    EXPECT_EQ(w.next(at_us(0)).state, State::done);
}

TEST(TraceWorkload, BadOptionsAreAllReported) {
    TraceReplayOptions o;
    o.time_scale = -1;
    o.jobs = 0;
    o.max_request_bytes = 100;
    try {
        TraceWorkload w(make_trace({0}), o);
        FAIL();
    } catch (const UserError& e) {
        EXPECT_EQ(e.problems().size(), 3u);
    }
}

}  // namespace
}  // namespace ssdtlm
