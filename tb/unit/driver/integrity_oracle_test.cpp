// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/report/error.h"
#include "unit/driver/oracle_bench.h"

namespace ssdtlm {
namespace {

/// Reads one block as version v; true when the oracle accepts it.
bool reads(IntegrityOracle& o, std::uint64_t lba, std::uint32_t v) {
    Buffer b(1);
    const auto token = o.begin_read(1, b.data());
    b.set(0, lba, v);
    try {
        o.check_read(token, lba, 1, b.data(), kReader);
        return true;
    } catch (const CheckFailed&) {
        return false;
    }
}

std::uint32_t write(IntegrityOracle& o, std::uint64_t lba, std::uint32_t blocks) {
    Buffer b(blocks);
    o.begin_write(lba, blocks, b.data());
    o.end_write(lba, blocks, true);
    return b.at(0).version;
}

TEST(IntegrityOracle, StartsFilledUpToAUnit) {
    IntegrityOracle o(geometry(5, 3));
    EXPECT_TRUE(reads(o, 23, 1));
    EXPECT_FALSE(reads(o, 23, 0));
    EXPECT_TRUE(reads(o, 24, 0));
    EXPECT_FALSE(reads(o, 24, 1));
    EXPECT_TRUE(reads(o, 39, 0));
    EXPECT_EQ(o.capacity_blocks(), 40u);
    EXPECT_EQ(o.blocks_checked(), 5u);
}

TEST(IntegrityOracle, StampsEveryBlockAndKnowsTheWholeUnit) {
    IntegrityOracle o(geometry(8, 8));
    Buffer b(10);
    o.begin_write(6, 10, b.data());  // two blocks of unit 0, all of unit 1
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_EQ(b.at(i).lba, 6u + i);
        EXPECT_EQ(b.at(i).version, 2u);
        EXPECT_EQ(b.at(i).magic, BlockSignature::kMagic);
    }
    EXPECT_EQ(o.open_units(), 2u);
    o.end_write(6, 10, true);
    EXPECT_EQ(o.open_units(), 0u);
    EXPECT_TRUE(reads(o, 0, 2));  // not written, but of the same unit
    EXPECT_FALSE(reads(o, 0, 1));
    EXPECT_TRUE(reads(o, 16, 1));
}

TEST(IntegrityOracle, VersionsGoRoundWithoutZero) {
    for (unsigned bits : {1u, 2u, 3u, 4u, 8u}) {
        IntegrityOracle o(geometry(4, 4, bits));
        const std::uint32_t max = (1u << std::min(bits, 4u)) - 1;
        EXPECT_EQ(o.max_version(), max);
        for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(write(o, 0, 8), 1 + (i + 1) % max);
    }
    EXPECT_THROW(IntegrityOracle(geometry(4, 4, 0)), UserError);
}

TEST(IntegrityOracle, TrimsOnlyWholeUnits) {
    IntegrityOracle o(geometry(4, 4));
    o.begin_trim(4, 16);  // half of unit 0, all of unit 1, half of unit 2
    EXPECT_TRUE(reads(o, 8, 1));
    EXPECT_TRUE(reads(o, 8, 0));
    o.end_trim(4, 16, true);
    EXPECT_TRUE(reads(o, 4, 1));
    EXPECT_FALSE(reads(o, 4, 0));
    EXPECT_TRUE(reads(o, 8, 0));
    EXPECT_FALSE(reads(o, 8, 1));
    EXPECT_TRUE(reads(o, 16, 1));
    o.begin_trim(1, 6);  // inside one unit: nothing
    EXPECT_EQ(o.open_units(), 0u);
    o.end_trim(1, 6, true);
    EXPECT_TRUE(reads(o, 1, 1));
}

TEST(IntegrityOracle, AVersionAfterATrimComesFromARollingCount) {
    IntegrityOracle o(geometry(64, 0));
    std::set<std::uint32_t> seen;
    for (std::uint64_t u = 0; u < 15; ++u) seen.insert(write(o, u * 8, 8));
    EXPECT_EQ(seen.size(), 15u);
}

TEST(IntegrityOracle, OverlappingWritesStayOpenUntilALoneOne) {
    IntegrityOracle o(geometry(4, 4));
    Buffer b(8);
    o.begin_write(0, 8, b.data());
    const auto v1 = b.at(0).version;
    o.begin_write(0, 8, b.data());
    const auto v2 = b.at(0).version;
    EXPECT_NE(v1, v2);
    for (std::uint32_t v : {1u, v1, v2}) EXPECT_TRUE(reads(o, 3, v));
    o.end_write(0, 8, true);
    EXPECT_FALSE(reads(o, 3, 1));  // one of the two has taken effect
    o.end_write(0, 8, true);
    EXPECT_TRUE(reads(o, 3, v1));
    EXPECT_TRUE(reads(o, 3, v2));
    EXPECT_EQ(o.open_units(), 1u);
    const auto v3 = write(o, 0, 1);
    EXPECT_NE(v3, v1);
    EXPECT_NE(v3, v2);
    EXPECT_EQ(o.open_units(), 0u);
    EXPECT_TRUE(reads(o, 3, v3));
    EXPECT_FALSE(reads(o, 3, v2));
}

TEST(IntegrityOracle, RefusesTheEndOfWhatWasNotBegun) {
    IntegrityOracle o(geometry(4, 4));
    EXPECT_THROW(o.end_write(0, 8, true), Panic);
    Buffer b(8);
    o.begin_write(0, 8, b.data());
    o.begin_write(0, 8, b.data());
    o.end_write(0, 8, true);
    o.end_write(0, 8, true);
    EXPECT_THROW(o.end_write(0, 8, true), Panic) << "two were begun; which is the last is still open";
    EXPECT_THROW(o.end_trim(8, 8, true), Panic);
}

TEST(IntegrityOracle, AFailedWriteMayHaveHappened) {
    IntegrityOracle o(geometry(4, 4));
    Buffer b(8);
    o.begin_write(0, 8, b.data());
    o.end_write(0, 8, false);
    EXPECT_TRUE(reads(o, 0, 1));
    EXPECT_TRUE(reads(o, 0, 2));
    EXPECT_FALSE(reads(o, 0, 3));
}

TEST(IntegrityOracle, ALongReadMaySeeWhatCameAndWentMeanwhile) {
    IntegrityOracle o(geometry(4, 4));
    Buffer r(1);
    const auto token = o.begin_read(1, r.data());
    const auto v2 = write(o, 0, 8);
    const auto v3 = write(o, 0, 8);
    for (std::uint32_t v : {1u, v2, v3}) {
        r.set(0, 5, v);
        EXPECT_NO_THROW(o.check_read(token, 5, 1, r.data(), kReader)) << v;
        o.begin_read(1, r.data());
    }
    r.set(0, 5, 9);
    EXPECT_THROW(o.check_read(token, 5, 1, r.data(), kReader), CheckFailed);
    EXPECT_FALSE(reads(o, 5, 1));  // a read submitted now must see the last
    EXPECT_EQ(o.unverified(), 0u);
}

TEST(IntegrityOracle, AReadOlderThanTheLogIsAcceptedAndCounted) {
    IntegrityOracle o(geometry(4, 4));
    Buffer r(1);
    const auto token = o.begin_read(1, r.data());
    for (int i = 0; i < 40000; ++i) write(o, 0, 8);
    const auto last = write(o, 0, 8);
    r.set(0, 5, last % 15 + 1);
    EXPECT_NO_THROW(o.check_read(token, 5, 1, r.data(), kReader));
    EXPECT_EQ(o.unverified(), 1u);
}

// The log reaches back 2^16 changes, two for each write, wherever in it the read has begun.
TEST(IntegrityOracle, TheLogReachesBackSixtyFourThousandChanges) {
    for (const int earlier : {0, 1, 20'000, 40'000})
        for (const int writes : {1, 32'767, 32'768, 32'769}) {
            IntegrityOracle o(geometry(4, 4));
            Buffer other(1), r(1);
            o.begin_read(1, other.data());  // keeps the log going
            for (int i = 0; i < earlier; ++i) write(o, 0, 8);
            const auto token = o.begin_read(1, r.data());
            for (int i = 0; i < writes; ++i) write(o, 8, 8);  // of another unit
            r.set(0, 5, (1 + static_cast<std::uint32_t>(earlier + 7) % 15));
            bool refused = false;
            try {
                o.check_read(token, 5, 1, r.data(), kReader);
            } catch (const CheckFailed&) {
                refused = true;
            }
            EXPECT_EQ(refused, 2 * writes <= 1 << 16) << writes << " writes after " << earlier;
            EXPECT_EQ(o.unverified(), refused ? 0u : 1u);
        }
}

TEST(IntegrityOracle, SaysWhatIsWrong) {
    IntegrityOracle o(geometry(4, 4));
    Buffer b(8);
    const auto text = [&](auto change) {
        const auto token = o.begin_read(8, b.data());
        for (std::uint32_t i = 0; i < 8; ++i) b.set(i, i, 1);
        change();
        try {
            o.check_read(token, 0, 8, b.data(), kReader);
        } catch (const CheckFailed& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(text([] {}), "");
    EXPECT_EQ(
        text([&] { b.set(3, 3, 2); }),
        "integrity: LBA 3 (mapping unit 0): expected version 1, found LBA 3 version 2; read of 8 blocks at LBA 0, "
        "queue 1 CID 7, completed at 42000 ps");
    EXPECT_THAT(text([&] { b.set(7, 8, 1); }),
                testing::HasSubstr("LBA 7 (mapping unit 0): expected version 1, found LBA 8 version 1"));
    EXPECT_THAT(text([&] { b.set(0, 0, 0); }), testing::HasSubstr("found a deallocated block"));
    EXPECT_THAT(text([&] { b.bytes[15] ^= 1; }), testing::HasSubstr("found no signature"));
    EXPECT_THAT(text([&] {
                    o.abandon_read();
                    o.begin_read(8, b.data());
                }),
                testing::HasSubstr("never transferred"));
}

// Whatever 16 bytes stand where version 1 of LBA 3 is expected. What begin_read() leaves there says that nothing came.
TEST(IntegrityOracle, SaysWhatWasFoundInstead) {
    IntegrityOracle o(geometry(4, 4));
    Buffer b(1);
    o.begin_read(1, b.data());
    const std::uint32_t untouched = b.at(0).magic;
    o.abandon_read();
    for (const std::uint64_t lba : {0, 3, 8})
        for (const std::uint32_t version : {0u, 1u, 2u, 15u, 16u, 33u})
            for (const std::uint32_t magic : {0u, BlockSignature::kMagic, BlockSignature::kMagic ^ 1u, untouched}) {
                std::string expected;
                if (lba == 3 && version == 1 && magic == BlockSignature::kMagic)
                    expected = "";
                else if (magic == untouched)
                    expected = "no data (the block was never transferred)";
                else if (magic == BlockSignature::kMagic)
                    expected = "LBA " + std::to_string(lba) + " version " + std::to_string(version);
                else
                    expected = lba == 0 && version == 0 && magic == 0 ? "a deallocated block" : "no signature";
                const auto token = o.begin_read(1, b.data());
                BlockSignature{lba, version, magic}.store(b.data());
                std::string found;
                try {
                    o.check_read(token, 3, 1, b.data(), kReader);
                } catch (const CheckFailed& e) {
                    const std::string text = e.what();
                    const auto from = text.find("found ") + 6;
                    found = text.substr(from, text.find("; read of") - from);
                }
                EXPECT_EQ(found, expected) << lba << " " << version << " " << magic;
            }
}

TEST(IntegrityOracle, RefusesBlocksOutsideTheDevice) {
    IntegrityOracle o(geometry(3, 3));
    const std::uint64_t capacity = o.capacity_blocks();
    ASSERT_EQ(capacity, 24u);
    const auto refuses = [](auto operation) {
        try {
            operation();
            return false;
        } catch (const Panic&) {
            return true;
        }
    };
    constexpr std::uint64_t kFar = ~std::uint64_t{0};
    for (const std::uint64_t slba :
         {std::uint64_t{0}, std::uint64_t{1}, capacity - 1, capacity, capacity + 1, kFar - 1, kFar})
        for (const std::uint64_t blocks :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, capacity - 1, capacity, capacity + 1, kFar}) {
            const bool outside = slba > capacity || blocks > capacity - slba;
            EXPECT_EQ(refuses([&] {
                          o.begin_trim(slba, blocks);
                          o.end_trim(slba, blocks, true);
                      }),
                      outside)
                << "trim of " << blocks << " at " << slba;
            if (blocks == 0 || blocks == kFar) continue;  // of writes and reads the command says how many
            const auto n = static_cast<std::uint32_t>(blocks);
            Buffer b(n);
            EXPECT_EQ(refuses([&] {
                          o.begin_write(slba, n, b.data());
                          o.end_write(slba, n, true);
                      }),
                      outside)
                << "write of " << blocks << " at " << slba;
            const auto token = o.begin_read(n, b.data());
            if (!outside) {  // what was written last
                o.begin_write(slba, n, b.data());
                o.end_write(slba, n, true);
            }
            EXPECT_EQ(refuses([&] { o.check_read(token, slba, n, b.data(), kReader); }), outside)
                << "read of " << blocks << " at " << slba;
        }
}

// Both sizes powers of two, the unit at least a block; at least one unit, and numbers that a table of units can hold.
TEST(IntegrityOracle, RefusesAGeometryThatIsNone) {
    const auto refuses = [](IntegrityOracle::Geometry g) {
        try {
            IntegrityOracle o(g);
            EXPECT_EQ(o.capacity_blocks(), g.units * g.unit_bytes / g.lba_bytes);
            return false;
        } catch (const Panic&) {
            return true;
        }
    };
    for (const std::uint32_t lba : {512u, 520u, 4096u, 6144u})
        for (const std::uint32_t unit : {512u, 520u, 1024u, 4096u, 6144u, 16384u}) {
            const bool right = (lba == 512 || lba == 4096) && unit >= lba && unit % lba == 0;  // units are whole blocks
            EXPECT_EQ(refuses({4, unit, lba, 4, 4}), !right) << unit << " and " << lba;
        }
    for (const std::uint64_t units : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{UnitTable::kEmpty} - 1,
                                      std::uint64_t{UnitTable::kEmpty}, std::uint64_t{UnitTable::kEmpty} + 1})
        EXPECT_EQ(refuses({units, 4096, 512, 0, 4}), units == 0 || units >= UnitTable::kEmpty) << units;
}

}  // namespace
}  // namespace ssdtlm
