// SPDX-License-Identifier: Apache-2.0
// Pages on their way to the flash: their order, the instant, and the core that hears of the end. And the pools of jobs.
#include "controller/page_writer/page_writer.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/report/error.h"
#include "controller/cpu/core_pool.h"
#include "controller/ports/host_read.h"

namespace ssdtlm {
namespace {

constexpr Ps kMicrosecond{1'000'000};

/// The accesses end in the other order: of `n` the first takes n microseconds, the last takes one.
class BackwardDram final : public DramPort {
public:
    BackwardDram(Agenda& agenda, std::int64_t n) : DramPort(agenda), left_(n) {}
    SimTime begin(const DramPiece* pieces, std::uint32_t count, const Then&) override {
        std::uint64_t bytes = 0;
        for (std::uint32_t i = 0; i < count; ++i) bytes += pieces[i].bytes;
        asked.push_back(bytes);
        return agenda_.now() + kMicrosecond * left_--;
    }
    using DramPort::begin;
    bool idle(SimTime) const override { return true; }
    Ps busy() const override { return {}; }

    std::vector<std::uint64_t> asked;

private:
    std::int64_t left_;
};

class RecordingFlash final : public FlashPort {
public:
    explicit RecordingFlash(const Agenda& agenda) : agenda_(agenda) {}
    void submit(FlashTransaction& txn) override { submitted.push_back({&txn, agenda_.now()}); }

    struct Submitted {
        FlashTransaction* txn;
        SimTime at;
    };
    std::vector<Submitted> submitted;

private:
    const Agenda& agenda_;
};

class PageWriterTest : public testing::Test {
protected:
    PageWriterTest() : cores(agenda, costs), dram(agenda, 2), flash(agenda) {}
    ProgramJob& page(std::uint32_t number) {
        ProgramJob& job = pool.acquire();
        const PageAddress at{PlaneId{1}, 0, number};
        writer.set_up(job, {at, FlashClass::gc_write, FlashCause::parity, {}}, CoreStep::parity_done,
                      Then::to<&PageWriterTest::ended>(this, job));
        return job;
    }
    void ended(ProgramJob& job) { ends.push_back({&job, agenda.now()}); }

    struct End {
        ProgramJob* job;
        SimTime at;
    };
    Agenda agenda;
    FirmwareConfig costs;
    NandGeometry geometry;
    CorePool cores;
    BackwardDram dram;
    RecordingFlash flash;
    FlashJobs all{geometry.page_bytes};
    JobPool<ProgramJob> pool{all};
    PageWriter writer{costs, geometry, cores, dram, flash};
    std::vector<End> ends;
};

TEST_F(PageWriterTest, RowsReachTheFlashInTheirOrderAndEachAtOneInstant) {
    for (std::uint32_t i = 0; i < 2; ++i) writer.add_whole(page(i));
    writer.hand_over();
    writer.hand_over();  // nothing is put together
    writer.add_whole(page(2));
    EXPECT_THROW(writer.check_waiters(), CheckFailed);
    writer.hand_over();
    EXPECT_EQ(dram.asked, (std::vector<std::uint64_t>{2ull * geometry.page_bytes, geometry.page_bytes}));
    EXPECT_EQ(writer.waiting(), 2u);
    writer.check_waiters();
    agenda.run();
    ASSERT_EQ(flash.submitted.size(), 3u);
    for (std::uint32_t i = 0; i < 3; ++i) {
        const FlashTransaction& txn = *flash.submitted[i].txn;
        EXPECT_EQ(txn.address.page, i);
        EXPECT_EQ(flash.submitted[i].at, SimTime{} + kMicrosecond * 2);  // the second row waits for the first
        EXPECT_EQ(txn.op, FlashOp::program);
        EXPECT_EQ(txn.data_bytes, geometry.page_bytes);
        for (const Spare unit : txn.spare) EXPECT_EQ(unit, kPadding);
    }
    EXPECT_EQ(writer.waiting(), 0u);
}

TEST_F(PageWriterTest, ACoreHearsOfTheEndBeforeItsWriterDoes) {
    ProgramJob& job = page(0);
    writer.add_whole(job);
    writer.hand_over();
    agenda.run();
    ASSERT_TRUE(ends.empty());
    const SimTime now = agenda.now();
    flash.submitted.front().txn->then();
    agenda.run();
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends.front().job, &job);
    EXPECT_EQ(job.done_start, now);
    EXPECT_EQ(ends.front().at, now + Clock::hertz(costs.clock_hz).cycles(costs.flash_complete));
}

TEST(JobPools, CountTogetherAndGiveWhatAllHaveInCommon) {
    FlashJobs all(4096);
    JobPool<ProgramJob> programs(all);
    HostReadPool reads(all);
    WorkTag whose;
    whose.tenant = 3;
    all.caused_by(whose);
    ProgramJob& program = programs.acquire();
    EXPECT_EQ(program.txn.whose.tenant, 3u);
    HostRead& first = reads.acquire(SimTime{});
    EXPECT_EQ(all.used(), 2u);
    program.txn.slc = true;
    programs.release(program);
    ProgramJob& again = programs.acquire();
    EXPECT_EQ(&again, &program);
    EXPECT_FALSE(again.txn.slc);
    programs.release(again);
    // The link reads its data until then.
    reads.release_at(first, SimTime{} + kMicrosecond);
    EXPECT_EQ(all.used(), 0u);
    HostRead& second = reads.acquire(SimTime{} + kMicrosecond);
    EXPECT_NE(&second, &first);
    HostRead& third = reads.acquire(SimTime{} + kMicrosecond + Ps{1});
    EXPECT_EQ(&third, &first);
}

}  // namespace
}  // namespace ssdtlm
