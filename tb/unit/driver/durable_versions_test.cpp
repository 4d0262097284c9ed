// SPDX-License-Identifier: Apache-2.0
// DurableVersions against the rule itself, over all operations that ever were; and what the integrity oracle makes of
// it.
#include "host_pcie/driver/durable_versions.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "host_pcie/driver/integrity_oracle.h"

namespace ssdtlm {
namespace {

/// All that happened to one unit, with times of its own.
struct Reference {
    struct Operation {
        DurableVersions::Token token;
        std::uint64_t begun, ended;
        std::uint32_t version;
        bool fua, ok, durable;
    };
    static constexpr std::uint64_t kRuns = ~std::uint64_t{0};
    std::vector<Operation> all;

    std::uint32_t possible() const {
        std::uint32_t versions = 0;
        for (const Operation& x : all) {
            bool gone = false;
            for (const Operation& y : all) gone = gone || (y.durable && y.begun > x.ended);
            if (!gone) versions |= 1u << x.version;
        }
        return versions;
    }
};

TEST(DurableVersions, AreThoseOfTheRule) {
    std::uint64_t single = 0, many = 0, exact = 0, looks = 0, losses = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed, 61);
        DurableVersions d;
        Reference r;
        std::uint64_t time = 1;
        std::uint32_t last = 1;
        r.all.push_back({0, 0, 0, last, false, true, true});
        struct Flush {
            DurableVersions::Token token;
            std::uint64_t begun;
        };
        std::vector<Flush> flushes;
        for (int step = 0; step < 300; ++step) {
            ++time;
            const std::uint64_t what = random.below(100);
            std::vector<std::size_t> running;
            for (std::size_t i = 0; i < r.all.size(); ++i)
                if (r.all[i].ended == Reference::kRuns) running.push_back(i);
            if (what < 35 && running.size() < 4) {
                const auto version = static_cast<std::uint32_t>(random.percent(15) ? 0 : 1 + random.below(15));
                const DurableVersions::Token token = d.begin();
                d.touch(token, 7, version, last);
                r.all.push_back(
                    {token, time, Reference::kRuns, version, version != 0 && random.percent(15), false, false});
                last = version;
            } else if (what < 80 && !running.empty()) {
                Reference::Operation& o = r.all[running[random.below(running.size())]];
                o.ended = time;
                o.ok = !random.percent(10);
                o.durable = o.ok && o.fua;
                d.ends();
                d.end(o.token, 7, o.ok, o.fua);
            } else if (what < 90) {
                flushes.push_back({d.begin(), time});
            } else if (what < 99 && !flushes.empty()) {
                const std::size_t i = random.below(flushes.size());
                for (Reference::Operation& o : r.all) o.durable = o.durable || (o.ok && o.ended < flushes[i].begun);
                d.flush_ended(flushes[i].token);
                flushes.erase(flushes.begin() + static_cast<std::ptrdiff_t>(i));
            } else if (running.empty()) {
                // Any of the versions is there, and a read may say which.
                const std::uint32_t versions = r.possible();
                d.power_lost([](std::uint32_t, std::uint32_t) {});
                r.all.clear();
                flushes.clear();
                for (std::uint32_t v = 0; v < 16; ++v)
                    if ((versions >> v & 1u) != 0) r.all.push_back({0, time, time, v, false, false, false});
                if (random.percent(50)) {
                    ASSERT_TRUE(d.found(7, r.all[0].version));
                    r.all.resize(1);
                    r.all[0].durable = true;
                    last = r.all[0].version;
                }
                ++losses;
            }
            const std::uint32_t expected = r.possible(), found = d.possible(7, last);
            ASSERT_EQ(expected & ~found, 0u)
                << "seed " << seed << " step " << step << ": a version that is possible is not allowed";
            ++looks;
            exact += found == expected;
            single += (expected & (expected - 1)) == 0;
            many += __builtin_popcount(expected) > 3;
        }
    }
    std::printf("%llu states, %llu exact, %llu with one version, %llu with more than three; %llu losses of power\n",
                static_cast<unsigned long long>(looks), static_cast<unsigned long long>(exact),
                static_cast<unsigned long long>(single), static_cast<unsigned long long>(many),
                static_cast<unsigned long long>(losses));
    // Where many operations were merged, it may know less than the rule; seldom.
    EXPECT_GT(exact, looks / 100 * 99);
    EXPECT_GT(single, looks / 30);
    EXPECT_GT(many, looks / 20);
}

constexpr std::uint32_t kLba = 512;
constexpr IntegrityOracle::Reader kReader{1, 7, SimTime{42ns}};

