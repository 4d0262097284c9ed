// SPDX-License-Identifier: Apache-2.0
// What the host has written, saved with a drive: the oracle that reads it takes the same versions in reads, and expects
// of a loss of power each version that may be on the flash, no other.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "support/memory_snapshot.h"
#include "unit/driver/oracle_bench.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kUnits = 40;
constexpr std::uint32_t kBlocks = 8;  // of a unit, as geometry() has them

IntegrityOracle::Geometry with_losses() {
    IntegrityOracle::Geometry g = geometry(kUnits, kUnits / 2);
    g.power_cuts = true;
    return g;
}

/// Reads the unit's first block; false: not with this version.
bool passes(IntegrityOracle& o, std::uint32_t unit, std::uint32_t version) {
    Buffer b(1);
    const auto token = o.begin_read(1, b.data());
    b.set(0, std::uint64_t{unit} * kBlocks, version);
    try {
        o.check_read(token, std::uint64_t{unit} * kBlocks, 1, b.data(), kReader);
        return true;
    } catch (const CheckFailed&) {
        return false;
    }
}

/// A bit per version with which it passes.
std::uint32_t taken_by_reads(IntegrityOracle& o, std::uint32_t unit) {
    std::uint32_t taken = 0;
    for (std::uint32_t v = 0; v <= o.max_version(); ++v) taken |= passes(o, unit, v) ? 1u << v : 0u;
    return taken;
}

std::array<std::uint32_t, kUnits> taken_by_reads(IntegrityOracle& o) {
    std::array<std::uint32_t, kUnits> all{};
    for (std::uint32_t u = 0; u < kUnits; ++u) all[u] = taken_by_reads(o, u);
    return all;
}

/// One of the versions whose bits are set.
std::uint32_t version_in(std::uint32_t bits, Random& random) {
    std::uint32_t v = 0;
    do v = static_cast<std::uint32_t>(random.below(16));
    while ((bits >> v & 1) == 0);
    return v;
}

/// Writes and trims of single units, up to five at a time, all ended at the end.
void some_operations(IntegrityOracle& o, Random& random) {
    struct Running {
        bool trim;
        std::uint64_t lba;
    };
    std::vector<Running> running;
    Buffer b(kBlocks);
    const auto end = [&](std::size_t i) {
        if (running[i].trim)
            o.end_trim(running[i].lba, kBlocks, true);
        else
            o.end_write(running[i].lba, kBlocks, true);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    };
    for (int i = 0; i < 200; ++i) {
        if (running.size() == 5) end(random.below(5));
        const Running next{random.below(4) == 0, random.below(kUnits) % (1 + random.below(kUnits)) * kBlocks};
        if (next.trim)
            o.begin_trim(next.lba, kBlocks);
        else
            o.begin_write(next.lba, kBlocks, b.data());
        running.push_back(next);
    }
    while (!running.empty()) end(random.below(static_cast<std::uint32_t>(running.size())));
}

TEST(SavedOracle, TakesTheSameVersionsAndLeavesEachOfThemToALossOfPower) {
    std::uint64_t units = 0, races = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        IntegrityOracle before(geometry(kUnits, kUnits / 2));
        some_operations(before, random);
        MemorySnapshot written;
        before.state(written);
        const auto taken = taken_by_reads(before);

        IntegrityOracle reads(with_losses()), loses(with_losses());
        for (IntegrityOracle* const o : {&reads, &loses}) {
            MemorySnapshot read(written.data);
            o->state(read);
            ASSERT_EQ(read.taken, read.data.size());
        }
        ASSERT_EQ(taken_by_reads(reads), taken) << "seed " << seed;
        loses.power_lost();
        for (std::uint32_t u = 0; u < kUnits; ++u) {
            ++units;
            races += (taken[u] & (taken[u] - 1)) != 0;
            ASSERT_EQ(reads.possible(u), taken[u]) << "seed " << seed << ", unit " << u;
            // The first read says which of them is there.
            const std::uint32_t first = version_in(taken[u], random), other = version_in(~taken[u] & 0xFFFF, random);
            ASSERT_FALSE(passes(loses, u, other)) << "seed " << seed << ", unit " << u << ", version " << other;
            ASSERT_TRUE(passes(loses, u, first)) << "seed " << seed << ", unit " << u << ", version " << first;
            ASSERT_EQ(taken_by_reads(loses, u), 1u << first) << "seed " << seed << ", unit " << u;
        }
    }
    std::printf("%llu units of saved drives, %llu with more than one version\n", static_cast<unsigned long long>(units),
                static_cast<unsigned long long>(races));
    EXPECT_GT(races, 500u);
}

}  // namespace
}  // namespace ssdtlm
