// SPDX-License-Identifier: Apache-2.0
// SGLs: the walk alone against random lists, what is wrong with one, and commands on bytes whose data lie in pieces.
#include "controller/nvme/sgl.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "common/random/random.h"
#include "unit/nvme/memory_drive.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::DriveBench;
using test::Pair;
using D = SglDescriptor;

// NVMe 1.4 figures 116 to 121, byte by byte.
TEST(Sgl, DescriptorsAreSixteenBytes) {
    const D d = D::of(D::kLastSegment, 0x1122'3344'5566'7788, 0x99AABBCC);
    const std::uint8_t bytes[16] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
                                    0xCC, 0xBB, 0xAA, 0x99, 0,    0,    0,    0x30};
    EXPECT_EQ(std::memcmp(&d, bytes, 16), 0);
    Sqe s;
    s.flags = 2;  // second of a pair
    set_sgl(s, d);
    EXPECT_EQ(s.flags, 0x42);
    EXPECT_EQ(std::memcmp(reinterpret_cast<const std::uint8_t*>(&s) + 24, bytes, 16), 0);
    EXPECT_EQ(sgl_of(s).length, d.length);
}

/// Host memory of descriptors alone.
struct Lists {
    std::map<std::uint64_t, D> at;
    HostData data;
    SglWalk walk;
    std::uint32_t reads = 0;

    std::uint16_t run(const D& first, std::uint64_t bytes, bool to_host = false) {
        WalkStep step = walk.start(first, bytes, to_host, data);
        for (; step == WalkStep::need_list; ++reads) {
            EXPECT_LE(walk.list_bytes(), kPageBytes);
            std::vector<std::uint8_t> page(walk.list_bytes());
            for (std::uint32_t i = 0; i < page.size(); i += 16) store(page.data() + i, at[walk.list_address() + i]);
            step = walk.feed(page.data(), data);
        }
        return step == WalkStep::done ? kStSuccess : walk.status();
    }
};

TEST(Sgl, RandomLists) {
    std::uint64_t segments = 0, buckets = 0, reads = 0, long_ones = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Random random(seed);
        Lists lists;
        struct Piece {
            std::uint64_t address, bytes;
            bool wanted;
        };
        std::vector<Piece> expected;
        const bool to_host = random.percent(50);
        std::uint64_t bytes = 0, next = 0x10'0000;
        const auto block = [&] {
            const auto length = static_cast<std::uint32_t>(4 * random.below(2000));
            if (random.percent(20)) {
                ++buckets;
                if (to_host && length != 0) expected.push_back({0, length, false});
                if (to_host) bytes += length;
                return D::of(D::kBitBucket, random.below(1000), length);
            }
            const std::uint64_t address = 4 * random.below(std::uint64_t{1} << 40);
            if (length != 0) expected.push_back({address, length, true});
            bytes += length;
            return D::of(D::kDataBlock, address, length);
        };
        const std::uint64_t count = 1 + random.below(5);
        D first, *link = &first;
        for (std::uint64_t i = 0; i < count; ++i, ++segments) {
            const bool last = i + 1 == count;
            const std::uint64_t n = 1 + random.below(random.percent(10) ? 600 : 12);
            long_ones += n > 256;
            *link = D::of(last ? D::kLastSegment : D::kSegment, next, static_cast<std::uint32_t>(16 * n));
            for (std::uint64_t e = 0; e < n; ++e) lists.at[next + 16 * e] = e + 1 < n || last ? block() : D{};
            link = &lists.at[next + 16 * (n - 1)];
            next += 16 * n + 8 * random.below(100);
            if (next % 16 != 0) next += 8;
        }
        if (bytes == 0) continue;
        ASSERT_EQ(lists.run(first, bytes, to_host), kStSuccess) << "seed " << seed;
        reads += lists.reads;
        ASSERT_EQ(lists.data.bytes(), bytes);
        std::uint64_t place = 0;
        for (const Piece& p : expected) {
            std::uint64_t seen = 0;
            lists.data.for_each(place, p.bytes, [&](std::uint64_t from, std::uint64_t n) {
                EXPECT_EQ(lists.data.address_of(from), p.address + (from - place));
                seen += n;
            });
            ASSERT_EQ(seen, p.wanted ? p.bytes : 0u) << "seed " << seed;
            place += p.bytes;
        }
        ASSERT_EQ(place, bytes);
        // The same list is too short for a dword more, and too long for a dword less.
        for (const std::uint64_t other : {bytes + 4, bytes - 4}) {
            if (other == 0) continue;
            lists.data.clear();
            lists.walk = SglWalk{};
            ASSERT_EQ(lists.run(first, other, to_host), kStSglLengthInvalid);
        }
    }
    std::printf("%llu segments, %llu of more than a page, %llu reads, %llu bit buckets\n",
                static_cast<unsigned long long>(segments), static_cast<unsigned long long>(long_ones),
                static_cast<unsigned long long>(reads), static_cast<unsigned long long>(buckets));
    EXPECT_GT(reads, segments);
    EXPECT_GT(long_ones, 10u);
    EXPECT_GT(buckets, 500u);
}

