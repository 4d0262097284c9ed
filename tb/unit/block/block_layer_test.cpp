// SPDX-License-Identifier: Apache-2.0
#include "host_block/block_layer.h"

#include <gtest/gtest.h>

#include "block_bench.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kPage = 4096;
constexpr Ps kService{10'000'000};

std::vector<HostRequest> sequential(std::uint32_t count, HostOp op = HostOp::read, std::uint32_t bytes = kPage) {
    std::vector<HostRequest> all;
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(request_of(op, std::uint64_t{i} * bytes, bytes));
    return all;
}

// One request is in the drive, and the 31 others of the stream wait and become one; then the one that the first has
// made room for is alone, and so on: two commands for 32 requests.
TEST(BlockLayer, MergesWhatWaitsForTheOnlyTag) {
    constexpr std::uint32_t kDepth = 32, kRounds = 20;
    BlockBench b(Jobs(sequential(kDepth * kRounds), kDepth));
    b.config.queue_depth = 1;
    b.config.nr_requests = kDepth;
    DriveOfTest& drive = b.make();
    drive.run(kService);
    EXPECT_EQ(drive.commands.size(), 2 * kRounds);
    for (std::size_t i = 0; i < drive.commands.size(); ++i)
        EXPECT_EQ(drive.commands[i].bytes, i % 2 == 0 ? kPage : (kDepth - 1) * kPage) << i;
    EXPECT_EQ(b.layer->counters().back_merges, std::uint64_t{kRounds} * (kDepth - 2));
    EXPECT_EQ(b.jobs.ended, std::vector<std::uint32_t>(kDepth * kRounds, 1));
    // Each waits for what was in the drive when it came: nothing, one command, or two.
    EXPECT_EQ(drive.seen.front().block_queue, Ps{0});
    EXPECT_EQ(drive.seen[1].block_queue, kService);
}

TEST(BlockLayer, MergesDescendingRequestsInFront) {
    std::vector<HostRequest> list{request_of(HostOp::write, 0, kPage)};
    for (std::uint32_t i = 20; i > 10; --i) list.push_back(request_of(HostOp::write, std::uint64_t{i} * kPage, kPage));
    BlockBench b{Jobs(list)};
    b.config.queue_depth = 1;
    b.config.nr_requests = 32;
    DriveOfTest& drive = b.make();
    drive.run(kService);
    ASSERT_EQ(drive.commands.size(), 2u);
    EXPECT_EQ(drive.commands[1].offset, 11u * kPage);
    EXPECT_EQ(drive.commands[1].bytes, 10u * kPage);
    EXPECT_EQ(b.layer->counters().front_merges, 9u);
}

TEST(BlockLayer, MergesNothingWithMergesOff) {
    BlockBench b(Jobs(sequential(64), 32));
    b.config.queue_depth = 1;
    b.config.merges = false;
    b.config.nr_requests = 32;
    DriveOfTest& drive = b.make();
    drive.run(kService);
    EXPECT_EQ(drive.commands.size(), 64u);
}

// A submitter that gathers 8 requests sends them as one, also to a drive that is idle.
TEST(BlockLayer, GathersPluggedRequests) {
    for (const std::uint32_t plug : {1u, 8u}) {
        BlockBench b(Jobs(sequential(32)));
        b.config.plug = plug;
        DriveOfTest& drive = b.make();
        drive.run(kService);
        ASSERT_EQ(drive.commands.size(), plug == 1 ? 32u : 1u);
    }
    // Of two places it gathers 8 requests and goes on.
    std::vector<HostRequest> list;
    for (std::uint32_t i = 0; i < 32; ++i)
        list.push_back(request_of(HostOp::read, std::uint64_t{i} * 2 * kPage, kPage));
    BlockBench b{Jobs(list)};
    b.config.plug = 8;
    DriveOfTest& drive = b.make();
    drive.run(kService);
    EXPECT_EQ(drive.commands.size(), 32u);
}

