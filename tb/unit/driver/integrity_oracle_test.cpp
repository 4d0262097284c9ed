// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/integrity_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/random/random.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kLba = 512;
constexpr IntegrityOracle::Reader kReader{1, 7, SimTime{42ns}};

struct Buffer {
    std::vector<std::uint8_t> bytes;
    explicit Buffer(std::uint32_t blocks) : bytes(blocks * kLba) {}
    std::uint8_t* data() { return bytes.data(); }
    BlockSignature at(std::uint32_t i) const { return BlockSignature::load(bytes.data() + i * kLba); }
    void set(std::uint32_t i, std::uint64_t lba, std::uint32_t version) {
        (version == 0 ? BlockSignature{} : BlockSignature{lba, version, BlockSignature::kMagic}).store(bytes.data() + i * kLba);
    }
};

IntegrityOracle::Geometry geometry(std::uint64_t units, std::uint64_t filled, unsigned bits = 8) {
    return IntegrityOracle::Geometry{units, 4096, kLba, filled, bits};
}

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
    EXPECT_EQ(text([&] { b.set(3, 3, 2); }),
              "integrity: LBA 3 (mapping unit 0): expected version 1, found LBA 3 version 2; read of 8 blocks at LBA 0, "
              "queue 1 CID 7, completed at 42000 ps");
    EXPECT_THAT(text([&] { b.set(7, 8, 1); }), testing::HasSubstr("LBA 7 (mapping unit 0): expected version 1, found LBA 8 version 1"));
    EXPECT_THAT(text([&] { b.set(0, 0, 0); }), testing::HasSubstr("found a deallocated block"));
    EXPECT_THAT(text([&] { b.bytes[15] ^= 1; }), testing::HasSubstr("found no signature"));
    EXPECT_THAT(text([&] {
                    o.abandon_read();
                    o.begin_read(8, b.data());
                }),
                testing::HasSubstr("never transferred"));
}

/// The rules of the header written down without any thought of speed.
struct Naive {
    struct Unit {
        std::set<std::uint32_t> before, within;
        int in_flight = 0;
        std::set<std::uint32_t> acceptable() const {
            auto s = before;
            s.insert(within.begin(), within.end());
            return s;
        }
    };
    std::map<std::uint32_t, Unit> units;
    std::map<int, std::map<std::uint32_t, std::set<std::uint32_t>>> reads;  // read -> unit -> seen acceptable

    void note(std::uint32_t u) {
        for (auto& [id, seen] : reads) {
            auto it = seen.find(u);
            if (it == seen.end()) continue;
            const auto a = units[u].acceptable();
            it->second.insert(a.begin(), a.end());
        }
    }
    void begin(std::uint32_t u, std::uint32_t version) {
        Unit& x = units[u];
        if (x.in_flight++ == 0) {
            x.before = x.acceptable();
            x.within.clear();
        }
        x.within.insert(version);
        note(u);
    }
    void end(std::uint32_t u, bool ok) {
        Unit& x = units[u];
        if (!ok) x.within = x.acceptable();
        x.before.clear();
        --x.in_flight;
        note(u);
    }
};

struct Op {
    enum Kind { read, write, trim } kind;
    std::uint64_t slba;
    std::uint32_t blocks;
    int id;
    IntegrityOracle::ReadToken token;
};

