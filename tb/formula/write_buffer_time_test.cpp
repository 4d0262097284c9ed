// SPDX-License-Identifier: Apache-2.0
// What is still in the write buffer, and what a forced write waits for, to the picosecond: between the watermarks, in
// two orders.
#include <gtest/gtest.h>

#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

void expect(const std::string& what, std::int64_t model, std::int64_t formula) {
    std::printf("[   FIGURE ] %s: formula %ld ps, model %ld ps\n", what.c_str(), formula, model);
    EXPECT_EQ(model, formula) << what;
}

/// One die, whose rows are of one unit. Of 8 units in the buffer more than 4 may be dirty: then they are programmed
/// until 2 are left.
SsdConfig device(BufferOrder order) {
    SsdConfig c = grid(1, 1);
    c.ftl.buffer_bytes = 8 * 4096;
    c.ftl.flush_start_percent = 50;
    c.ftl.flush_stop_percent = 25;
    c.ftl.buffer_order = order;
    return c;
}

TEST(WriteBufferTime, WhatTheWatermarksLeave) {
    const SsdConfig c = device(BufferOrder::lru);
    const std::int64_t in_flash =
        reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(true));
    const std::int64_t in_buffer = in_flash - reference::cycles(c.firmware, c.firmware.flash_issue) -
                                   reference::read_issue(c.nand) - c.nand.onfi.t_wb.count() - c.nand.t_read[0].count() -
                                   reference::data_out(c.nand, 4096) - c.ecc.decode_time.count() -
                                   reference::dram(c.dram, 2 * 4096) + reference::dram(c.dram, 4096);
    struct Step {
        HostOp op;
        std::uint64_t unit;
        const char* what = nullptr;
        std::int64_t time = 0;
    };
    const auto run = [&](BufferOrder order, const std::vector<Step>& steps) {
        std::vector<OneByOne::Step> requests;
        for (const Step& s : steps) requests.push_back({s.op, s.unit * 4096});
        const auto t = latencies_one_by_one(device(order), requests);
        ASSERT_EQ(t.size(), steps.size());
        for (std::size_t i = 0; i < t.size(); ++i)
            if (steps[i].what != nullptr) expect(steps[i].what, t[i], steps[i].time);
    };
    // An idle drive below the high watermark programs nothing, one above goes on until the low one.
    const std::vector<Step> written{
        {HostOp::write, 100}, {HostOp::write, 101}, {HostOp::write, 102},
        {HostOp::write, 103}, {HostOp::write, 100}, {HostOp::read, 101, "four dirty units: none leaves", in_buffer},
        {HostOp::write, 104}};
    std::vector<Step> lru = written, arrival = written;
    lru.insert(lru.end(), {{HostOp::read, 100, "five, lru: the one that was written twice stays", in_buffer},
                           {HostOp::read, 104, "and the newest", in_buffer},
                           {HostOp::read, 101, "not the coldest", in_flash},
                           {HostOp::read, 102, "nor the second", in_flash},
                           {HostOp::read, 103, "nor the third", in_flash}});
    arrival.insert(arrival.end(), {{HostOp::read, 100, "five, in the order of arrival: the first leaves", in_flash},
                                   {HostOp::read, 101, "the second", in_flash},
                                   {HostOp::read, 102, "the third", in_flash},
                                   {HostOp::read, 103, "not the fourth", in_buffer},
                                   {HostOp::read, 104, "nor the last", in_buffer}});
    run(BufferOrder::lru, lru);
    run(BufferOrder::arrival, arrival);
    // A flush takes them all.
    run(BufferOrder::lru, {{HostOp::write, 100},
                           {HostOp::read, 100, "before a flush", in_buffer},
                           {HostOp::flush, 0},
                           {HostOp::read, 100, "after it", in_flash}});
}

