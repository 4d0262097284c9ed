// SPDX-License-Identifier: Apache-2.0
// The integrity check where contents are bytes: versions by logical block, and every byte counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "host_pcie/driver/integrity_oracle.h"

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;
using Content = std::vector<std::uint8_t>;
constexpr std::uint32_t kLba = 512, kPerUnit = 8;
constexpr std::uint64_t kSeed = 11;
constexpr IntegrityOracle::Reader kReader{1, 7, SimTime{42ns}};

IntegrityOracle::Geometry geometry(std::uint64_t units, std::uint64_t filled) {
    IntegrityOracle::Geometry g{units, kPerUnit * kLba, kLba, filled, 0};  // the device keeps no versions
    g.bytes_of_seed = kSeed;
    return g;
}

Content block(std::uint64_t lba, std::uint32_t version) {
    Content bytes(kLba);
    BlockBytes(kSeed, kLba).fill(lba, version, bytes.data());
    return bytes;
}

/// Reads blocks as these bytes; the refusal, or nothing.
std::string read(IntegrityOracle& o, std::uint64_t lba, const Content& as) {
    Content buffer(as.size());
    const auto blocks = static_cast<std::uint32_t>(as.size() / kLba);
    const auto token = o.begin_read(blocks, buffer.data());
    buffer = as;
    try {
        o.check_read(token, lba, blocks, buffer.data(), kReader);
        return {};
    } catch (const CheckFailed& e) {
        return e.what();
    }
}

Content write(IntegrityOracle& o, std::uint64_t lba, std::uint32_t blocks) {
    Content buffer(std::size_t{blocks} * kLba);
    o.begin_write(lba, blocks, buffer.data());
    o.end_write(lba, blocks, true);
    return buffer;
}

