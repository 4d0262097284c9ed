// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/queue_pair.h"

#include <gtest/gtest.h>

#include <deque>

#include "common/random/random.h"
#include "common/report/error.h"
#include "host_pcie/driver/fifo.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t P = 4096;

/// The controller's end of the rings, byte by byte.
struct Device {
    HostMemory& memory;
    const QueuePair& queue;
    std::uint32_t sq_head = 0;
    std::uint32_t cq_tail = 0;
    std::uint8_t phase = 1;

    /// Offset of the command identifier in the entry is 2, of the opcode 0 (NVMe 1.4 Figure 105).
    std::uint16_t fetch() {
        const auto cid = memory.load<std::uint16_t>(queue.sq_base() + sq_head * 64 + 2);
        sq_head = (sq_head + 1) % queue.entries();
        return cid;
    }
    void complete(std::uint16_t cid, std::uint16_t status = 0) {
        const std::uint64_t at = queue.cq_base() + cq_tail * 16;
        memory.store<std::uint16_t>(at + 8, static_cast<std::uint16_t>(sq_head));
        memory.store<std::uint16_t>(at + 10, queue.qid());
        memory.store<std::uint16_t>(at + 12, cid);
        memory.store<std::uint16_t>(at + 14, static_cast<std::uint16_t>(status << 1 | phase));
        cq_tail = (cq_tail + 1) % queue.entries();
        if (cq_tail == 0) phase ^= 1;
    }
};

TEST(QueuePair, WritesEntriesAsBytes) {
    HostMemory memory(64_MiB);
    QueuePair q(memory, 3, 8, P);
    EXPECT_EQ(q.sq_base() % P, 0u);
    EXPECT_EQ(q.cq_base() % P, 0u);
    nvme::Sqe sqe;
    sqe.opc = nvme::kIoRead;
    sqe.nsid = 1;
    sqe.prp1 = 0x1'2345'6000;
    sqe.set_slba(0x1'0000'0002);
    sqe.cdw12 = 7;
    q.submit(sqe);
    q.submit(sqe);
    EXPECT_EQ(q.tail(), 2u);
    const std::uint8_t* e = memory.at(q.sq_base() + 64, 64);
    EXPECT_EQ(e[0], 0x02);
    EXPECT_EQ(e[1], 0x00);
    EXPECT_EQ(nvme::load<std::uint16_t>(e + 2), 1u);  // identifiers count up from 0
    EXPECT_EQ(nvme::load<std::uint32_t>(e + 4), 1u);
    EXPECT_EQ(nvme::load<std::uint64_t>(e + 24), 0x1'2345'6000u);
    EXPECT_EQ(nvme::load<std::uint32_t>(e + 40), 2u);
    EXPECT_EQ(nvme::load<std::uint32_t>(e + 44), 1u);
    EXPECT_EQ(nvme::load<std::uint32_t>(e + 48), 7u);
}

TEST(QueuePair, IsFullWithOneEntryLess) {
    HostMemory memory(64_MiB);
    for (std::uint32_t entries : {2u, 3u, 16u}) {
        QueuePair q(memory, 1, entries, P);
        nvme::Sqe sqe;
        for (std::uint32_t i = 0; i + 1 < entries; ++i) {
            ASSERT_TRUE(q.has_room());
            q.submit(sqe);
        }
        EXPECT_FALSE(q.has_room());
        EXPECT_EQ(q.outstanding(), entries - 1);
        EXPECT_THROW(q.submit(sqe), Panic);
    }
}

TEST(QueuePair, SeesNothingUntilThePhaseTurns) {
    HostMemory memory(64_MiB);
    QueuePair q(memory, 1, 4, P);
    nvme::Sqe sqe;
    nvme::Cqe cqe;
    q.submit(sqe);
    EXPECT_FALSE(q.has_completion());
    EXPECT_FALSE(q.reap(cqe));
    Device d{memory, q};
    d.complete(d.fetch(), nvme::kStLbaOutOfRange);
    EXPECT_TRUE(q.has_completion());
    ASSERT_TRUE(q.reap(cqe));
    EXPECT_EQ(cqe.status(), nvme::kStLbaOutOfRange);
    EXPECT_EQ(q.sq_head(), 1u);
    EXPECT_FALSE(q.has_completion());
}

TEST(QueuePair, WrapsManyTimesWithCompletionsOutOfOrder) {
    HostMemory memory(64_MiB);
    QueuePair q(memory, 2, 5, P);
    Device d{memory, q};
    Random r(3);
    std::vector<std::uint16_t> inside;
    std::vector<bool> out(4, false);
    std::uint32_t submitted = 0, completed = 0, fetched = 0;
    while (completed < 1000) {
        if (r.percent(50) && q.has_room()) {
            nvme::Sqe sqe;
            const std::uint16_t cid = q.next_cid();
            q.submit(sqe);
            EXPECT_EQ(sqe.cid, cid);
            EXPECT_FALSE(out[cid]);
            out[cid] = true;
            ++submitted;
            EXPECT_EQ(q.tail(), submitted % 5);
        }
        if (r.percent(50) && d.sq_head != q.tail()) {
            inside.push_back(d.fetch());
            ++fetched;
        }
        if (r.percent(50) && !inside.empty()) {
            const auto i = r.below(inside.size());
            d.complete(inside[i]);
            inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(i));
        }
        nvme::Cqe cqe;
        while (r.percent(70) && q.reap(cqe)) {
            EXPECT_TRUE(out[cqe.cid]);
            out[cqe.cid] = false;
            ++completed;
            EXPECT_EQ(q.head(), completed % 5);
        }
        EXPECT_EQ(q.outstanding(), submitted - completed);
    }
}

TEST(QueuePair, RefusesCompletionsOfNothing) {
    HostMemory memory(64_MiB);
    QueuePair q(memory, 1, 4, P);
    Device d{memory, q};
    d.complete(2);
    nvme::Cqe cqe;
    EXPECT_THROW(q.reap(cqe), Panic);
}

TEST(Fifo, KeepsItsOrderWhileItGrows) {
    Random random(3, 1);
    for (int round = 0; round < 20; ++round) {
        Fifo<std::uint32_t> fifo;
        std::deque<std::uint32_t> slow;
        for (std::uint32_t i = 0; i < 2000; ++i) {
            if (random.percent(60)) {
                fifo.push(i);
                slow.push_back(i);
            } else if (!slow.empty()) {
                ASSERT_EQ(fifo.front(), slow.front());
                fifo.pop();
                slow.pop_front();
            }
            ASSERT_EQ(fifo.size(), slow.size());
            if (slow.empty()) continue;
            const std::size_t at = random.below(slow.size());
            ASSERT_EQ(fifo.at(at), slow[at]);
        }
    }
}

TEST(QueuePair, HasAnySizeThatNvmeKnows) {
    HostMemory memory(64_MiB);
    for (const std::uint32_t entries : {2u, 3u, 65535u, 65536u})
        EXPECT_NO_THROW(QueuePair(memory, 1, entries, P)) << entries;
    EXPECT_THROW(QueuePair(memory, 1, 65537, P), Panic);
    EXPECT_THROW(QueuePair(memory, 1, 1, P), Panic);
}

}  // namespace
}  // namespace ssdtlm