// In the order of arrival all that came before it is programmed first.
TEST(WriteBufferTime, AForcedWriteWaitsForItselfOnly) {
    const auto forced = [](BufferOrder order, std::uint64_t before) {
        std::vector<OneByOne::Step> steps;
        for (std::uint64_t u = 0; u < before; ++u) steps.push_back({HostOp::write, u * 4096});
        steps.push_back({HostOp::write, 1000 * 4096, 4096, true});
        for (std::uint64_t u = 0; u < before; ++u) steps.push_back({HostOp::read, u * 4096});
        return latencies_one_by_one(device(order), steps);
    };
    const SsdConfig c = device(BufferOrder::lru);
    const std::int64_t alone = forced(BufferOrder::lru, 0)[0], program = reference::program_cycle(c.nand, 1);
    EXPECT_GT(alone, program);
    for (const std::uint64_t before : {1u, 3u, 4u}) {
        const auto lru = forced(BufferOrder::lru, before), arrival = forced(BufferOrder::arrival, before);
        const std::string behind = "a forced write behind " + std::to_string(before) + " others";
        const auto n = static_cast<std::int64_t>(before);
        // With 4 the watermarks let the coldest three go as well, but behind it.
        expect(behind + ", lru", lru[before], alone);
        expect(behind + ", in the order of arrival", arrival[before], alone + n * program);
        EXPECT_EQ(lru[before + 1] < program / 10, before != 4);  // a hit
    }
}

/// Requests of two tenants, each at its time whatever became of the others.
class AtTimes final : public Workload {
public:
    struct Step {
        std::int64_t us;
        std::uint32_t job;
        std::uint64_t unit;
        std::uint32_t units;
    };
    explicit AtTimes(std::vector<Step> steps) : steps_(std::move(steps)) {}
    Next next(SimTime now) override {
        Next n;
        n.state = at_ == steps_.size() ? State::done : State::ready;
        if (n.state == State::done) return n;
        const Step& s = steps_[at_];
        if (const SimTime when{Ps{s.us * 1'000'000}}; now < when) {
            n.state = State::wait;
            n.when = when;
            return n;
        }
        n.request.op = HostOp::write;
        n.request.job = s.job;
        n.request.tag = at_++;
        n.request.offset = s.unit * 4096;
        n.request.bytes = s.units * 4096;
        return n;
    }
    void completed(const HostRequest& r, SimTime issued, SimTime, SimTime now, bool) override {
        latency.resize(steps_.size());
        latency[r.tag] = (now - issued).count();
    }
    std::uint32_t jobs() const override { return 2; }
    std::uint32_t tenant(std::uint32_t job) const override { return job; }
    std::uint32_t depth(std::uint32_t) const override { return 8; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

    std::vector<std::int64_t> latency;  ///< ps, by step

private:
    const std::vector<Step> steps_;
    std::size_t at_ = 0;
};

// One die programs a unit in about 0.8 ms, so that 64 units take 48 ms in a buffer of 32.
TEST(WriteBufferTime, ATenantWaitsForItsOwnUnitsOnly) {
    const auto latencies = [](const std::vector<std::uint32_t>& quotas, const std::vector<AtTimes::Step>& steps) {
        SsdConfig c = grid(1, 1);
        c.ftl.buffer_bytes = 32 * 4096;
        c.ftl.buffer_quotas = quotas;
        c.host.queue_pairs = 2;
        c.host.tenants = Tenants::by_job;
        return nlohmann::json::parse(in_child([&] {
                   AtTimes workload(steps);
                   Simulation simulation(c, workload, {});
                   simulation.run();
                   return nlohmann::json(workload.latency).dump();
               }))
            .get<std::vector<std::int64_t>>();
    };
    const std::int64_t program = reference::program_cycle(grid(1, 1).nand, 1);
    const std::vector<AtTimes::Step> steps{{10'000, 0, 0, 64}, {15'100, 1, 1000, 1}, {30'100, 1, 1001, 8}};
    const std::int64_t alone = latencies({}, {steps[1]})[0], eight = latencies({}, {steps[2]})[0];
    const auto shared = latencies({}, steps), own = latencies({50}, steps);
    expect("a tenant's write beside another's that is too large for its part", own[1], alone);
    expect("eight units", own[2], eight);
    EXPECT_GT(shared[1], alone + program);
    EXPECT_LT(alone, program / 10);
    EXPECT_GT(own[0], shared[0] + 8 * program);  // the large one has half of the room
}

}  // namespace
}  // namespace ssdtlm
