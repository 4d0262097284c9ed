// SPDX-License-Identifier: Apache-2.0
// The RTL scheduler at its pins, with two small channels: registers, handshakes, backpressure, suspend requests, reset.
// What it grants is compared with the C++ policy elsewhere.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "Vscheduler_two.h"
#include "adapter/rtl_schedulers.h"
#include "adapter/scheduler_registers.h"
#include "adapter/verilated_core.h"
#include "adapter/verilated_ports.h"

namespace ssdtlm {
namespace {

using rtl::get_word;
using rtl::put;
using rtl::put_bits;
namespace csr = rtl::csr;

// As verilated in CMakeLists.txt.
constexpr unsigned kChannels = 2, kDies = 4, kPlanes = 2, kDepth = 8, kTagBits = 16;
enum : unsigned { kHostRead = 0, kHostWrite = 2, kErase = 6 };

class TwoChannels : public ::testing::Test {
protected:
    TwoChannels() {
        context_.randReset(2);
        context_.randSeed(7);
        top_ = std::make_unique<Vscheduler_two>(&context_);
        for (auto* port : {&top_->push_valid, &top_->query_valid, &top_->awvalid, &top_->wvalid, &top_->arvalid})
            put(*port, 0);
        put(top_->query_idle_dies, 0);
        put(top_->query_idle_read_planes, 0);
        put(top_->query_classes, (1u << 14) - 1);
        put(top_->bready, 1);
        put(top_->rready, 1);
        put(top_->grant_ready, 3);
        reset();
    }
    ~TwoChannels() override { top_->final(); }

    void settle() {
        top_->clk = 0;
        top_->eval();
    }
    void edge() {
        settle();
        top_->clk = 1;
        top_->eval();
        settle();
    }
    void reset() {
        put(top_->rst_n, 0);
        edge();
        put(top_->rst_n, 1);
        settle();
    }
    std::uint32_t read(std::uint32_t address) {
        put(top_->araddr, address);
        put(top_->arvalid, 1);
        settle();
        EXPECT_EQ(top_->arready, 1);
        edge();
        put(top_->arvalid, 0);
        EXPECT_EQ(top_->rvalid, 1);
        EXPECT_EQ(top_->rresp, 0);
        const std::uint32_t value = top_->rdata;
        edge();
        EXPECT_EQ(top_->rvalid, 0);
        return value;
    }
    void write(std::uint32_t address, std::uint32_t value, unsigned strobes = 0xF) {
        put(top_->awaddr, address);
        put(top_->wdata, value);
        put(top_->wstrb, strobes);
        put(top_->awvalid, 1);
        settle();
        EXPECT_EQ(top_->awready, 0) << "address without data";
        put(top_->wvalid, 1);
        settle();
        EXPECT_EQ(top_->awready, 1);
        edge();
        put(top_->awvalid, 0);
        put(top_->wvalid, 0);
        EXPECT_EQ(top_->bvalid, 1);
        EXPECT_EQ(top_->bresp, 0);
        edge();
        EXPECT_EQ(top_->bvalid, 0);
    }
    void request(unsigned channel, unsigned tag, unsigned die, unsigned cls = kHostRead, unsigned plane = 0,
                 unsigned page = 0) {
        put_bits(top_->push_valid, channel, 1, 1);
        put_bits(top_->push_tag, channel * kTagBits, kTagBits, tag);
        put_bits(top_->push_die, channel * 2, 2, die);
        put_bits(top_->push_class, channel * 3, 3, cls);
        put_bits(top_->push_plane, channel, 1, plane);
        put_bits(top_->push_page, channel * 16, 16, page);
    }
    void push(unsigned channel, unsigned tag, unsigned die, unsigned cls = kHostRead, unsigned plane = 0,
              unsigned page = 0) {
        request(channel, tag, die, cls, plane, page);
        settle();
        ASSERT_TRUE(ready(top_->push_ready, channel));
        edge();
        put(top_->push_valid, 0);
        settle();
    }
    static bool ready(unsigned bits, unsigned channel) { return (bits >> channel & 1u) != 0; }
    void ask(unsigned channel, unsigned idle) {
        put_bits(top_->query_idle_dies, channel * kDies, kDies, idle);
        put_bits(top_->query_valid, channel, 1, 1);
    }
    /// Cycles until grant_valid of a channel.
    int wait(unsigned channel) {
        for (int n = 1; n < 100; ++n) {
            const bool taken = ready(top_->query_ready, channel) && ready(top_->query_valid, channel);
            edge();
            if (taken) put_bits(top_->query_valid, channel, 1, 0);
            settle();
            if (ready(top_->grant_valid, channel)) return n;
        }
        ADD_FAILURE() << "no answer";
        return 0;
    }
    unsigned tag(unsigned channel, unsigned i) {
        const unsigned at = (channel * kPlanes + i) * kTagBits;
        return get_word(top_->grant_tags, at / 32) >> at % 32 & 0xFFFFu;
    }