TEST(BlockLayer, SplitsAndCompletesWithTheLastPart) {
    constexpr std::uint32_t kLarge = 5 * 64 * 1024 + 512;
    BlockBench b(Jobs({request_of(HostOp::read, 512, kLarge)}));
    b.config.max_sectors = 64 * 1024;
    b.config.queue_depth = 2;
    DriveOfTest& drive = b.make();
    drive.pump();
    EXPECT_EQ(drive.in_drive.size(), 2u);
    drive.run(kService);
    ASSERT_EQ(drive.commands.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(drive.commands[i].bytes, i < 5 ? 64u * 1024 : 512u);
    ASSERT_EQ(drive.seen.size(), 1u);
    EXPECT_EQ(drive.seen[0].request.bytes, kLarge);
    // Of the last: four ended before it was dispatched.
    EXPECT_EQ(drive.seen[0].block_queue, 4 * kService);
}

TEST(BlockLayer, CommandsDoNotCrossBorders) {
    BlockBench b(Jobs(sequential(16), 16));
    b.info.borders = {2 * kPage + 1024, 8 * kPage};
    b.config.queue_depth = 1;
    b.config.nr_requests = 64;
    DriveOfTest& drive = b.make();
    drive.run(kService);
    std::uint64_t bytes = 0;
    for (const HostRequest& c : drive.commands) {
        bytes += c.bytes;
        for (const std::uint64_t border : b.info.borders)
            EXPECT_FALSE(c.offset < border && c.offset + c.bytes > border);
    }
    EXPECT_EQ(bytes, 16u * kPage);
}

TEST(BlockLayer, NothingJoinsFuaOrPassesAFlush) {
    std::vector<HostRequest> list = sequential(8, HostOp::write);
    list[3].fua = true;
    list.insert(list.begin() + 6, request_of(HostOp::flush, 0, 0));
    BlockBench b{Jobs(list)};
    b.config.queue_depth = 1;
    b.config.nr_requests = 32;
    DriveOfTest& drive = b.make();
    drive.run(kService);
    // 0 | 1,2 | 3 FUA | 4,5 | flush | 6 and 7, which noop does not merge behind a barrier that waits.
    ASSERT_EQ(drive.commands.size(), 7u);
    EXPECT_TRUE(drive.commands[2].fua);
    EXPECT_EQ(drive.commands[2].bytes, kPage);
    EXPECT_EQ(drive.commands[3].bytes, 2 * kPage);
    EXPECT_EQ(drive.commands[4].op, HostOp::flush);
    EXPECT_EQ(drive.commands[5].offset, 6u * kPage);
}

TEST(BlockLayer, AFlushIsNoCommandWithoutAVolatileCache) {
    BlockBench b(Jobs({request_of(HostOp::flush, 0, 0)}));
    b.info.volatile_write_cache = false;
    DriveOfTest& drive = b.make();
    drive.run(kService);
    EXPECT_TRUE(drive.commands.empty());
    EXPECT_EQ(b.jobs.ended[0], 1u);
    EXPECT_TRUE(drive.done);
}

TEST(BlockLayer, DepthAndRequestsFollowTheKernelsRule) {
    BlockConfig c;
    DriveInfo info = drive_info();
    EXPECT_EQ(BlockLayer::depth_of(c, info), 64u);
    EXPECT_EQ(BlockLayer::requests_of(c, 64), 128u);
    EXPECT_EQ(BlockLayer::requests_of(c, 1023), 256u);
    EXPECT_EQ(BlockLayer::requests_of(c, 8), 16u);
    for (const char* of_one_queue : {"noop", "deadline", "cfq", "fiops", "flashfq"}) {
        c.scheduler = of_one_queue;
        EXPECT_EQ(BlockLayer::requests_of(c, 8), 128u);
        EXPECT_EQ(BlockLayer::requests_of(c, 1023), 128u);
    }
    c.scheduler = "bfq";
    EXPECT_EQ(BlockLayer::requests_of(c, 8), 16u);
    c.queue_depth = 8;
    EXPECT_EQ(BlockLayer::depth_of(c, info), 8u);
    c.queue_depth = 1000;
    EXPECT_EQ(BlockLayer::depth_of(c, info), 64u);
    c.nr_requests = 5;
    EXPECT_EQ(BlockLayer::requests_of(c, 64), 5u);
}

// The workload is asked while there is room for a request and one more.
TEST(BlockLayer, HoldsTheWorkloadBack) {
    std::vector<HostRequest> list;
    for (std::uint32_t i = 0; i < 100; ++i)
        list.push_back(request_of(HostOp::read, std::uint64_t{i} * 2 * kPage, kPage));
    BlockBench b{Jobs(list)};
    b.config.queue_depth = 4;
    b.config.nr_requests = 10;
    DriveOfTest& drive = b.make();
    drive.pump();
    EXPECT_EQ(drive.in_drive.size(), 4u);
    EXPECT_EQ(b.layer->scheduler()->waiting(), 6u);
    EXPECT_EQ(b.jobs.position, 11u);
    drive.run(kService);
    EXPECT_EQ(b.jobs.ended, std::vector<std::uint32_t>(100, 1));
}

// The requests of a tenant's two jobs together.
TEST(BlockLayer, AVirtualQueueHoldsATenantsRequests) {
    std::vector<HostRequest> list;
    for (std::uint32_t i = 0; i < 40; ++i)
        list.push_back(request_of(HostOp::read, std::uint64_t{i} * 2 * kPage, kPage, i % 4));
    BlockBench b{Jobs(list)};
    b.config.vm_queue_depth = 3;
    DriveOfTest& drive = b.make(true);
    drive.pump();
    EXPECT_EQ(b.jobs.position, 40u);
    EXPECT_EQ(drive.in_drive.size(), 6u);
    drive.run(kService);
    EXPECT_EQ(b.jobs.ended, std::vector<std::uint32_t>(40, 1));
    // Three of each tenant are served at a time, so the 40 come six by six; all waiting is the block layer's.
    EXPECT_EQ(drive.seen[6].block_queue, kService);
}

TEST(BlockLayer, CancelledCommandsComeAgain) {
    BlockBench b(Jobs(sequential(6, HostOp::write), 6));
    b.config.merges = false;
    b.config.queue_depth = 3;
    DriveOfTest& drive = b.make();
    drive.pump();
    drive.reset();
    EXPECT_EQ(b.layer->counters().requeued, 3u);
    drive.run(kService);
    EXPECT_EQ(b.jobs.ended, std::vector<std::uint32_t>(6, 1));
    EXPECT_EQ(drive.commands.size(), 9u);
}

TEST(BlockLayer, StopDropsWhatWaits) {
    BlockBench b(Jobs(sequential(50)));
    b.config.merges = false;
    b.config.queue_depth = 3;
    DriveOfTest& drive = b.make();
    drive.pump();
    b.layer->stop();
    while (!drive.in_drive.empty()) drive.end(0, drive.now + kService);
    EXPECT_EQ(b.layer->counters().completed, 3u);
    EXPECT_EQ(b.layer->counters().dropped, b.layer->counters().requests - 3);
    EXPECT_EQ(b.layer->next(drive.now).state, Workload::State::blocked);
}

TEST(BlockContexts, HaveWeightsByListByJobOrTheStandard) {
    Jobs jobs({request_of(HostOp::read, 0, kPage, 5)});
    jobs.priorities = {{IoClass::realtime, 2, 0},
                       {IoClass::idle, 7, 0},
                       {IoClass::best_effort, 4, 700},
                       {IoClass::best_effort, 4, 300}};
    BlockConfig c;
    c.weights = {40};
    const BlockContexts by_job(jobs, c, false), by_tenant(jobs, c, true);
    ASSERT_EQ(by_job.count(), 6u);
    EXPECT_EQ(by_job.weights(), (std::vector<std::uint32_t>{40, 100, 700, 300, 100, 100}));
    EXPECT_EQ(by_job.of_job(0).io_class, IoClass::realtime);
    EXPECT_EQ(by_job.of_job(1).level, 7);
    ASSERT_EQ(by_tenant.count(), 3u);
    EXPECT_EQ(by_tenant.weights(), (std::vector<std::uint32_t>{40, 700, 100}));
    EXPECT_EQ(by_tenant.of_job(3).weight, 700u);
    EXPECT_EQ(by_tenant.of_job(3).number, 1u);
    EXPECT_EQ(by_tenant.of_job(1).io_class, IoClass::realtime);
}

TEST(ContextMeter, ChargesRequestsTagsAndStarvation) {
    ContextMeter m;
    m.request_comes(SimTime{Ps{100}});
    m.request_comes(SimTime{Ps{150}});
    m.command_goes(SimTime{Ps{200}});
    m.command_returns(SimTime{Ps{260}});
    m.request_ends(SimTime{Ps{260}});
    m.advance(SimTime{Ps{300}});
    EXPECT_EQ(m.use().requests_ps, 50 + 2 * 110 + 40);
    EXPECT_EQ(m.use().tags_ps, 60);
    EXPECT_EQ(m.use().starved_ps, 100 + 40);
}

}  // namespace
}  // namespace ssdtlm