TEST(Sgl, WhatIsRefused) {
    const D block = D::of(D::kDataBlock, 0x1000, 512), bucket = D::of(D::kBitBucket, 0, 512);
    const auto ends = [](const D& first, const std::vector<D>& at_2000, std::uint64_t bytes = 512,
                         bool to_host = false) {
        Lists lists;
        for (std::size_t i = 0; i < at_2000.size(); ++i) lists.at[0x2000 + 16 * i] = at_2000[i];
        return lists.run(first, bytes, to_host);
    };
    const auto segment = [](std::uint32_t length) { return D::of(D::kSegment, 0x2000, length); };
    const auto last = [](std::uint32_t length) { return D::of(D::kLastSegment, 0x2000, length); };
    EXPECT_EQ(ends(block, {}), kStSuccess);
    EXPECT_EQ(ends(block, {}, 1024), kStSglLengthInvalid) << "too short";
    EXPECT_EQ(ends(block, {}, 256), kStSglLengthInvalid) << "too long";
    EXPECT_EQ(ends(bucket, {}, 512, true), kStSuccess) << "nothing is wanted";
    EXPECT_EQ(ends(bucket, {}), kStSglLengthInvalid) << "of a write it is nothing";
    EXPECT_EQ(ends(last(16), {block}), kStSuccess);
    EXPECT_EQ(ends(last(32), {block, D::of(D::kDataBlock, 0, 0)}), kStSuccess) << "an empty block behind all data";
    EXPECT_EQ(ends(last(16), {bucket}, 512, true), kStSuccess);
    EXPECT_EQ(ends(segment(16), {block}), kStSuccess) << "as QEMU takes it";
    EXPECT_EQ(ends(last(0), {}), kStInvalidSglSegment);
    EXPECT_EQ(ends(last(24), {block}), kStInvalidSglSegment);
    EXPECT_EQ(ends(D::of(D::kLastSegment, 0x2004, 16), {}), kStInvalidSglSegment);
    EXPECT_EQ(ends(last(16), {last(16)}), kStInvalidSglSegment) << "behind the last one";
    EXPECT_EQ(ends(segment(32), {last(16), block}), kStInvalidSglCount);
    EXPECT_EQ(ends(segment(16), {segment(16)}), kStInvalidSglCount) << "in circles";
    EXPECT_EQ(ends(D::of(4, 0x1000, 512), {}), kStSglTypeInvalid) << "keyed";
    EXPECT_EQ(ends(last(16), {D::of(0xF, 0x1000, 512)}), kStSglTypeInvalid) << "vendor's";
    D offset = block;
    offset.identifier |= 1;
    EXPECT_EQ(ends(offset, {}), kStSglTypeInvalid) << "an offset in place of an address";
    offset = last(16);
    offset.identifier |= 1;
    EXPECT_EQ(ends(offset, {block}), kStSglTypeInvalid);
    EXPECT_EQ(ends(D::of(D::kDataBlock, 0x1002, 512), {}), kStSglGranularity);
    EXPECT_EQ(ends(D::of(D::kDataBlock, 0x1000, 510), {}), kStSglGranularity);
    EXPECT_EQ(ends(D::of(D::kDataBlock, ~std::uint64_t{0} - 3, 512), {}), kStSglLengthInvalid) << "around the end";
}