    VerilatedContext context_;
    std::unique_ptr<Vscheduler_two> top_;
};

TEST_F(TwoChannels, RegistersSayWhatTheBlockIs) {
    EXPECT_EQ(read(csr::kId), csr::kIdValue);
    EXPECT_EQ(read(0x004), kChannels << 16 | kDies << 8 | kPlanes);
    EXPECT_EQ(read(0x008), kDepth);
    EXPECT_EQ(read(csr::kControl), 1u);
    EXPECT_EQ(read(csr::kStarvationLimit), 64u);
    EXPECT_EQ(read(csr::kPriority), rtl::priority_register("read_first"));
    EXPECT_EQ(read(csr::kPlanes), 3u);
    EXPECT_EQ(read(csr::kLookAhead), SchedulerConfig{}.look_ahead);
    EXPECT_EQ(read(0x00C), 0u);
    EXPECT_EQ(read(0xFFC), 0u);
}

TEST_F(TwoChannels, RegistersKeepWhatIsWritten) {
    write(csr::kControl, 2);
    EXPECT_EQ(read(csr::kControl), 2u);
    write(csr::kPriority, 0x1234567);
    write(csr::kPriority, 0xFFFFFFFF, 0b0010);
    EXPECT_EQ(read(csr::kPriority), 0x123FF67u);
    write(csr::kStarvationLimit, 1'000'000);
    EXPECT_EQ(read(csr::kStarvationLimit), 1'000'000u);
    write(csr::kPlanes, 1);
    EXPECT_EQ(read(csr::kPlanes), 1u);
    write(csr::kLookAhead, 4095);
    EXPECT_EQ(read(csr::kLookAhead), 4095u);
    write(csr::kId, 5);
    EXPECT_EQ(read(csr::kId), csr::kIdValue);
    reset();
    EXPECT_EQ(read(csr::kStarvationLimit), 64u);
}

TEST_F(TwoChannels, ChannelsWorkAtTheSameTimeAndApart) {
    request(0, 0x1111, 3, kHostWrite);
    request(1, 0x2222, 1);
    edge();
    put(top_->push_valid, 0);
    ask(0, 0xF);
    ask(1, 0xF);
    EXPECT_EQ(wait(0), 4);  // taken, PICK, SCAN, UPDATE
    EXPECT_EQ(top_->grant_valid, 3);
    EXPECT_EQ(top_->grant_hit, 3);
    EXPECT_EQ(top_->grant_die, 3u | 1u << 2);
    EXPECT_EQ(top_->grant_class, kHostWrite | kHostRead << 3);
    EXPECT_EQ(tag(0, 0), 0x1111u);
    EXPECT_EQ(tag(1, 0), 0x2222u);
    edge();
    EXPECT_EQ(top_->grant_valid, 0);
    for (unsigned c = 0; c < kChannels; ++c) {
        EXPECT_EQ(read(csr::kCounters + c * 0x20), 1u) << "pushed";
        EXPECT_EQ(read(csr::kCounters + c * 0x20 + 4), 1u) << "granted";
    }
}

TEST_F(TwoChannels, PlanesAreJoinedAndCounted) {
    push(1, 7, 2, kErase, 0);
    push(1, 8, 2, kErase, 1);
    write(csr::kDebugSelect, 2 | 1 << 8);
    EXPECT_EQ(read(csr::kDebugStatus), kErase << 16 | 1u << kErase);
    ask(1, 4);
    wait(1);
    EXPECT_EQ(top_->grant_count >> 2, 2);
    EXPECT_EQ(tag(1, 0), 7u);
    EXPECT_EQ(tag(1, 1), 8u);
    edge();
    EXPECT_EQ(read(csr::kCounters + 0x20 + 8), 1u) << "joined";
    EXPECT_EQ(read(csr::kDebugStatus) & 0x7F, 0u);
}

TEST_F(TwoChannels, AFullChannelTakesQuestionsButNoRequests) {
    for (unsigned i = 0; i < kDepth; ++i) push(0, i, i % kDies);
    EXPECT_FALSE(ready(top_->push_ready, 0));
    EXPECT_TRUE(ready(top_->push_ready, 1));
    request(0, 99, 0);
    ask(0, 0xF);
    settle();
    EXPECT_TRUE(ready(top_->query_ready, 0));
    wait(0);
    edge();
    EXPECT_TRUE(ready(top_->push_ready, 0)) << "a grant makes room";
    edge();
    put(top_->push_valid, 0);
    settle();
    EXPECT_FALSE(ready(top_->push_ready, 0));
}

TEST_F(TwoChannels, ARequestGoesBeforeAQuestion) {
    request(0, 5, 1);
    ask(0, 0xF);
    settle();
    EXPECT_TRUE(ready(top_->push_ready, 0));
    EXPECT_FALSE(ready(top_->query_ready, 0));
    edge();
    put(top_->push_valid, 0);
    settle();
    EXPECT_TRUE(ready(top_->query_ready, 0));
    wait(0);
    EXPECT_EQ(tag(0, 0), 5u);
}

TEST_F(TwoChannels, TheAnswerStaysUntilItIsTaken) {
    put(top_->grant_ready, 0);
    push(0, 42, 1);
    push(0, 43, 1);
    ask(0, 0xF);
    wait(0);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(ready(top_->grant_valid, 0));
        EXPECT_FALSE(ready(top_->push_ready, 0));
        EXPECT_EQ(tag(0, 0), 42u);
        edge();
    }
    put(top_->grant_ready, 3);
    edge();
    EXPECT_FALSE(ready(top_->grant_valid, 0));
}

TEST_F(TwoChannels, NothingIsAnAnswer) {
    push(0, 1, 2);
    ask(0, 0b1011);
    EXPECT_EQ(wait(0), 2);
    EXPECT_FALSE(ready(top_->grant_hit, 0));
    edge();
    EXPECT_EQ(read(csr::kCounters + 0x10), 1u);
}

TEST_F(TwoChannels, AHostReadAsksForTheSuspensionOfAProgram) {
    push(0, 1, 2, kHostWrite);
    ask(0, 0xF);
    wait(0);
    edge();
    put_bits(top_->query_idle_dies, 0, kDies, 0b1011);  // die 2 programs
    push(0, 2, 1, kHostRead);
    EXPECT_EQ(top_->suspend_request, 0u) << "die 1 has nothing to suspend";
    push(0, 3, 2, kHostWrite);
    EXPECT_EQ(top_->suspend_request, 0u);
    push(0, 4, 2, kHostRead);
    EXPECT_EQ(top_->suspend_request, 1u << 2);
    put_bits(top_->query_idle_dies, 0, kDies, 0b1111);
    settle();
    EXPECT_EQ(top_->suspend_request, 0u) << "the program has ended";
}

TEST_F(TwoChannels, ResetForgetsEverything) {
    for (unsigned i = 0; i < kDepth; ++i) push(0, i, i % kDies);
    ask(0, 0xF);
    settle();
    edge();
    put(top_->query_valid, 0);
    reset();
    EXPECT_EQ(top_->grant_valid, 0);
    EXPECT_TRUE(ready(top_->push_ready, 0));
    EXPECT_EQ(read(csr::kCounters), 0u);
    ask(0, 0xF);
    wait(0);
    EXPECT_FALSE(ready(top_->grant_hit, 0));
}

TEST(Trace, TheCoreWritesItsSignals) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "ssdtlm_scheduler_trace_test.fst";
    std::filesystem::remove(path);
    {
        const auto core = rtl_schedulers().front().make(SchedulerConfig{}, SchedulerShape{1, 4, false, 2});
        ASSERT_TRUE(core->open_trace(path.string()));
        CoreDecision decision;
        GrantQuery query;
        query.idle_dies = 0xF;
        for (std::uint64_t edge = 10; edge < 1000; edge += 20) {
            core->push(SchedulerRequest{}, edge);
            core->decide(query, edge + 1, decision);
            ASSERT_EQ(decision.answer, GrantAnswer::granted);
        }
    }
    EXPECT_GT(std::filesystem::file_size(path), 500u);
    std::filesystem::remove(path);
}

