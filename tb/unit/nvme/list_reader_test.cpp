// SPDX-License-Identifier: Apache-2.0
// ListReader alone: random PRP lists, chained ones among them, against the pages they were made of.
#include "controller/nvme/list_reader.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "common/random/random.h"
#include "unit/nvme/fake_host.h"
#include "unit/nvme/pages_of.h"

namespace ssdtlm {
namespace {

using namespace nvme;

struct Answers final : ListClient {
    void list_known(std::uint64_t token) override { ++known[token]; }
    void bytes_known(std::uint64_t token, const std::uint8_t* bytes) override {
        first[token] = bytes[0], ++known[token];
    }
    void list_failed(std::uint64_t token, std::uint16_t status) override { failed[token] = status; }
    std::map<std::uint64_t, int> known;
    std::map<std::uint64_t, std::uint8_t> first;
    std::map<std::uint64_t, std::uint16_t> failed;
};

TEST(ListReader, RandomListsBesideEachOther) {
    std::uint64_t chained = 0, bad = 0, lost = 0, list_reads = 0, dma_reads = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        Agenda agenda;
        test::FakeDma dma(agenda);
        NvmeConfig config;
        NvmeCounters counters;
        test::NoWork work;
        ControllerState state(agenda, config, counters, work);
        ListReader reader(dma, state, counters);
        Answers answers;
        constexpr std::uint64_t kLists = 8;
        struct List {
            std::vector<std::uint64_t> expected;
            HostData data;
            bool bad = false, lost = false;
        };
        std::vector<List> lists(kLists);
        for (std::uint64_t i = 0; i < kLists; ++i) {
            List& l = lists[i];
            // Three list pages of its own, used from a random entry of the first on.
            std::uint64_t at = 0x10000 + 0x4000 * i + 8 * random.below(512);
            const std::uint64_t n = 2 + random.below(900);
            const std::uint64_t offset = 4 * random.below(1024);
            l.expected.push_back(0x1000'0000 + offset);
            const std::uint64_t bytes = (n + 1) * kPageBytes - offset;
            DataWalk walk;
            const std::uint64_t start = at;
            for (std::uint64_t e = 0; e < n; ++e) {
                std::uint64_t page = 0x2000'0000 + kPageBytes * random.below(100'000);
                if (at % kPageBytes == kPageBytes - 8 && e + 1 < n) {  // the last place of a page leads to the next
                    dma.put(at, (at / kPageBytes + 1) * kPageBytes);
                    at = (at / kPageBytes + 1) * kPageBytes;
                    ++chained;
                }
                if (!l.bad && random.below(20'000) == 0) page += 8, l.bad = true;
                dma.put(at, page);
                l.expected.push_back(page);
                at += 8;
            }
            l.lost = random.percent(5);
            Sqe sqe;
            sqe.prp1 = l.expected[0];
            sqe.prp2 = l.lost ? 0x7000000 : start;
            ASSERT_EQ(walk.start(sqe, bytes, false, l.data), WalkStep::need_list);
            bad += l.bad && !l.lost;
            lost += l.lost;
            dma.read_times.push_back(Ps{1ns} * static_cast<std::int64_t>(100 + random.below(5000)));
            reader.read_list(walk, l.data, answers, i);
        }
        ASSERT_EQ(reader.under_way(), kLists);
        agenda.run();
        ASSERT_EQ(reader.under_way(), 0u);
        list_reads += counters.list_reads;
        dma_reads += dma.reads.size();
        for (std::uint64_t i = 0; i < kLists; ++i) {
            if (lists[i].lost) {
                ASSERT_EQ(answers.failed.at(i), kStDataTransferError);
            } else if (lists[i].bad) {
                ASSERT_EQ(answers.failed.at(i), kStInvalidPrpOffset);
            } else {
                ASSERT_EQ(answers.known[i], 1);
                ASSERT_EQ(pages_of(lists[i].data), lists[i].expected) << "seed " << seed << " list " << i;
            }
        }
    }
    EXPECT_EQ(list_reads, dma_reads);
    std::printf("%llu links to another list page, %llu bad entries, %llu lists lost\n",
                static_cast<unsigned long long>(chained), static_cast<unsigned long long>(bad),
                static_cast<unsigned long long>(lost));
    EXPECT_GT(chained, 100u);
    EXPECT_GT(bad, 0u);
    EXPECT_GT(lost, 0u);
}

TEST(ListReader, BytesAcrossTwoPages) {
    Agenda agenda;
    test::FakeDma dma(agenda);
    NvmeConfig config;
    NvmeCounters counters;
    test::NoWork work;
    ControllerState state(agenda, config, counters, work);
    ListReader reader(dma, state, counters);
    Answers answers;
    dma.put<std::uint8_t>(0x80FF0, 0x5A);
    HostData data;
    data.add(0x80FF0, 16);
    data.add(0x90000, 48);
    reader.read_bytes(data, answers, 3);
    EXPECT_EQ(dma.reads.back().segments.size(), 2u);
    EXPECT_EQ(dma.reads.back().segments[0].bytes, 16u);
    EXPECT_EQ(dma.reads.back().segments[1].bytes, 48u);
    agenda.run();
    EXPECT_EQ(answers.known[3], 1);
    EXPECT_EQ(answers.first[3], 0x5A);
    EXPECT_EQ(counters.list_reads, 1u);
}

}  // namespace
}  // namespace ssdtlm
