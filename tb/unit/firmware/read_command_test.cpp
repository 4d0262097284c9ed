// SPDX-License-Identifier: Apache-2.0
// What a read asks of the flash: the pages that hold its units, each once for neighbours that share it; and what it
// does when a page does not hold them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "device_under_test.h"

namespace ssdtlm {
namespace {

/// Flash reads of a host read of `n` units from `first`, with nothing in the buffer.
std::uint64_t pages_of(const DeviceUnderTest& d, std::uint32_t first, std::uint32_t n) {
    const std::uint32_t per_page = d.shape.geometry.units_per_page();
    constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    std::uint64_t pages = 0, before = kNowhere;
    for (std::uint32_t u = first; u < first + n; ++u) {
        const Ppa at = d.ftl.lookup(Lpa{u});
        const std::uint64_t page = at == kUnmapped ? kNowhere : idx(at) / per_page;
        pages += page != kNowhere && page != before;
        before = page;
    }
    return pages;
}

TEST(ReadCommand, ReadsEachPageOnceForNeighboursThatShareIt) {
    for (const std::uint32_t page_bytes : {4096u, 8192u, 16384u}) {
        SCOPED_TRACE(page_bytes);
        DeviceUnderTest d(tiny_device(page_bytes));
        const std::uint32_t per_unit = d.blocks_per_unit();
        const auto units = static_cast<std::uint32_t>(d.blocks() / per_unit);
        const auto& reads = d.flash.ended[static_cast<std::size_t>(FlashClass::host_read)];
        Random r(page_bytes, 5);
        std::uint64_t together = 0;
        for (int round = 0; round < 6; ++round) {
            for (int i = 0; i < 60; ++i) {
                const auto n = static_cast<std::uint32_t>(1 + r.below(20));
                const auto first = static_cast<std::uint32_t>(r.below(units - n + 1));
                const std::uint64_t expected = pages_of(d, first, n), before = reads;
                d.read(std::uint64_t{first} * per_unit, n * per_unit);
                d.drain();
                ASSERT_EQ(reads - before, expected) << n << " units at " << first;
                together += n - expected;
            }
            // What was laid out in order is spread, and some of it is nowhere.
            for (int i = 0; i < 40; ++i) {
                const auto n = static_cast<std::uint32_t>(1 + r.below(6));
                const std::uint64_t slba = r.below(units - n + 1) * per_unit;
                if (r.below(4) == 0)
                    d.trim(slba, n * per_unit);
                else
                    d.write(slba, n * per_unit);
                d.drain();
            }
            d.flush();
            d.drain();
        }
        EXPECT_GT(together, 100u);
        d.shut_down();
    }
}

// Parts are handed over in the order of their data, as bulk, and the DMA engine is to answer at once for the last only:
// with it, all others are on their way. What is one part is no bulk.
TEST(ReadCommand, OnlyTheLastOfSeveralPartsIsWaitedFor) {
    DeviceUnderTest d(tiny_device(8192));
    std::vector<DmaTerms> sent;
    d.dma.on_write = [&](const DmaTerms& terms) { sent.push_back(terms); };
    const std::uint32_t per_unit = d.blocks_per_unit();
    Random r(8, 5);
    std::uint64_t several = 0;
    for (int i = 0; i < 200; ++i) {
        const auto n = static_cast<std::uint32_t>(1 + r.below(20 * per_unit));
        if (r.below(3) == 0)
            d.write(r.below(d.blocks() - per_unit), per_unit);  // some of it is in the buffer, or nowhere
        if (r.below(9) == 0) d.trim(r.below(d.blocks() / per_unit) * per_unit, per_unit);
        d.drain();
        sent.clear();
        d.read(r.below(d.blocks() - n + 1), n);
        d.drain();
        ASSERT_FALSE(sent.empty());
        for (std::size_t k = 0; k < sent.size(); ++k) {
            ASSERT_EQ(sent[k].bulk, sent.size() != 1);
            ASSERT_EQ(sent[k].prompt, k + 1 == sent.size());
            ASSERT_GE(sent[k].from, sent[k == 0 ? 0 : k - 1].from);
        }
        several += sent.size() > 1;
    }
    EXPECT_GT(several, 50u);
    d.shut_down();
}

// Zeros are there at once, but not before what the command has to wait for.
TEST(ReadCommand, ZerosFollowWhatComesFromTheDram) {
    DeviceUnderTest d(tiny_device());
    const std::uint32_t per_unit = d.blocks_per_unit();
    d.trim(per_unit, per_unit);
    d.drain();
    d.flash.hold = true;  // so the buffer keeps what is written
    d.write(0, per_unit);
    d.run();
    std::vector<DmaTerms> sent;
    d.dma.on_write = [&](const DmaTerms& terms) { sent.push_back(terms); };
    d.read(0, 2 * per_unit);
    d.run();
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_GT(sent[0].from, SimTime{});
    EXPECT_EQ(sent[1].from, sent[0].from);
    d.flash.hold = false;
    d.flash.release();
    d.drain();
    d.shut_down();
}

// Any part of what the buffer holds is read where in the DRAM the write has put it.
TEST(ReadCommand, ReadsTheBufferWhereTheWriteHasPutIt) {
    DeviceUnderTest d(tiny_device());
    d.flash.hold = true;                  // so the buffer keeps it
    std::vector<std::uint64_t> accessed;  // of each block, where
    d.dram.on_access = [&](const DramPiece& p) {
        for (std::uint32_t at = 0; at < p.bytes; at += d.shape.lba_bytes) accessed.push_back(p.address + at);
    };
    Random r(4, 5);
    const std::uint32_t per_unit = d.blocks_per_unit(), units = 40;
    std::vector<std::uint64_t> place(units * per_unit);
    for (std::uint32_t first = 0, n = 0; first < units; first += n) {
        n = static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + r.below(4), units - first));
        accessed.clear();
        d.write(std::uint64_t{first} * per_unit, n * per_unit);
        d.run();
        // Behind it programs may have taken their data.
        ASSERT_GE(accessed.size(), std::size_t{n} * per_unit);
        std::copy_n(accessed.begin(), n * per_unit, place.begin() + first * per_unit);
    }
    for (int i = 0; i < 300; ++i) {
        const auto n = static_cast<std::uint32_t>(1 + r.below(5 * per_unit));
        const auto first = static_cast<std::uint32_t>(r.below(place.size() - n + 1));
        accessed.clear();
        const auto slot = d.read(first, n);
        d.run();
        ASSERT_TRUE(d.done(slot));
        EXPECT_EQ(accessed, std::vector<std::uint64_t>(place.begin() + first, place.begin() + first + n))
            << n << " blocks at " << first;
    }
    d.flash.release();
    d.shut_down();
}

