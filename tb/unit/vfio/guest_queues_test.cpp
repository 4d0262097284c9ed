// SPDX-License-Identifier: Apache-2.0
// What is read of a foreign driver's rings: its commands once each, its queues when the drive has made them, its pin.
#include "host_vfio/guest_queues.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ssdtlm::vfio {
namespace {

using namespace nvme;

struct Rings : testing::Test {
    std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(64 << 10);
    GuestQueues queues{[this](std::uint64_t address, void* to, std::uint32_t bytes) {
        if (address > memory.size() || bytes > memory.size() - address) return false;
        std::memcpy(to, memory.data() + address, bytes);
        return true;
    }};
    static constexpr std::uint64_t kAsq = 0x1000, kAcq = 0x2000, kSq = 0x3000, kCq = 0x4000;

    void enable() {
        queues.register_written(kRegAqa, 3u << 16 | 3u);
        queues.register_written(kRegAsq, kAsq);
        queues.register_written(kRegAcq, kAcq);
        EXPECT_EQ(queues.register_written(kRegCc, Cc::kTypical), GuestQueues::Asked::enable);
    }
    void put(std::uint64_t ring, std::uint32_t slot, const Sqe& sqe) {
        std::memcpy(memory.data() + ring + 64 * slot, &sqe, sizeof sqe);
    }
    std::optional<GuestQueues::Completed> done(std::uint64_t ring, std::uint32_t slot, std::uint16_t cid,
                                               std::uint16_t sqid, std::uint16_t status = 0) {
        Cqe cqe;
        cqe.cid = cid;
        cqe.sqid = sqid;
        cqe.set_status(status, false, true);
        return queues.written(ring + 16 * slot, reinterpret_cast<const std::uint8_t*>(&cqe), sizeof cqe);
    }
    /// With three slots, and interrupts by vector 1.
    void create_io(std::uint16_t status = 0) {
        Sqe cq, sq;
        cq.opc = kAdminCreateCq;
        cq.cid = 10;
        cq.prp1 = kCq;
        cq.cdw10 = 2u << 16 | 1;
        cq.cdw11 = 1u << 16 | 3;
        sq.opc = kAdminCreateSq;
        sq.cid = 11;
        sq.prp1 = kSq;
        sq.cdw10 = 2u << 16 | 1;
        put(kAsq, 0, cq);
        put(kAsq, 1, sq);
        EXPECT_EQ(queues.rung(0, 2).size(), 2u);
        EXPECT_TRUE(done(kAcq, 0, 10, 0, status));
        EXPECT_TRUE(done(kAcq, 1, 11, 0, status));
        queues.head_moved(0, 2);
    }
};

TEST_F(Rings, CommandsAreTakenOnceAndAcrossTheEndOfTheRing) {
    enable();
    create_io();
    Sqe sqe;
    for (std::uint16_t i = 0; i < 3; ++i) {
        sqe.cid = i;
        put(kSq, i, sqe);
    }
    EXPECT_EQ(queues.rung(1, 2).size(), 2u);
    EXPECT_TRUE(queues.rung(1, 2).empty());
    const auto more = queues.rung(1, 1);
    ASSERT_EQ(more.size(), 2u);
    EXPECT_EQ(more[0].cid, 2);
    EXPECT_EQ(more[1].cid, 0);
    EXPECT_TRUE(queues.rung(1, 3).empty()) << "beyond the ring";
    EXPECT_TRUE(queues.rung(2, 1).empty()) << "no such queue";
    EXPECT_TRUE(queues.rung(500, 1).empty());
}

TEST_F(Rings, AQueueIsThereWhenTheDriveHasMadeIt) {
    enable();
    create_io(0x101);
    EXPECT_TRUE(queues.rung(1, 1).empty()) << "it was refused";
    EXPECT_FALSE(done(kCq, 0, 5, 1));
}

TEST_F(Rings, CompletionsAreToldByWhereTheyAreWritten) {
    enable();
    create_io();
    const auto c = done(kCq, 0, 5, 1);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->entry.cid, 5);
    EXPECT_EQ(c->queue, 1);
    EXPECT_FALSE(done(kCq, 3, 5, 1)) << "behind the ring";
    EXPECT_FALSE(queues.written(kCq, memory.data(), 64)) << "of another size";
}

TEST_F(Rings, DoorbellsInMemoryAreKnownWhenTheDriveHasTakenThem) {
    constexpr std::uint64_t kShadows = 0x5000;
    enable();
    create_io();
    Sqe config;
    config.opc = kAdminDoorbellBuffer;
    config.cid = 12;
    config.prp1 = kShadows;
    config.prp2 = kShadows + 0x1000;
    put(kAsq, 2, config);
    EXPECT_EQ(queues.rung(0, 3).size(), 1u);
    EXPECT_FALSE(queues.shadowed(1));
    EXPECT_TRUE(done(kAcq, 2, 12, 0));
    EXPECT_TRUE(queues.shadowed(1));
    EXPECT_FALSE(queues.shadowed(0)) << "the admin queue uses registers alone";
    EXPECT_EQ(queues.shadow_address(1, false), kShadows + 8);
    EXPECT_EQ(queues.shadow_address(1, true), kShadows + 12);
    EXPECT_EQ(queues.tail_at(kShadows + 8, 4), 1);
    EXPECT_EQ(queues.tail_at(kShadows + 8 * (GuestQueues::kQueues - 1), 4), GuestQueues::kQueues - 1);
    EXPECT_EQ(queues.tail_at(kShadows, 4), 0) << "of the admin queue";
    EXPECT_EQ(queues.tail_at(kShadows + 12, 4), 0) << "a head";
    EXPECT_EQ(queues.tail_at(kShadows + 8, 8), 0);
    EXPECT_EQ(queues.tail_at(kShadows + 8 * GuestQueues::kQueues, 4), 0);
    EXPECT_EQ(queues.tail_at(kShadows - 8, 4), 0);
    // The head in memory counts, and no register is written.
    queues.head_moved(0, 3);
    done(kCq, 0, 5, 1);
    EXPECT_TRUE(queues.pin());
    memory[kShadows + 12] = 1;
    EXPECT_FALSE(queues.pin());
    memory[kShadows + 12] = 200;
    EXPECT_TRUE(queues.pin()) << "beyond the ring";
    queues.register_written(kRegCc, 0);
    enable();
    EXPECT_FALSE(queues.shadowed(1)) << "a reset removes them";
}

