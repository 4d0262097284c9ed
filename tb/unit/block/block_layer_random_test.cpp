// SPDX-License-Identifier: Apache-2.0
// Random jobs over every scheduler: each request completes once and whole, its stages add up, and at no time is more in
// the drive or in the scheduler than may be; also with commands that fail, resets, and virtual queues.
#include <gtest/gtest.h>

#include <map>

#include "block_bench.h"

namespace ssdtlm {
namespace {

std::vector<HostRequest> random_list(Random& random, std::uint32_t jobs, std::uint32_t count, std::uint64_t blocks) {
    std::vector<std::uint64_t> end(jobs, 0);
    std::vector<HostRequest> list;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto job = static_cast<std::uint32_t>(random.below(jobs));
        const auto dice = random.below(100);
        if (dice < 3) {
            list.push_back(request_of(HostOp::flush, 0, 0, job));
            continue;
        }
        const HostOp op = dice < 8 ? HostOp::trim : dice < 50 ? HostOp::write : HostOp::read;
        const auto length = static_cast<std::uint32_t>(1 + random.below(random.below(8) == 0 ? 600 : 16));
        // Half of them go on where the job was, so that there is something to merge.
        std::uint64_t at = random.below(2) == 0 ? end[job] : random.below(blocks - length + 1);
        if (at + length > blocks) at = 0;
        end[job] = at + length;
        HostRequest r = request_of(op, at * 512, length * 512, job);
        r.fua = op == HostOp::write && random.below(10) == 0;
        r.stream = static_cast<std::uint16_t>(op == HostOp::write ? random.below(2) : 0);
        list.push_back(r);
    }
    return list;
}

struct Case {
    std::string scheduler;
    std::uint64_t seed;
};

void run(const Case& c) {
    Random random(c.seed);
    const auto job_count = static_cast<std::uint32_t>(1 + random.below(5));
    const std::uint32_t count = 1500;
    BlockBench b(Jobs(random_list(random, job_count, count, drive_info().blocks),
                      static_cast<std::uint32_t>(1 + random.below(40))));
    b.config.scheduler = c.scheduler;
    b.config.queue_depth = static_cast<std::uint32_t>(1 + random.below(33));
    b.config.nr_requests = static_cast<std::uint32_t>(random.below(2) * (1 + random.below(60)));
    b.config.max_sectors = static_cast<std::uint32_t>(4096 << random.below(6));
    b.config.plug = static_cast<std::uint32_t>(random.below(2) == 0 ? 1 : 1 + random.below(20));
    b.config.merges = random.below(4) != 0;
    b.config.vm_queue_depth = static_cast<std::uint32_t>(random.below(3) == 0 ? 1 + random.below(8) : 0);
    b.config.weights = {static_cast<std::uint32_t>(1 + random.below(1000))};
    b.config.nass.aggre = random.below(2) == 0;
    b.config.nass.anti = random.below(2) == 0;
    b.config.nass.seq = random.below(2) == 0;
    b.config.nass.window_completions = 16;
    if (random.below(2) == 0) b.info.borders = {100 * 512, 5000 * 512};
    const bool by_tenant = random.below(2) == 0;
    const bool resets = random.below(2) == 0, failures = random.below(2) == 0;
    DriveOfTest& drive = b.make(by_tenant);

    std::map<HostOp, std::uint64_t> asked, served;
    for (const HostRequest& r : b.jobs.requests) asked[r.op] += r.bytes;
    drive.pump();
    while (!drive.in_drive.empty() || drive.wake != kNever) {
        ASSERT_LE(drive.in_drive.size(), b.layer->queue_depth());
        ASSERT_EQ(drive.in_drive.size(), b.layer->in_drive());
        ASSERT_LE(b.layer->scheduler()->waiting() + drive.in_drive.size(), b.layer->nr_requests());
        for (const auto& in : drive.in_drive) {
            if (in.request.op == HostOp::read || in.request.op == HostOp::write) {
                ASSERT_LE(in.request.bytes, b.config.max_sectors);
            }
            for (const std::uint64_t border : b.info.borders)
                ASSERT_FALSE(in.request.offset < border && in.request.offset + in.request.bytes > border);
        }
        if (drive.in_drive.empty() || (drive.wake != kNever && random.below(4) == 0)) {
            drive.now = drive.wake;
        } else if (resets && random.below(60) == 0) {
            drive.reset();
        } else {
            const std::size_t i = random.below(drive.in_drive.size());
            served[drive.in_drive[i].request.op] += drive.in_drive[i].request.bytes;
            const SimTime at = drive.now + Ps{static_cast<std::int64_t>(random.below(20'000'000))};
            drive.end(i, drive.wake != kNever ? std::min(at, drive.wake) : at, !failures || random.below(20) != 0);
        }
        drive.pump();
    }
    EXPECT_TRUE(drive.done) << b.layer->dump();
    EXPECT_EQ(b.jobs.ended, std::vector<std::uint32_t>(count, 1)) << b.layer->dump();
    EXPECT_EQ(asked, served);
    EXPECT_EQ(drive.seen.size(), count);
    EXPECT_EQ(b.layer->counters().completed, count);
    EXPECT_GT(b.layer->counters().dispatched, 0u);
    if (!failures) {
        EXPECT_EQ(b.jobs.failed, 0u);
    }
    // What the contexts had, in sum, is what the requests say themselves.
    std::int64_t requests_ps = 0, latency = 0;
    for (const ContextUse& use : b.layer->uses(drive.now)) requests_ps += use.requests_ps;
    for (const auto& seen : drive.seen) latency += (seen.now - seen.issued).count();
    EXPECT_EQ(requests_ps, latency);
}

TEST(BlockLayerRandom, EveryRequestOnceWithEveryScheduler) {
    for (const std::string& name : IoSchedulers::instance().names())
        for (std::uint64_t seed = 1; seed <= 15; ++seed) {
            SCOPED_TRACE(name + ", seed " + std::to_string(seed));
            run({name, seed});
            if (testing::Test::HasFatalFailure()) return;
        }
}

// The same calls give the same commands.
TEST(BlockLayerRandom, IsDeterministic) {
    for (const std::string& name : IoSchedulers::instance().names()) {
        std::vector<std::uint64_t> before;
        for (int twice = 0; twice < 2; ++twice) {
            Random random(5);
            BlockBench b(Jobs(random_list(random, 3, 400, 10'000), 8));
            b.config.scheduler = name;
            b.config.queue_depth = 4;
            DriveOfTest& drive = b.make();
            drive.run(Ps{5'000'000});
            std::vector<std::uint64_t> order;
            for (const HostRequest& c : drive.commands) order.push_back(c.offset + c.bytes);
            if (twice == 1) {
                EXPECT_EQ(order, before) << name;
            }
            before = order;
        }
    }
}

}  // namespace
}  // namespace ssdtlm
