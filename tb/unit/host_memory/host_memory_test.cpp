// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/host_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace {

TEST(HostMemory, ReadsZeroBeforeTheFirstWrite) {
    HostMemory m;
    std::vector<std::uint8_t> b(100'000, 0xFF);
    m.read(HostMemory::kBase + 12'345, b.data(), b.size());
    EXPECT_TRUE(std::all_of(b.begin(), b.end(), [](std::uint8_t v) { return v == 0; }));
    EXPECT_EQ(m.load<std::uint64_t>(HostMemory::kBase + m.size() - 8), 0u);
    EXPECT_EQ(*m.at(HostMemory::kBase + 5 * HostMemory::kChunkBytes, 1), 0u);
}

TEST(HostMemory, AgreesWithAFlatArrayAcrossChunks) {
    constexpr std::uint64_t kSpan = 3 * HostMemory::kChunkBytes;
    HostMemory m(kSpan);
    std::vector<std::uint8_t> flat(kSpan), buffer(200'000);
    Random r(3);
    for (int n = 0; n < 500; ++n) {
        const std::uint64_t bytes = 1 + r.below(buffer.size() - 1);
        const std::uint64_t offset = r.below(kSpan - bytes + 1);
        if (r.below(2)) {
            for (std::uint64_t i = 0; i < bytes; ++i) buffer[i] = static_cast<std::uint8_t>(r.next());
            m.write(HostMemory::kBase + offset, buffer.data(), bytes);
            std::copy_n(buffer.begin(), bytes, flat.begin() + static_cast<std::ptrdiff_t>(offset));
        } else {
            m.read(HostMemory::kBase + offset, buffer.data(), bytes);
            ASSERT_TRUE(std::equal(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes),
                                   flat.begin() + static_cast<std::ptrdiff_t>(offset)));
        }
    }
    m.store<std::uint32_t>(HostMemory::kBase + 64, 0x11223344);
    EXPECT_EQ(*m.at(HostMemory::kBase + 64, 4), 0x44);
}

TEST(HostMemory, AllocationsAreAlignedDisjointAndContiguousUpToAChunk) {
    HostMemory m;
    Random r(5);
    std::uint64_t end = HostMemory::kBase;
    for (int n = 0; n < 2000; ++n) {
        const std::uint64_t bytes = 1 + r.below(n % 50 == 0 ? HostMemory::kChunkBytes : 70'000);
        const std::uint64_t alignment = std::uint64_t{1} << r.below(17);
        const std::uint64_t a = m.allocate(bytes, alignment);
        ASSERT_EQ(a % alignment, 0u);
        ASSERT_GE(a, end);
        ASSERT_EQ(m.at(a, bytes) + bytes - 1, m.at(a + bytes - 1, 1));
        end = a + bytes;
    }
    EXPECT_NO_THROW(m.allocate(3 * HostMemory::kChunkBytes, 4096));  // longer than a chunk: through read() and write()
}

TEST(HostMemory, FindsWhatWasTouched) {
    HostMemory m(2 * HostMemory::kChunkBytes);
    EXPECT_EQ(m.find(HostMemory::kBase + 64, 4), nullptr);
    std::uint8_t* const at = m.at(HostMemory::kBase + 64, 4);
    EXPECT_EQ(m.find(HostMemory::kBase + 64, 4), at);
    EXPECT_EQ(m.find(HostMemory::kBase + 100, 1), at + 36);
    EXPECT_EQ(m.find(HostMemory::kBase + HostMemory::kChunkBytes - 4, 4), at + HostMemory::kChunkBytes - 68);
    EXPECT_EQ(m.find(HostMemory::kBase + HostMemory::kChunkBytes - 4, 5), nullptr);
    EXPECT_EQ(m.find(HostMemory::kBase + HostMemory::kChunkBytes, 1), nullptr);
    EXPECT_EQ(m.find(HostMemory::kBase + 2 * HostMemory::kChunkBytes - 1, 2), nullptr);
    EXPECT_EQ(m.find(HostMemory::kBase - 1, 1), nullptr);
}

TEST(HostMemory, RefusesWhatItHasNot) {
    HostMemory m(1_MiB);
    EXPECT_FALSE(m.contains(HostMemory::kBase - 1, 1));
    EXPECT_FALSE(m.contains(HostMemory::kBase + 1_MiB - 1, 2));
    EXPECT_FALSE(m.contains(HostMemory::kBase, ~std::uint64_t{0}));
    EXPECT_TRUE(m.contains(HostMemory::kBase, 1_MiB));
    EXPECT_THROW(m.load<std::uint8_t>(0), Panic);
    EXPECT_THROW(m.at(HostMemory::kBase + 1_MiB - 4, 8), Panic);
    EXPECT_THROW(m.allocate(1, 3), Panic);
    m.allocate(1_MiB - 100, 1);
    EXPECT_THROW(m.allocate(101, 1), UserError);
    EXPECT_NO_THROW(m.allocate(100, 1));
}

}  // namespace
}  // namespace ssdtlm