TEST_F(Rings, ThePinFollowsEntriesHeadsAndTheMask) {
    enable();
    create_io();
    EXPECT_FALSE(queues.pin());
    done(kCq, 0, 5, 1);
    EXPECT_TRUE(queues.pin());
    queues.register_written(kRegIntms, 1u << 1);
    EXPECT_FALSE(queues.pin());
    queues.register_written(kRegIntmc, 1u << 1);
    EXPECT_TRUE(queues.pin());
    queues.head_moved(1, 1);
    EXPECT_FALSE(queues.pin());
}

TEST_F(Rings, ADisabledControllerHasNone) {
    enable();
    create_io();
    EXPECT_EQ(queues.register_written(kRegCc, 0), GuestQueues::Asked::disable);
    EXPECT_TRUE(queues.rung(1, 1).empty());
    EXPECT_FALSE(done(kCq, 0, 5, 1));
    enable();
    EXPECT_TRUE(queues.rung(1, 1).empty()) << "enabled again, without its I/O queues";
}

TEST_F(Rings, LogicalBlocksAreThoseOfTheLastIdentify) {
    enable();
    EXPECT_EQ(queues.space(2).lba_bytes, 0u);
    Sqe sqe;
    sqe.opc = kAdminIdentify;
    sqe.cid = 3;
    sqe.nsid = 2;
    sqe.prp1 = 0x6000;
    sqe.cdw10 = kCnsNamespace;
    put(kAsq, 0, sqe);
    EXPECT_EQ(queues.rung(0, 1).size(), 1u);
    const std::uint64_t blocks = 1000;
    std::memcpy(memory.data() + 0x6000 + IdNs::kNsze, &blocks, sizeof blocks);
    memory[0x6000 + IdNs::kFlbas] = 1;
    memory[0x6000 + IdNs::kLbaf0 + 4 + 2] = 12;
    done(kAcq, 0, 3, 0);
    EXPECT_EQ(queues.space(2).lba_bytes, 4096u);
    EXPECT_EQ(queues.space(2).bytes, 4'096'000u);
    EXPECT_EQ(queues.space(1).lba_bytes, 0u);
    EXPECT_EQ(queues.space(0).lba_bytes, 0u);
    // Refused, with nonsense in the page.
    memory[0x6000 + IdNs::kLbaf0 + 4 + 2] = 9;
    put(kAsq, 1, sqe);
    queues.rung(0, 2);
    done(kAcq, 1, 3, 0, 0x0B);
    EXPECT_EQ(queues.space(2).lba_bytes, 4096u);
}

TEST_F(Rings, MemoryThatIsNotThereEndsTheTaking) {
    queues.register_written(kRegAqa, 3u << 16 | 3u);
    queues.register_written(kRegAsq, 0xFFFF0000);
    queues.register_written(kRegCc, Cc::kTypical);
    EXPECT_TRUE(queues.rung(0, 2).empty());
}

TEST_F(Rings, CommandsOfTheNvmCommandSetBecomeRequests) {
    const auto read = [this](std::uint64_t a, void* to, std::uint32_t n) {
        std::memcpy(to, memory.data() + a, n);
        return true;
    };
    Sqe sqe;
    sqe.opc = kIoWrite;
    sqe.set_slba(0x1234567890);
    sqe.cdw12 = 7 | kRwFua;
    auto r = request_of(sqe, read);
    ASSERT_TRUE(r);
    EXPECT_EQ(r->kind, GuestRequest::Kind::write);
    EXPECT_EQ(r->first_block, 0x1234567890u);
    EXPECT_EQ(r->blocks, 8u);
    EXPECT_TRUE(r->fua);
    const DsmRange ranges[2] = {{0, 16, 100}, {0, 8, 900}};
    std::memcpy(memory.data() + 0x5000, ranges, sizeof ranges);
    sqe = {};
    sqe.opc = kIoDatasetMgmt;
    sqe.cdw10 = 1;
    sqe.cdw11 = kDsmDeallocate;
    sqe.prp1 = 0x5000;
    r = request_of(sqe, read);
    ASSERT_TRUE(r);
    EXPECT_EQ(r->kind, GuestRequest::Kind::trim);
    EXPECT_EQ(r->first_block, 100u);
    EXPECT_EQ(r->blocks, 24u);
    sqe.opc = 0x05;  // Compare
    EXPECT_FALSE(request_of(sqe, read));
}

}  // namespace
}  // namespace ssdtlm::vfio