TEST(Registers, AForeignPolicyIsRefused) {
    SchedulerConfig config;
    config.policy = "write_first";
    EXPECT_THROW(rtl_schedulers().front().make(config, SchedulerShape{}), UserError);
}

// A block of a user's need not have the ports that say whose a request is.
TEST(WhoseARequestIs, IsDrivenWhereTheBlockHasThePorts) {
    struct OldBlock {
        CData push_valid;
    };
    EXPECT_TRUE(rtl::HasTenant<Vscheduler_two>::value && rtl::HasPriority<Vscheduler_two>::value &&
                rtl::HasStream<Vscheduler_two>::value && rtl::HasDeadline<Vscheduler_two>::value &&
                rtl::HasAge<Vscheduler_two>::value && rtl::HasBytes<Vscheduler_two>::value &&
                rtl::HasBlock<Vscheduler_two>::value && rtl::HasCycleNow<Vscheduler_two>::value);
    EXPECT_FALSE(rtl::HasTenant<OldBlock>::value || rtl::HasPriority<OldBlock>::value ||
                 rtl::HasStream<OldBlock>::value || rtl::HasDeadline<OldBlock>::value || rtl::HasAge<OldBlock>::value ||
                 rtl::HasBytes<OldBlock>::value || rtl::HasBlock<OldBlock>::value || rtl::HasCycleNow<OldBlock>::value);
}