Content joined(const Content& a, const Content& b) {
    Content all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

TEST(IntegrityBytes, StartWithVersion1OrZeros) {
    IntegrityOracle o(geometry(4, 2));
    EXPECT_EQ(o.capacity_blocks(), 4 * kPerUnit);
    EXPECT_EQ(read(o, 15, block(15, 1)), "");
    EXPECT_EQ(read(o, 16, Content(kLba, 0)), "");
    EXPECT_THAT(read(o, 15, Content(kLba, 0)), HasSubstr("expected version 1, found a deallocated block"));
    EXPECT_THAT(read(o, 16, block(16, 1)),
                HasSubstr("LBA 16 (mapping unit 2): expected deallocated, found the bytes of LBA 16 version 1"));
}

TEST(IntegrityBytes, AWriteOfPartOfAUnitLeavesTheOtherBlocks) {
    IntegrityOracle o(geometry(4, 2));
    const Content one = write(o, 3, 1);
    EXPECT_NE(one, block(3, 1));
    EXPECT_EQ(read(o, 2, joined(joined(block(2, 1), one), block(4, 1))), "");
    EXPECT_THAT(read(o, 2, joined(joined(block(2, 1), one), block(5, 1))),
                HasSubstr("LBA 4 (mapping unit 0): expected version 1, found the bytes of LBA 5 version 1"));
    const Content other = write(o, 17, 1);  // of a unit that was never written
    EXPECT_EQ(read(o, 16, joined(joined(Content(kLba, 0), other), Content(kLba, 0))), "");
}

TEST(IntegrityBytes, EveryByteCounts) {
    IntegrityOracle o(geometry(4, 2));
    Content two = write(o, 6, 2);
    EXPECT_EQ(read(o, 6, two), "");
    for (const std::uint32_t at : {0u, 15u, 16u, 511u, 512u, 700u, 1023u}) {
        two[at] ^= 1;
        EXPECT_THAT(
            read(o, 6, two),
            HasSubstr("LBA " + std::to_string(6 + at / kLba) +
                      " (mapping unit 0): expected version 2, found other bytes, of version 2 up to byte " +
                      std::to_string(at % kLba) + "; read of 2 blocks at LBA 6, queue 1 CID 7, completed at 42000 ps"));
        two[at] ^= 1;
    }
    EXPECT_THAT(read(o, 6, joined(block(6, 1), Content(two.begin() + kLba, two.end()))),
                HasSubstr("found the bytes of LBA 6 version 1"));
}

// What is wrong is named if it is of a neighbour, on either side.
TEST(IntegrityBytes, ANeighboursBytesAreNamed) {
    IntegrityOracle o(geometry(64, 64));
    const std::uint64_t near = 16 * kPerUnit;
    for (const std::uint64_t at : {std::uint64_t{5}, near - 1, near, near + 3, 3 * near})
        for (const std::uint64_t other : {at - 5, at - 1, at + 1, at + near - 1})
            EXPECT_THAT(read(o, at, block(other, 1)),
                        HasSubstr("found the bytes of LBA " + std::to_string(other) + " version 1"))
                << at;
    EXPECT_THAT(read(o, 3 * near, block(2 * near, 1)),
                HasSubstr("found the bytes of LBA " + std::to_string(2 * near) + " version 1"));
    EXPECT_THAT(read(o, 3 * near, block(2 * near - 1, 1)), HasSubstr("found other bytes"));
}

TEST(IntegrityBytes, ABlockThatIsNotTransferredWholeIsSeen) {
    IntegrityOracle o(geometry(4, 4));
    Content buffer = block(9, 1);
    const auto token = o.begin_read(1, buffer.data());
    EXPECT_NE(buffer, block(9, 1));
    const Content whole = block(9, 1);
    std::copy(whole.begin(), whole.begin() + 496, buffer.begin());
    EXPECT_THROW(o.check_read(token, 9, 1, buffer.data(), kReader), CheckFailed);
    Content nothing(kLba);
    const auto again = o.begin_read(1, nothing.data());
    try {
        o.check_read(again, 9, 1, nothing.data(), kReader);
        ADD_FAILURE() << "accepted";
    } catch (const CheckFailed& e) {
        EXPECT_THAT(e.what(), HasSubstr("no data (the block was never transferred)"));
    }
}

TEST(IntegrityBytes, ATrimTakesTheUnitsThatItCoversWhole) {
    IntegrityOracle o(geometry(4, 4));
    o.begin_trim(3, 18);  // units 1 and half of 0 and 2
    EXPECT_EQ(read(o, 8, block(8, 1)), "");
    EXPECT_EQ(read(o, 8, Content(kLba, 0)), "");
    o.end_trim(3, 18, true);
    EXPECT_EQ(read(o, 7, block(7, 1)), "");
    EXPECT_EQ(read(o, 16, block(16, 1)), "");
    for (std::uint64_t lba = 8; lba < 16; ++lba) EXPECT_EQ(read(o, lba, Content(kLba, 0)), "") << lba;
    EXPECT_NE(read(o, 8, block(8, 1)), "");
    o.begin_trim(3, 3);  // none
    o.end_trim(3, 3, true);
    EXPECT_EQ(read(o, 4, block(4, 1)), "");
    EXPECT_EQ(o.open_units(), 0u);
}

TEST(IntegrityBytes, MoreBlocksThanCanBeCountedAreRefused) {
    EXPECT_THROW(IntegrityOracle(geometry((std::uint64_t{1} << 32) / kPerUnit, 0)), UserError);
}

// Writes, trims and reads that overlap, against the rules written down once more: by block, the set of what may be
// read.
TEST(IntegrityBytes, AcceptsWhatTheRulesAllowAndNothingElse) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random r(seed, 4);
        IntegrityOracle o(geometry(3, 1));
        struct Block {
            std::set<Content> before, within;
            std::uint32_t in_flight = 0;
        };
        std::map<std::uint64_t, Block> model;
        for (std::uint64_t lba = 0; lba < 3 * kPerUnit; ++lba)
            model[lba].within = {lba < kPerUnit ? block(lba, 1) : Content(kLba, 0)};
        struct Operation {
            std::uint64_t lba;
            std::uint32_t blocks;
            bool trim;
        };
        std::vector<Operation> running;
        const auto touches = [](const Operation& op, std::uint64_t lba) {
            if (!op.trim) return lba >= op.lba && lba < op.lba + op.blocks;
            const std::uint64_t unit = lba / kPerUnit * kPerUnit;
            return unit >= op.lba && unit + kPerUnit <= op.lba + op.blocks;
        };
        for (std::uint32_t step = 0; step < 400; ++step) {
            if (running.size() < 3 && r.percent(60)) {
                Operation op{r.below(3 * kPerUnit), 0, r.percent(30)};
                op.blocks = 1 + static_cast<std::uint32_t>(r.below(3 * kPerUnit - op.lba));
                Content data(std::size_t{op.blocks} * kLba);
                op.trim ? o.begin_trim(op.lba, op.blocks) : o.begin_write(op.lba, op.blocks, data.data());
                for (auto& [lba, b] : model) {
                    if (!touches(op, lba)) continue;
                    if (b.in_flight++ == 0) {
                        b.before.insert(b.within.begin(), b.within.end());
                        b.within.clear();
                    }
                    const auto at = data.begin() + static_cast<std::ptrdiff_t>((lba - op.lba) * kLba);
                    b.within.insert(op.trim ? Content(kLba, 0) : Content(at, at + kLba));
                }
                running.push_back(op);
            } else if (!running.empty()) {
                const auto i = static_cast<std::ptrdiff_t>(r.below(running.size()));
                const Operation op = running[static_cast<std::size_t>(i)];
                running.erase(running.begin() + i);
                const bool ok = r.percent(80);
                op.trim ? o.end_trim(op.lba, op.blocks, ok) : o.end_write(op.lba, op.blocks, ok);
                for (auto& [lba, b] : model) {
                    if (!touches(op, lba)) continue;
                    if (!ok) b.within.insert(b.before.begin(), b.before.end());
                    b.before.clear();
                    --b.in_flight;
                }
            }
            const std::uint64_t lba = r.below(3 * kPerUnit);
            for (std::uint32_t version = 0; version <= o.max_version(); ++version) {
                const Content as = block(lba, version);
                const bool allowed = model[lba].before.count(as) + model[lba].within.count(as) != 0;
                ASSERT_EQ(read(o, lba, as).empty(), allowed)
                    << "seed " << seed << " step " << step << " LBA " << lba << " version " << version;
            }
        }
    }
}

}  // namespace
}  // namespace ssdtlm