// Erased, without data, or of another unit: the map is wrong, which no run may pass over.
TEST(ReadCommand, APageThatDoesNotHoldTheUnitEndsTheRun) {
    for (const std::uint32_t wrong : {0u, 1u, 2u}) {
        DeviceUnderTest d(tiny_device());
        const Lpa lpa{7};
        const PageAddress page = d.shape.geometry.page_of(d.ftl.lookup(lpa));
        d.spare.erase(d.shape.geometry.block_of(page));
        const std::vector<Spare> held(d.shape.geometry.units_per_page(),
                                      wrong == 1 ? kPadding : d.ftl.codec().make(Lpa{8}, 1));
        for (PageAddress p{page.plane, page.block, 0}; wrong != 0 && p.page <= page.page; ++p.page)
            d.spare.program_page(p, held.data());
        d.read(std::uint64_t{idx(lpa)} * d.blocks_per_unit(), d.blocks_per_unit());
        try {
            d.drain();
            FAIL() << "not seen";
        } catch (const CheckFailed& e) {
            const std::string text = e.what();
            EXPECT_EQ(text.find("integrity: logical unit 7 was read from plane "), 0u) << text;
            const Spare found = wrong == 0 ? kErased : held[0];
            EXPECT_NE(text.find("whose spare area holds " + std::to_string(idx(found))), std::string::npos) << text;
        }
    }
}

}  // namespace
}  // namespace ssdtlm