/// What the pins say of a request at the edge that takes it. The block has two channels; the adapter drives the first.
TEST(WhoseARequestIs, StandsAtThePins) {
    SchedulerConfig config;
    config.queue_depth = 8;
    rtl::VerilatedCore<Vscheduler_two, 4, 2, 8, true> core(config, SchedulerShape{1, 4, false, 2});
    const Ps period = Clock::hertz(config.clock_hz).period();
    SchedulerRequest r;
    r.cls = FlashClass::host_read;
    r.block = 0xABCDE;
    r.bytes = 12'288;
    std::uint64_t edge = 5'000'000'000;  // beyond 32 bits
    for (const std::int64_t age : {0, 1, 400'000}) {
        edge += 100;
        const SimTime at{period * static_cast<std::int64_t>(edge)};
        r.whose = {3, 2, 5, at + period * 7, at - period * age};
        core.push(r, edge);
        const Vscheduler_two& top = core.top();
        EXPECT_EQ(rtl::get_word(top.push_age, 0), age);
        EXPECT_EQ(rtl::get_word(top.push_deadline, 0), 7u);
        EXPECT_EQ(rtl::get_word(top.push_bytes, 0), 12'288u);
        EXPECT_EQ(rtl::get_word(top.push_block, 0), 0xABCDEu);
        EXPECT_EQ(rtl::get_word(top.push_tenant, 0) & 0xFFFFu, 3u);
        EXPECT_EQ(rtl::get_word(top.push_priority, 0) & 3u, 2u);
        EXPECT_EQ(rtl::get_word(top.push_stream, 0) & 0xFFu, 5u);
        EXPECT_EQ(top.cycle_now, edge);
    }
    r.whose = WorkTag{};
    core.push(r, edge + 10);
    EXPECT_EQ(rtl::get_word(core.top().push_age, 0), rtl::kNobodys);
    GrantQuery query;
    query.idle_dies = 1;
    CoreDecision decision;
    core.decide(query, edge + 20, decision);
    EXPECT_EQ(core.top().cycle_now, edge + 20 + decision.cycles) << "a level: also while the block decides";
}

TEST(WhoseARequestIs, ADeadlineIsTheWholePeriodsThatAreLeft) {
    const SimTime now{1us};
    EXPECT_EQ(rtl::periods_left(kNever, now, Ps{2500}), 0xFFFFFFFFu);
    EXPECT_EQ(rtl::periods_left(now, now, Ps{2500}), 0u);
    EXPECT_EQ(rtl::periods_left(SimTime{}, now, Ps{2500}), 0u);
    EXPECT_EQ(rtl::periods_left(now + Ps{2499}, now, Ps{2500}), 0u);
    EXPECT_EQ(rtl::periods_left(now + Ps{2500}, now, Ps{2500}), 1u);
    EXPECT_EQ(rtl::periods_left(now + 1s, now, Ps{2500}), 400'000'000u);
    EXPECT_EQ(rtl::periods_left(now + 1000s, now, Ps{2500}), 0xFFFFFFFEu) << "more than the port can say";
}

TEST(WhoseARequestIs, AnAgeIsTheWholePeriodsSinceTheCommand) {
    const SimTime now{1us};
    EXPECT_EQ(rtl::periods_since(kNever, now, Ps{2500}), 0xFFFFFFFFu);
    EXPECT_EQ(rtl::periods_since(now, now, Ps{2500}), 0u);
    EXPECT_EQ(rtl::periods_since(now + 1ns, now, Ps{2500}), 0u) << "the edge may be before the doorbell's instant";
    EXPECT_EQ(rtl::periods_since(now - Ps{2499}, now, Ps{2500}), 0u);
    EXPECT_EQ(rtl::periods_since(SimTime{}, now, Ps{2500}), 400u);
    EXPECT_EQ(rtl::periods_since(SimTime{}, SimTime{1000s}, Ps{2500}), 0xFFFFFFFEu) << "more than the port can say";
}

}  // namespace
}  // namespace ssdtlm
