// SPDX-License-Identifier: Apache-2.0
// What may be mapped, what is reached, and that nothing beyond it ever is.
#include "host_vfio/dma_regions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

namespace ssdtlm::vfio {
namespace {

constexpr std::uint32_t kBoth = kDmaReadable | kDmaWriteable;
using Where = DmaRegions::Where;

Fd memory(std::uint64_t bytes, bool sealable) {
    Fd fd(::memfd_create("m", sealable ? MFD_ALLOW_SEALING : 0));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    return fd;
}
Fd second(const Fd& fd) {
    return Fd(::dup(fd.get()));
}
DmaMap at(std::uint64_t address, std::uint64_t size, std::uint32_t flags = kBoth, std::uint64_t offset = 0) {
    return {sizeof(DmaMap), flags, offset, address, size};
}

TEST(DmaRegions, AMapOverAMapExists) {
    DmaRegions r;
    EXPECT_EQ(r.map(at(0x10000, 0x4000), Fd()), 0);
    for (const auto& [address, size] : {std::pair{0x10000u, 0x4000u},
                                        {0x13000u, 0x1000u},
                                        {0xF000u, 0x2000u},
                                        {0xF000u, 0x10000u},
                                        {0x11000u, 0x1000u}})
        EXPECT_EQ(r.map(at(address, size), Fd()), EEXIST) << address;
    EXPECT_EQ(r.map(at(0xF000, 0x1000), Fd()), 0);
    EXPECT_EQ(r.map(at(0x14000, 0x1000), Fd()), 0);
    EXPECT_EQ(r.count(), 3u);
}

TEST(DmaRegions, WhatIsNoMapIsInvalid) {
    DmaRegions r;
    EXPECT_EQ(r.map(at(0x10001, 0x1000), Fd()), EINVAL);
    EXPECT_EQ(r.map(at(0x10000, 0), Fd()), EINVAL);
    EXPECT_EQ(r.map(at(0x10000, 17), Fd()), EINVAL);
    EXPECT_EQ(r.map(at(~0xFFFull, 0x2000), Fd()), EINVAL) << "beyond the last address";
    EXPECT_EQ(r.map(at(0, 0x1000, 4), Fd()), EINVAL) << "an unknown flag";
    EXPECT_EQ(r.map({16, kBoth, 0, 0, 0x1000}, Fd()), EINVAL) << "argsz";
    EXPECT_EQ(r.map(at(0, 0x2000), memory(0x1000, true)), EINVAL) << "more than the file has";
    EXPECT_EQ(r.map(at(0, 0x1000, kBoth, 0x800), memory(0x2000, true)), EINVAL);
    EXPECT_EQ(r.map(at(0, 0x1000, kBoth, ~0xFFFull), memory(0x2000, true)), EINVAL);
    EXPECT_EQ(r.count(), 0u);
    EXPECT_EQ(r.map(at(~0xFFFull, 0x1000), Fd()), 0) << "the last page";
}

TEST(DmaRegions, AnUnmapIsOfAWholeRegion) {
    DmaRegions r;
    ASSERT_EQ(r.map(at(0x10000, 0x4000), Fd()), 0);
    EXPECT_EQ(r.unmap(0x10000, 0x2000), ENOENT);
    EXPECT_EQ(r.unmap(0x11000, 0x3000), ENOENT);
    EXPECT_EQ(r.unmap(0x10000, 0x4000), 0);
    EXPECT_EQ(r.unmap(0x10000, 0x4000), ENOENT);
}

// Both ways to reach memory, by the same accesses.
class DmaRegionsData : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Memory, DmaRegionsData, testing::Bool(),
                         [](const auto& p) { return std::string(p.param ? "Sealed" : "CanShrink"); });

TEST_P(DmaRegionsData, AreReadAndWrittenWithinTheirBounds) {
    DmaRegions r;
    const Fd m = memory(0x3000, GetParam());
    ASSERT_EQ(r.map(at(0x100000, 0x2000, kBoth, 0x1000), second(m)), 0);
    std::string out(64, '.');
    EXPECT_EQ(r.write(0x101FC0, std::string(64, 'w').data(), 64), Where::here);
    EXPECT_EQ(r.read(0x101FC0, out.data(), 64), Where::here);
    EXPECT_EQ(out, std::string(64, 'w'));
    char in_file[64] = {};
    EXPECT_EQ(::pread(m.get(), in_file, 64, 0x2FC0), 64);
    EXPECT_EQ(std::string(in_file, 64), out);
    for (const std::uint64_t address : {0x101FC1ull, 0xFFFC1ull, 0x102000ull, 0xFFFFFull, ~0ull, 0ull})
        EXPECT_EQ(r.write(address, out.data(), 64), Where::nowhere) << address;
    EXPECT_EQ(r.read(0x100000, out.data(), ~0ull), Where::nowhere);
    r.clear();
    EXPECT_EQ(r.read(0x100000, out.data(), 1), Where::nowhere);
}

TEST_P(DmaRegionsData, FlagsAreObeyed) {
    DmaRegions r;
    ASSERT_EQ(r.map(at(0, 0x1000, kDmaReadable), memory(0x1000, GetParam())), 0);
    ASSERT_EQ(r.map(at(0x1000, 0x1000, kDmaWriteable), memory(0x1000, GetParam())), 0);
    char b = 0;
    EXPECT_EQ(r.read(0, &b, 1), Where::here);
    EXPECT_EQ(r.write(0, &b, 1), Where::nowhere);
    EXPECT_EQ(r.read(0x1000, &b, 1), Where::nowhere);
    EXPECT_EQ(r.write(0x1000, &b, 1), Where::here);
}

TEST_P(DmaRegionsData, AClientThatShrinksItsMemoryDoesNotEndUs) {
    DmaRegions r;
    const Fd m = memory(0x2000, GetParam());
    ASSERT_EQ(r.map(at(0, 0x2000), second(m)), 0);
    const bool shrunk = ::ftruncate(m.get(), 0x1000) == 0;
    EXPECT_EQ(shrunk, !GetParam());
    char b = 'x';
    EXPECT_EQ(r.write(0x1800, &b, 1), shrunk ? Where::nowhere : Where::here);
    EXPECT_EQ(r.read(0x1800, &b, 1), shrunk ? Where::nowhere : Where::here);
    EXPECT_EQ(r.read(0x800, &b, 1), Where::here);
}

TEST(DmaRegions, WithoutMemoryTheClientIsAsked) {
    DmaRegions r;
    ASSERT_EQ(r.map(at(0xFE601000, 0x1000), Fd()), 0);
    char b = 0;
    EXPECT_EQ(r.read(0xFE601010, &b, 1), Where::client);
    EXPECT_EQ(r.write(0xFE601010, &b, 1), Where::client);
    EXPECT_EQ(r.write(0xFE601FFF, &b, 2), Where::nowhere);
}

}  // namespace
}  // namespace ssdtlm::vfio