struct Bench {
    Bench()
        : oracle([] {
              IntegrityOracle::Geometry g;
              g.units = 8;
              g.filled_units = 8;
              g.power_cuts = true;
              return g;
          }()) {}
    /// Writes the whole unit and completes it; its version.
    std::uint32_t write(std::uint32_t unit, bool fua = false) {
        std::vector<std::uint8_t> data(8 * kLba);
        const auto token = oracle.begin_write(unit * 8, 8, data.data());
        oracle.end_write(unit * 8, 8, true, token, fua);
        return BlockSignature::load(data.data()).version;
    }
    void trim(std::uint32_t unit) {
        const auto token = oracle.begin_trim(unit * 8, 8);
        oracle.end_trim(unit * 8, 8, true, token);
    }
    void flush() { oracle.end_flush(oracle.begin_flush(), true); }
    /// A read that finds `version` in the first blocks of the unit and `rest` in the others. True: accepted.
    bool reads(std::uint32_t unit, std::uint32_t version, std::uint32_t rest) {
        std::vector<std::uint8_t> data(8 * kLba);
        const auto token = oracle.begin_read(8, data.data());
        for (std::uint32_t b = 0; b < 8; ++b) {
            const std::uint32_t v = b < 5 ? version : rest;
            (v == 0 ? BlockSignature{} : BlockSignature{unit * 8 + b, v, BlockSignature::kMagic})
                .store(data.data() + b * kLba);
        }
        try {
            oracle.check_read(token, unit * 8, 8, data.data(), kReader);
            return true;
        } catch (const CheckFailed&) {
            return false;
        }
    }
    bool reads(std::uint32_t unit, std::uint32_t version) { return reads(unit, version, version); }
    IntegrityOracle oracle;
};

// A write of both blocks, and after a loss of power one of the first alone, which makes it the same version: that it
// has this version says nothing of the second, and no matter which is read first.
TEST(DurableVersions, OfTwoOperationsWithOneVersionEitherMayBeThere) {
    for (const bool second_first : {false, true})
        for (const std::uint32_t of_second : {0u, 4u, 5u}) {
            DurableVersions d(2);
            const auto write = [&d](std::uint32_t blocks, std::uint32_t version) {
                const DurableVersions::Token token = d.begin();
                for (std::uint32_t b = 0; b < blocks; ++b) d.touch(token, b, version + b, 0);
                d.ends();
                for (std::uint32_t b = 0; b < blocks; ++b) d.end(token, b, true, false);
            };
            write(2, 3);
            d.power_lost([](std::uint32_t, std::uint32_t) {});
            write(1, 3);
            d.power_lost([](std::uint32_t, std::uint32_t) {});
            const auto second = [&] { return d.found(1, of_second); };
            if (second_first) {
                EXPECT_EQ(second(), of_second != 5) << of_second;
            }
            EXPECT_TRUE(d.found(0, 3));
            EXPECT_EQ(second(), of_second != 5) << of_second;
        }
}

TEST(DurableVersions, NothingIsKeptOfAMappingUnitWhoseBlocksAreAllSettled) {
    DurableVersions d(4);
    const DurableVersions::Token write = d.begin();
    for (const std::uint32_t block : {5u, 6u, 7u}) d.touch(write, block, 2, 1);
    d.ends();
    for (const std::uint32_t block : {5u, 6u, 7u}) {
        EXPECT_EQ(d.open_units(), 3u);
        d.end(write, block, true, true);
    }
    EXPECT_EQ(d.open_units(), 0u);
}

TEST(IntegrityOracleAfterALossOfPower, OldOrNewIsThereAndStays) {
    Bench b;
    const std::uint32_t v = b.write(1), w = b.write(2);
    b.oracle.power_lost();
    EXPECT_TRUE(b.reads(1, 1));
    EXPECT_TRUE(b.reads(2, w));
    EXPECT_FALSE(b.reads(1, v)) << "a read has found the older one";
    EXPECT_FALSE(b.reads(2, 1)) << "a read has found the newer one";
    b.oracle.power_lost();
    EXPECT_TRUE(b.reads(1, 1));
    EXPECT_TRUE(b.reads(2, w));
}

TEST(IntegrityOracleAfterALossOfPower, WhatIsDurableMustBeThere) {
    Bench b;
    const std::uint32_t forced = b.write(1, true), flushed = b.write(2);
    b.trim(3);
    b.flush();
    const std::uint32_t later = b.write(2);
    b.oracle.power_lost();
    EXPECT_FALSE(b.reads(1, 1));
    EXPECT_TRUE(b.reads(1, forced));
    EXPECT_FALSE(b.reads(2, 1));
    EXPECT_FALSE(b.reads(3, 1)) << "trimmed and flushed";
    EXPECT_TRUE(b.reads(3, 0));
    EXPECT_FALSE(b.reads(4, 0)) << "never touched";
    EXPECT_TRUE(b.reads(2, later));
    EXPECT_NE(flushed, later);
}

TEST(IntegrityOracleAfterALossOfPower, AForcedWriteIsDurableInEachOfItsUnits) {
    Bench b;
    std::vector<std::uint8_t> data(3 * 8 * kLba);
    const IntegrityOracle::Operation write = b.oracle.begin_write(2 * 8, 3 * 8, data.data());
    b.oracle.end_write(2 * 8, 3 * 8, true, write, true);
    b.oracle.power_lost();
    for (std::uint32_t unit = 1; unit < 6; ++unit) {
        const std::uint32_t possible = b.oracle.possible(unit);
        EXPECT_EQ(possible & (possible - 1), 0u) << "unit " << unit << " has one version";
        EXPECT_EQ((possible & 2u) == 0, unit >= 2 && unit < 5) << "unit " << unit;
    }
}

TEST(IntegrityOracleAfterALossOfPower, NothingIsMixedWithinAUnit) {
    Bench b;
    const std::uint32_t v = b.write(1);
    b.oracle.power_lost();
    EXPECT_FALSE(b.reads(1, 1, v));
    EXPECT_TRUE(b.reads(1, v));
}

}  // namespace
}  // namespace ssdtlm
