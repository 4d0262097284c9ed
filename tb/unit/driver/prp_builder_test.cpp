// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/prp_builder.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t P = 4096;

/// What a controller does: the pages a PRP pair names, NVMe 1.4 §4.3.
std::vector<std::uint64_t> resolve(HostMemory& m, const PrpPair& prp, std::uint64_t bytes, unsigned* list_pages) {
    std::vector<std::uint64_t> pages{prp.prp1};
    std::uint64_t covered = P - prp.prp1 % P;
    *list_pages = 0;
    if (covered >= bytes) {
        EXPECT_EQ(prp.prp2, 0u);
        return pages;
    }
    if (bytes - covered <= P) {
        EXPECT_EQ(prp.prp2 % P, 0u);
        pages.push_back(prp.prp2);
        return pages;
    }
    std::uint64_t left = (bytes - covered + P - 1) / P;
    std::uint64_t list = prp.prp2;
    EXPECT_EQ(list % 8, 0u);
    while (left > 0) {
        ++*list_pages;
        const std::uint64_t slots = (P - list % P) / 8;
        for (std::uint64_t s = 0; s < slots && left > 0; ++s) {
            const auto entry = m.load<std::uint64_t>(list + s * 8);
            EXPECT_EQ(entry % P, 0u);
            if (s + 1 == slots && left > 1) {
                list = entry;
                break;
            }
            pages.push_back(entry);
            --left;
        }
    }
    return pages;
}

struct Row {
    const char* name;
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t pages;
    unsigned list_pages;
};

TEST(PrpBuilder, NamesEveryPageOfTheBufferOnce) {
    const Row rows[] = {
        {"512 B", 0, 512, 1, 0},
        {"4 KiB aligned: PRP1 only", 0, 4096, 1, 0},
        {"4 KiB at 200h: PRP1 and PRP2", 0x200, 4096, 2, 0},
        {"8 KiB aligned: PRP1 and PRP2", 0, 8192, 2, 0},
        {"8 KiB at 4: list of two", 4, 8192, 3, 1},
        {"12 KiB aligned: list of two", 0, 12288, 3, 1},
        {"128 KiB aligned: list of 31", 0, 128 << 10, 32, 1},
        {"128 KiB at 200h: list of 32", 0x200, 128 << 10, 33, 1},
        {"132 KiB at 200h: list of 33", 0x200, 132 << 10, 34, 1},
        {"2 MiB aligned: list of 511", 0, 2 << 20, 512, 1},
        {"2 MiB + 4 KiB: 512 entries fill one page exactly", 0, (2 << 20) + 4096, 513, 1},
        {"2 MiB + 8 KiB: 511 entries, a chain, two entries", 0, (2 << 20) + 8192, 514, 2},
        {"8 MiB at FFCh", 0xFFC, 8 << 20, 2049, 5},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        HostMemory memory(1_GiB);
        PrpListMemory lists;
        const std::uint64_t address = memory.allocate(16_MiB, P) + row.offset;
        const PrpPair prp = build_prp(memory, P, address, row.bytes, lists);
        unsigned list_pages = 0;
        const auto pages = resolve(memory, prp, row.bytes, &list_pages);
        ASSERT_EQ(pages.size(), row.pages);
        EXPECT_EQ(list_pages, row.list_pages);
        EXPECT_EQ(pages[0], address);
        for (std::size_t i = 1; i < pages.size(); ++i) EXPECT_EQ(pages[i], address - row.offset + i * P);
    }
}

TEST(PrpBuilder, ShortListsUseASmallPieceAndMemoryIsReused) {
    HostMemory memory(64_MiB);
    PrpListMemory lists;
    const std::uint64_t address = memory.allocate(1_MiB, P);
    const PrpPair first = build_prp(memory, P, address, 128_KiB, lists);
    EXPECT_EQ(first.prp2 % 256, 0u);
    EXPECT_EQ(first.prp2, lists.small);
    const std::uint64_t used = memory.allocated();
    EXPECT_EQ(build_prp(memory, P, address, 64_KiB, lists).prp2, first.prp2);
    EXPECT_EQ(memory.allocated(), used);
    EXPECT_EQ(build_prp(memory, P, address, 256_KiB, lists).prp2 % P, 0u);
}

TEST(PrpBuilder, LargerPages) {
    HostMemory memory(64_MiB);
    PrpListMemory lists;
    const std::uint64_t address = memory.allocate(1_MiB, 65536) + 4096;
    EXPECT_EQ(build_prp(memory, 65536, address, 60_KiB, lists).prp2, 0u);
    EXPECT_EQ(build_prp(memory, 65536, address, 64_KiB, lists).prp2, address - 4096 + 65536);
}

// As Linux: two PRPs where they suffice, else one data block descriptor.
TEST(PrpBuilder, SglWhereAListWouldBeNeeded) {
    HostMemory memory(64_MiB);
    PrpListMemory lists;
    const std::uint64_t address = memory.allocate(1_MiB, P);
    EXPECT_EQ(build_sgl(memory, P, address, 2 * P, lists).flags, 0);
    EXPECT_EQ(build_sgl(memory, P, address + 512, 2 * P - 512, lists).prp2, address + P);
    for (const std::uint64_t bytes : {std::uint64_t{2 * P + 512}, std::uint64_t{512_KiB}}) {
        const PrpPair sgl = build_sgl(memory, P, address, bytes, lists);
        EXPECT_EQ(sgl.flags, 0x40);
        EXPECT_EQ(sgl.prp1, address);
        EXPECT_EQ(sgl.prp2, bytes) << "length in the lower half, type 0 in the last byte";
    }
    EXPECT_EQ(build_sgl(memory, P, address + 512, 2 * P, lists).flags, 0x40) << "three pages";
    EXPECT_EQ(lists.small, 0u) << "no list was made";
}

TEST(PrpBuilder, RefusesUnalignedBuffers) {
    HostMemory memory(64_MiB);
    PrpListMemory lists;
    EXPECT_THROW(build_prp(memory, P, HostMemory::kBase + 2, 4096, lists), Panic);
}

TEST(SlotBuffer, GrowsByDoublingAndKeepsTheOffset) {
    HostMemory memory(64_MiB);
    SlotBuffer b;
    b.reserve(memory, 512, P, 0x204);
    EXPECT_EQ(b.capacity, P);
    EXPECT_EQ(b.address % P, 0x204u);
    EXPECT_EQ(b.data, memory.at(b.address, P));
    const std::uint64_t small = b.address;
    b.reserve(memory, 4096, P, 0x204);
    EXPECT_EQ(b.address, small);
    b.reserve(memory, SlotBuffer::kMaxBytes, P, 0x204);
    EXPECT_EQ(b.capacity, SlotBuffer::kMaxBytes);
    EXPECT_EQ(b.address % P, 0x204u);
    EXPECT_THROW(b.reserve(memory, SlotBuffer::kMaxBytes + 1, P, 0), Panic);
}

}  // namespace
}  // namespace ssdtlm