struct SglCommands : testing::Test {
    static NvmeConfig config() {
        NvmeConfig c = test::NvmeBench::small();
        c.sgls = true;
        return c;
    }
    SglCommands() {
        b.enable();
        p = b.create_pair(1);
    }
    ~SglCommands() override {
        b.controller->check_waiters();
        b.controller->check_books();
    }
    /// The data of `s` in pieces of these lengths behind kData, each a page further; a negative one is a bit bucket.
    void scatter(Sqe& s, const std::vector<std::int32_t>& lengths) {
        std::uint64_t at = DriveBench::kOther, page = DriveBench::kData;
        for (const std::int32_t n : lengths) {
            b.dma.put(at, n < 0 ? D::of(D::kBitBucket, 0, static_cast<std::uint32_t>(-n))
                                : D::of(D::kDataBlock, page, static_cast<std::uint32_t>(n)));
            at += 16;
            page += 4096;
        }
        set_sgl(s, D::of(D::kLastSegment, DriveBench::kOther, static_cast<std::uint32_t>(16 * lengths.size())));
    }
    std::uint16_t status(const Sqe& s) { return b.run(p, s).status(); }
    const std::uint8_t* host(std::uint64_t page) const { return &b.dma.memory[DriveBench::kData + 4096 * page]; }

    DriveBench b{config()};
    Pair p;
};

TEST_F(SglCommands, WriteAndReadInPieces) {
    b.fill(DriveBench::kData, 3 * 4096, 1);
    Sqe s = b.io(kIoWrite, 16, 6);
    scatter(s, {1000, 72, 2000});
    const std::size_t reads = b.dma.read_sizes.size();
    EXPECT_EQ(status(s), kStSuccess);
    EXPECT_EQ(std::vector<std::uint32_t>(b.dma.read_sizes.begin() + static_cast<std::ptrdiff_t>(reads),
                                         b.dma.read_sizes.end()),
              (std::vector<std::uint32_t>{64, 48, 3072}))
        << "entry, three descriptors, data";
    const std::uint8_t* const drive = &b.drive.memory[16 * 512];
    EXPECT_TRUE(std::equal(host(0), host(0) + 1000, drive));
    EXPECT_TRUE(std::equal(host(1), host(1) + 72, drive + 1000));
    EXPECT_TRUE(std::equal(host(2), host(2) + 2000, drive + 1072));
    std::fill_n(b.dma.memory.begin() + DriveBench::kData, 3 * 4096, std::uint8_t{0});
    s = b.io(kIoRead, 16, 6);
    scatter(s, {4, 3064, 4});
    EXPECT_EQ(status(s), kStSuccess);
    EXPECT_TRUE(std::equal(host(0), host(0) + 4, drive));
    EXPECT_TRUE(std::equal(host(1), host(1) + 3064, drive + 4));
    EXPECT_TRUE(std::equal(host(2), host(2) + 4, drive + 3068));
    EXPECT_EQ(host(0)[4], 0) << "nothing behind a piece";
    s = b.io(kIoCompare, 16, 6);
    scatter(s, {4, 3064, 4});
    EXPECT_EQ(status(s), kStSuccess);
    b.dma.memory[DriveBench::kData + 2 * 4096 + 3] ^= 1;
    EXPECT_EQ(status(s), kStCompareFailure);
}

