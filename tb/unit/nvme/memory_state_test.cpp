// SPDX-License-Identifier: Apache-2.0
// What a saved drive has of the NVMe controller: it is read as it was written, it is a power-on, and what does not fit
// is refused.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "common/snapshot/snapshot_in_memory.h"
#include "unit/nvme/memory_drive.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::DriveBench;
using test::Pair;

NvmeConfig two_namespaces() {
    NvmeConfig c = test::NvmeBench::small();
    c.namespaces = {256u << 10};
    return c;
}

std::vector<std::uint8_t> smart(const DriveBench& b) {
    std::vector<std::uint8_t> page;
    smart_log(b.target->counters(), DeviceHealth{}, NvmeFeatures(b.config, true), b.target->memory().errors.total(),
              b.agenda.now(), page, b.target->memory().former);
    return page;
}

template <class Log>
std::vector<std::uint8_t> page_of(const Log& log) {
    std::vector<std::uint8_t> page;
    log.write(page);
    return page;
}

/// Marks, an error, a self-test, a format of namespace 2 and a sanitize status.
void live(DriveBench& b) {
    b.enable();
    Pair p = b.create_pair(1);
    ASSERT_EQ(b.run(p, b.io(kIoWrite, 0, 8)).status(), kStSuccess);
    ASSERT_EQ(b.run(p, b.io(kIoRead, 0, 8)).status(), kStSuccess);
    ASSERT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, 4)).status(), kStSuccess);
    b.agenda.run();
    ASSERT_EQ(b.run_admin(b.admin_command(kAdminFormat, 2, 1)).status(), kStSuccess);
    ASSERT_EQ(b.run(p, b.io(kIoWrite, 16, 8)).status(), kStSuccess);
    ASSERT_EQ(b.run(p, b.io(kIoWriteUncorrectable, 17, 2)).status(), kStSuccess);
    ASSERT_EQ(b.run(p, b.io(kIoRead, 16, 8)).status(), kStUnrecoveredRead);
    ASSERT_EQ(b.run_admin(b.admin_command(kAdminSelfTest, kNsidAll, 1)).status(), kStSuccess);
    b.agenda.run();
    ASSERT_EQ(b.target->memory().self_tests.running(), SelfTest::none);
}

TEST(NvmeMemoryState, ComesBackAndCountsAPowerOn) {
    DriveBench before(two_namespaces());
    live(before);
    before.write(kRegCc, Cc::kTypical | Cc::kShnNormal);
    before.agenda.run();
    ASSERT_TRUE(before.target->registers().is_shut_down());
    SnapshotInMemory told;
    before.target->state(told);
    EXPECT_EQ(before.target->memory().former.power_cycles, 0u) << "saving changes nothing";

    DriveBench after(two_namespaces());
    SnapshotInMemory read(std::move(told));
    after.target->state(read);
    EXPECT_TRUE(read.at_end());
    const NvmeMemory &was = before.target->memory(), &is = after.target->memory();
    EXPECT_FALSE(after.target->is_as_configured()) << "namespace 2 has other blocks";
    EXPECT_TRUE(is.namespaces.same_as(was.namespaces));
    EXPECT_EQ(is.namespaces.find(2)->lba_bytes, 4096u);
    EXPECT_EQ(page_of(is.errors), page_of(was.errors));
    EXPECT_EQ(is.errors.total(), was.errors.total());
    EXPECT_EQ(page_of(is.self_tests), page_of(was.self_tests));
    EXPECT_EQ(is.events.count(), was.events.count() + 1) << "the power-on";
    EXPECT_TRUE(is.uncorrectable.any(17, 1));
    EXPECT_FALSE(is.uncorrectable.any(16, 1));
    EXPECT_EQ(is.sanitize.state, SanitizeStatus::done);
    const std::vector<std::uint8_t> old = smart(before), now = smart(after);
    for (const std::size_t at : {32u, 48u, 64u, 80u, 96u, 128u, 160u, 176u})
        EXPECT_EQ(load<std::uint64_t>(&now[at]), load<std::uint64_t>(&old[at])) << at;
    EXPECT_EQ(load<std::uint64_t>(&now[80]), 2u) << "writes";
    EXPECT_EQ(load<std::uint64_t>(&now[112]), load<std::uint64_t>(&old[112]) + 1) << "power cycles";
    EXPECT_EQ(load<std::uint64_t>(&now[144]), 0u) << "unsafe shutdowns";

    after.enable();
    Pair p = after.create_pair(1);
    EXPECT_EQ(after.run(p, after.io(kIoRead, 16, 8)).status(), kStUnrecoveredRead);
    ASSERT_EQ(after.run(p, after.io(kIoWrite, 17, 2)).status(), kStSuccess);
    EXPECT_EQ(after.run(p, after.io(kIoRead, 16, 8)).status(), kStSuccess);
}