void random_against_naive(std::uint64_t seed, std::uint32_t units, std::size_t depth, unsigned bits) {
    SCOPED_TRACE(seed);
    const std::uint32_t filled = units / 2;
    IntegrityOracle o(geometry(units, filled, bits));
    Naive naive;
    for (std::uint32_t u = 0; u < units; ++u) naive.units[u].within = {u < filled ? 1u : 0u};
    Random r(seed);
    std::vector<Op> open;
    std::vector<std::uint32_t> stamped(units);
    int id = 0, wrong = 0, right = 0;
    for (int step = 0; step < 6000; ++step) {
        if (open.size() < depth && r.percent(50)) {
            Op op{};
            op.kind = static_cast<Op::Kind>(r.below(3));
            op.blocks = static_cast<std::uint32_t>(1 + r.below(20));
            op.slba = r.below(units * 8 - op.blocks + 1);
            op.id = id++;
            const auto first = static_cast<std::uint32_t>(op.slba / 8);
            const auto last = static_cast<std::uint32_t>((op.slba + op.blocks - 1) / 8);
            Buffer b(op.blocks);
            if (op.kind == Op::read) {
                op.token = o.begin_read(op.blocks, b.data());
                for (auto u = first; u <= last; ++u) naive.reads[op.id][u] = naive.units[u].acceptable();
            } else if (op.kind == Op::write) {
                o.begin_write(op.slba, op.blocks, b.data());
                for (std::uint32_t i = 0; i < op.blocks; ++i) {
                    const auto s = b.at(i);
                    ASSERT_EQ(s.lba, op.slba + i);
                    ASSERT_GE(s.version, 1u);
                    ASSERT_LE(s.version, o.max_version());
                    const auto u = static_cast<std::uint32_t>(s.lba / 8);
                    if (i == 0 || s.lba % 8 == 0) {
                        const auto acceptable = naive.units[u].acceptable();
                        const bool exhausted = acceptable.size() - acceptable.count(0) == o.max_version();
                        ASSERT_TRUE(exhausted || acceptable.count(s.version) == 0);
                        naive.begin(u, s.version);
                        stamped[u] = s.version;
                    }
                    ASSERT_EQ(s.version, stamped[u]);
                }
            } else {
                o.begin_trim(op.slba, op.blocks);
                for (auto u = (op.slba + 7) / 8; u < (op.slba + op.blocks) / 8; ++u) naive.begin(static_cast<std::uint32_t>(u), 0);
            }
            open.push_back(op);
        } else if (!open.empty()) {
            const auto i = r.below(open.size());
            const Op op = open[i];
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
            const auto first = static_cast<std::uint32_t>(op.slba / 8);
            const auto last = static_cast<std::uint32_t>((op.slba + op.blocks - 1) / 8);
            const bool ok = !r.percent(5);
            if (op.kind == Op::write) {
                o.end_write(op.slba, op.blocks, ok);
                for (auto u = first; u <= last; ++u) naive.end(u, ok);
            } else if (op.kind == Op::trim) {
                o.end_trim(op.slba, op.blocks, ok);
                for (auto u = (op.slba + 7) / 8; u < (op.slba + op.blocks) / 8; ++u) naive.end(static_cast<std::uint32_t>(u), ok);
            } else if (!ok) {
                o.abandon_read();
                naive.reads.erase(op.id);
            } else {
                // Any content at random; mostly an acceptable one. Both models must agree.
                Buffer b(op.blocks);
                bool acceptable = true;
                for (std::uint32_t k = 0; k < op.blocks; ++k) {
                    const auto u = static_cast<std::uint32_t>((op.slba + k) / 8);
                    const auto& set = naive.reads[op.id][u];
                    auto v = static_cast<std::uint32_t>(r.below(o.max_version() + 1));
                    if (!r.percent(3)) v = *std::next(set.begin(), static_cast<std::ptrdiff_t>(r.below(set.size())));
                    acceptable = acceptable && set.count(v) != 0;
                    b.set(k, op.slba + k, v);
                }
                naive.reads.erase(op.id);
                bool accepted = true;
                try {
                    o.check_read(op.token, op.slba, op.blocks, b.data(), kReader);
                } catch (const CheckFailed&) {
                    accepted = false;
                }
                ASSERT_EQ(accepted, acceptable) << "read " << op.id << " at step " << step;
                ++(accepted ? right : wrong);
            }
        }
    }
    EXPECT_GT(right, 100);
    EXPECT_GT(wrong, 10);
}

TEST(IntegrityOracle, AgreesWithTheNaiveModelOnRandomOperations) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        random_against_naive(seed, 4, 6, 4);      // hot: nearly everything overlaps
        random_against_naive(seed, 300, 32, 4);   // mild
        random_against_naive(seed, 5000, 64, 3);  // table grows and shrinks
        random_against_naive(seed, 31, 16, 2);
    }
}

}  // namespace
}  // namespace ssdtlm
