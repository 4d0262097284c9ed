// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/prp.h"

#include <gtest/gtest.h>

#include <map>

#include "common/units/units.h"
#include "unit/nvme/pages_of.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using Step = WalkStep;

/// Lists in host memory, and a walk that reads them.
struct Host {
    std::map<std::uint64_t, std::uint64_t> qwords;
    HostData data;
    std::vector<std::uint32_t> reads;

    /// A list at `at` whose entries are page numbers first, first + 1, ...; chained over list pages as §10 says.
    void put_list(std::uint64_t at, std::uint64_t entries, std::uint64_t first_page) {
        std::uint64_t next_list = 0x8000000;
        while (entries > 0) {
            const std::uint64_t fit = (kPageBytes - at % kPageBytes) / 8;
            const std::uint64_t pages = entries > fit ? fit - 1 : entries;
            for (std::uint64_t i = 0; i < pages; ++i) qwords[at + 8 * i] = first_page++ * kPageBytes;
            entries -= pages;
            if (entries == 0) break;
            qwords[at + 8 * pages] = next_list;
            at = next_list;
            next_list += kPageBytes;
        }
    }
    Step walk(std::uint64_t prp1, std::uint64_t prp2, std::uint64_t bytes) {
        PrpWalk w;
        Step step = w.start(prp1, prp2, bytes, data);
        while (step == Step::need_list) {
            reads.push_back(w.list_bytes());
            EXPECT_EQ(w.list_address() / kPageBytes, (w.list_address() + w.list_bytes() - 1) / kPageBytes);
            std::vector<std::uint64_t> entries;
            for (std::uint32_t i = 0; i < w.list_bytes() / 8; ++i) entries.push_back(qwords[w.list_address() + 8 * i]);
            step = w.feed(reinterpret_cast<const std::uint8_t*>(entries.data()), data);
        }
        return step;
    }
};

TEST(Prp, OnePage) {
    Host h;
    EXPECT_EQ(h.walk(0x1000, 0xDEAD, 4096), Step::done);  // PRP2 is ignored
    EXPECT_EQ(pages_of(h.data), (std::vector<std::uint64_t>{0x1000}));
}

TEST(Prp, OffsetSpillsIntoPrp2) {
    Host h;
    EXPECT_EQ(h.walk(0x1200, 0x5000, 4096), Step::done);
    EXPECT_EQ(pages_of(h.data), (std::vector<std::uint64_t>{0x1200, 0x5000}));
}

TEST(Prp, TwoPages) {
    Host h;
    EXPECT_EQ(h.walk(0x1000, 0x7000, 8192), Step::done);
    EXPECT_EQ(pages_of(h.data), (std::vector<std::uint64_t>{0x1000, 0x7000}));
}

struct ListCase {
    std::uint64_t prp1;
    std::uint64_t list;
    std::uint64_t bytes;
    std::vector<std::uint32_t> entries_read;  // per list page
};

class PrpLists : public testing::TestWithParam<ListCase> {};

TEST_P(PrpLists, NamesEveryPageInOrder) {
    const ListCase& c = GetParam();
    const std::uint64_t pages = (c.prp1 % kPageBytes + c.bytes + kPageBytes - 1) / kPageBytes;
    Host h;
    h.put_list(c.list, pages - 1, 1000);
    ASSERT_EQ(h.walk(c.prp1, c.list, c.bytes), Step::done);
    const std::vector<std::uint64_t> found = pages_of(h.data);
    ASSERT_EQ(found.size(), pages);
    EXPECT_EQ(found[0], c.prp1);
    for (std::uint64_t i = 1; i < pages; ++i) EXPECT_EQ(found[i], (1000 + i - 1) * kPageBytes);
    EXPECT_EQ(h.data.bytes(), c.bytes);
    std::vector<std::uint32_t> bytes;
    for (const std::uint32_t n : c.entries_read) bytes.push_back(8 * n);
    EXPECT_EQ(h.reads, bytes);
    EXPECT_EQ(prp_pages(c.prp1, c.bytes), pages);
    EXPECT_EQ(prp_list_entries(c.prp1, c.bytes), pages - 1);
}

INSTANTIATE_TEST_SUITE_P(Examples, PrpLists,
                         testing::Values(ListCase{0x10000, 0x2000, 12_KiB, {2}},              // 12 KiB aligned
                                         ListCase{0x10000, 0x2000, 128_KiB, {31}},            // one 248 B read
                                         ListCase{0x10200, 0x2000, 128_KiB, {32}},            // 33 pages
                                         ListCase{0x10000, 0x2000, 2_MiB, {511}},             // fits one list page
                                         ListCase{0x10000, 0x2000, 2_MiB + 4_KiB, {512}},     // last slot is data
                                         ListCase{0x10000, 0x2000, 2_MiB + 8_KiB, {512, 2}},  // last slot is a chain
                                         ListCase{0x10000, 0x2FF8, 16_KiB, {1, 3}},  // list begins in the last slot
                                         ListCase{0x10000, 0x2FE0, 20_KiB, {4}},     // exactly to the page end
                                         ListCase{0x10000, 0x2FE0, 24_KiB, {4, 2}}));

TEST(Prp, BadOffsets) {
    EXPECT_EQ(Host{}.walk(0x1002, 0, 512), Step::refused);  // PRP1 not on a dword
    EXPECT_EQ(Host{}.walk(0x1004, 0, 512), Step::done);
    EXPECT_EQ(Host{}.walk(0x1000, 0x2200, 8192), Step::refused);   // PRP2 as a page has an offset
    EXPECT_EQ(Host{}.walk(0x1000, 0x2004, 12288), Step::refused);  // list not on a qword
    Host entry;
    entry.put_list(0x2000, 2, 1000);
    entry.qwords[0x2008] += 4;
    EXPECT_EQ(entry.walk(0x1000, 0x2000, 12288), Step::refused);
    Host chain;
    chain.put_list(0x2FF0, 4, 1000);
    chain.qwords[0x2FF8] += 8;
    EXPECT_EQ(chain.walk(0x1000, 0x2FF0, 20_KiB), Step::refused);
}

}  // namespace
}  // namespace ssdtlm