TEST(NvmeMemoryState, AnInterruptedSanitizeGoesOnAndAnInterruptedFormatIsOver) {
    DriveBench before(two_namespaces());
    before.enable();
    before.drive.time = 1ms;
    Sqe s = before.admin_command(kAdminFormat, 2, 1);
    s.cid = 700;
    before.push(before.admin, s);
    before.ring(before.admin);
    before.agenda.run_until(before.agenda.now() + 100us);
    ASSERT_EQ(before.target->memory().namespaces.refusal(2), kStFormatInProgress);
    SnapshotInMemory told;
    before.target->state(told);  // without a shutdown
    DriveBench formatted(two_namespaces());
    SnapshotInMemory read(std::move(told));
    formatted.target->state(read);
    EXPECT_EQ(formatted.target->memory().namespaces.refusal(2), kStSuccess);
    EXPECT_EQ(formatted.target->memory().namespaces.find(2)->lba_bytes, 512u);
    EXPECT_EQ(load<std::uint64_t>(&smart(formatted)[144]), 1u) << "unsafe shutdowns";

    DriveBench erased(two_namespaces());
    erased.enable();
    erased.drive.time = 1ms;
    s = erased.admin_command(kAdminSanitize, 0, 2);
    s.cid = 701;
    erased.push(erased.admin, s);
    erased.ring(erased.admin);
    erased.agenda.run_until(erased.agenda.now() + 100us);
    ASSERT_EQ(erased.target->memory().sanitize.state, SanitizeStatus::running);
    SnapshotInMemory told_of_it;
    erased.target->state(told_of_it);
    DriveBench again(two_namespaces());
    SnapshotInMemory read_of_it(std::move(told_of_it));
    again.target->state(read_of_it);
    EXPECT_EQ(again.target->memory().namespaces.refusal(1), kStSanitizeInProgress);
    EXPECT_FALSE(again.target->is_as_configured());
    again.enable();
    again.agenda.run();
    EXPECT_EQ(again.target->memory().sanitize.state, SanitizeStatus::done);
    EXPECT_EQ(again.target->memory().namespaces.refusal(1), kStSuccess);
    EXPECT_TRUE(again.target->is_as_configured());
}

TEST(NvmeMemoryState, WhatDoesNotFitIsRefused) {
    const DriveFacts drive = test::NvmeBench::device(true);
    const auto reads = [&](const NvmeConfig& config, const auto& change) {
        NvmeMemory before(two_namespaces(), drive);
        change(before);
        SnapshotInMemory told;
        before.state(told);
        SnapshotInMemory read(std::move(told));
        NvmeMemory(config, drive).state(read);
    };
    const NvmeConfig same = two_namespaces();
    NvmeConfig larger_blocks = same;
    larger_blocks.lba_bytes = 4096;
    const auto nothing = [](NvmeMemory&) {};
    const std::vector<std::uint8_t> long_event(65);
    reads(same, nothing);
    EXPECT_THROW(reads(test::NvmeBench::small(), nothing), Panic) << "another number of namespaces";
    EXPECT_THROW(reads(larger_blocks, nothing), Panic);
    EXPECT_THROW(reads(same, [&](NvmeMemory& m) { m.uncorrectable.add(drive.drive_bytes / 512 - 1, 2); }), Panic);
    EXPECT_THROW(reads(same, [](NvmeMemory& m) { m.namespaces.set_remaining(1, 101); }), Panic);
    EXPECT_THROW(reads(same, [](NvmeMemory& m) { m.sanitize.passes = 17; }), Panic);
    EXPECT_THROW(reads(same, [&](NvmeMemory& m) { m.events.add(PersistentEvents::format_start, long_event, 0); }),
                 Panic);
}

}  // namespace
}  // namespace ssdtlm