TEST_F(SglCommands, BitBucketsTakeWhatIsNotWanted) {
    for (std::size_t i = 0; i < 8192; ++i) b.drive.memory[i] = static_cast<std::uint8_t>(1 + i / 32);
    Sqe s = b.io(kIoRead, 0, 16);
    scatter(s, {512, -1024, 100, -4, 3000, -3552});
    EXPECT_EQ(status(s), kStSuccess);
    const std::uint8_t* const drive = b.drive.memory.data();
    EXPECT_TRUE(std::equal(host(0), host(0) + 512, drive));
    EXPECT_EQ(host(1)[0], 0);
    EXPECT_TRUE(std::equal(host(2), host(2) + 100, drive + 1536));
    EXPECT_TRUE(std::equal(host(4), host(4) + 3000, drive + 1640));
    EXPECT_EQ(host(4)[3000], 0);
    EXPECT_EQ(b.controller->counters().bytes_read, 8192u) << "of the drive";
    set_sgl(s, D::of(D::kBitBucket, 0, 8192));
    EXPECT_EQ(status(s), kStSuccess) << "nothing at all is wanted";
    // A write knows none.
    s = b.io(kIoWrite, 0, 1);
    scatter(s, {-512, 512});
    b.fill(DriveBench::kData + 4096, 512, 77);
    EXPECT_EQ(status(s), kStSuccess);
    EXPECT_EQ(b.drive.memory[0], 77);
}

TEST_F(SglCommands, RangesByADescriptorAndByASegment) {
    b.drive.memory.assign(b.drive.memory.size(), 9);
    b.dma.put(DriveBench::kData, DsmRange{0, 8, 8});
    b.dma.put(DriveBench::kData + 4096, DsmRange{0, 8, 32});
    Sqe s = b.io(kIoDatasetMgmt, 0, 1);
    s.cdw10 = 1, s.cdw11 = kDsmDeallocate, s.cdw12 = 0;
    scatter(s, {16, 16});
    EXPECT_EQ(status(s), kStSuccess);
    EXPECT_EQ(b.drive.memory[8 * 512], 0);
    EXPECT_EQ(b.drive.memory[32 * 512 + 4095], 0);
    EXPECT_EQ(b.drive.memory[40 * 512], 9);
    b.dma.memory[DriveBench::kData] = 0;
    std::vector<std::uint8_t> range(32);
    store(range.data() + 8, std::uint64_t{8});
    std::copy(range.begin(), range.end(), b.dma.memory.begin() + DriveBench::kData);
    s = b.io(kIoCopy, 64, 1);
    s.cdw12 = 0;
    set_sgl(s, D::of(D::kDataBlock, DriveBench::kData, 32));
    EXPECT_EQ(status(s), kStSuccess);
    EXPECT_EQ(b.drive.memory[64 * 512], 0);
}

TEST_F(SglCommands, OnlyIoCommandsHaveThem) {
    Sqe s = b.admin_command(kAdminIdentify, 0, kCnsController);
    set_sgl(s, D::of(D::kDataBlock, DriveBench::kData, 4096));
    EXPECT_EQ(b.run_admin(s).status(), kStInvalidField);
    s = b.io(kIoFlush, 0, 1);
    s.flags = kFlagsSgl;
    EXPECT_EQ(status(s), kStSuccess) << "it has no data";
    b.run_admin(b.admin_command(kAdminIdentify, 0, kCnsController));
    EXPECT_EQ(b.dma.get<std::uint32_t>(DriveBench::kData + 536), 0x10002u) << "SGLS: double words, bit buckets";
}

// Aborted while its segment is read: it ends once, and nothing is left.
TEST_F(SglCommands, AbortAndResetWhileASegmentIsRead) {
    for (const bool reset : {false, true}) {
        Sqe s = b.io(kIoDatasetMgmt, 0, 1);
        s.cdw10 = 0, s.cdw11 = kDsmDeallocate, s.cdw12 = 0;
        s.cid = 7;
        scatter(s, {16});
        b.push(p, s);
        b.dma.read_times = {Ps{1us}, Ps{1ms}};
        b.ring(p);
        b.agenda.run_until(b.agenda.now() + 5us);
        if (reset) {
            b.write(kRegCc, 0);
            b.agenda.run();
            EXPECT_EQ(b.csts(), 0u);
            break;
        }
        b.run_admin(b.admin_command(kAdminAbort, 0, 1 | 7u << 16));
        EXPECT_EQ(b.take(p).status(), kStAbortRequested);
        b.ring_head(p);
        b.agenda.run();
    }
}

}  // namespace
}  // namespace ssdtlm
