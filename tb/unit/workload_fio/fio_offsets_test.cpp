// SPDX-License-Identifier: Apache-2.0
// Where a job's I/Os go: permutation, bitmap, distributions, sizes, mixes.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "fio_fixture.h"
#include "host_pcie/workload/fio/permutation.h"
#include "host_pcie/workload/fio/random_map.h"

namespace ssdtlm {
namespace {

TEST(Permutation, VisitsEachNumberOnce) {
    for (std::uint64_t n : {1u, 2u, 3u, 5u, 64u, 1000u, 4096u, 100'003u}) {
        const Permutation p(n, 42);
        std::vector<bool> seen(n);
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t v = p(i);
            ASSERT_LT(v, n);
            ASSERT_FALSE(seen[v]) << n << " " << i;
            seen[v] = true;
        }
    }
}

TEST(Permutation, LooksRandom) {
    const std::uint64_t n = 100'000;
    const Permutation p(n, 7);
    const Permutation other(n, 8);
    std::uint64_t next_to_each_other = 0;
    std::uint64_t equal = 0;
    std::vector<std::uint64_t> tenth(10);
    for (std::uint64_t i = 0; i < n / 10; ++i) {
        next_to_each_other += p(i + 1) == p(i) + 1;
        equal += p(i) == other(i);
        ++tenth[p(i) * 10 / n];
    }
    EXPECT_LE(next_to_each_other, 5u);  // expected 0.1
    EXPECT_LE(equal, 5u);
    const double sigma = std::sqrt(1000 * 0.9);  // 10,000 draws into ten parts
    for (std::uint64_t c : tenth) EXPECT_NEAR(static_cast<double>(c), 1000, 5 * sigma);
}

TEST(RandomMap, MatchesAPlainBitmap) {
    for (std::uint64_t n : {1u, 63u, 64u, 65u, 5000u}) {
        RandomMap map(n);
        std::vector<bool> plain(n);
        Random random(n);
        for (int step = 0; step < 4000; ++step) {
            const std::uint64_t from = random.below(n);
            const std::uint64_t free = map.next_free(from);
            std::uint64_t expected = from;
            while (expected < n && plain[expected]) ++expected;
            ASSERT_EQ(free, expected < n ? expected : RandomMap::kNone);
            if (free == RandomMap::kNone) continue;
            const std::uint64_t want = 1 + random.below(4);
            const std::uint64_t got = map.take(free, want);
            std::uint64_t room = 0;
            while (room < want && free + room < n && !plain[free + room]) plain[free + room++] = true;
            ASSERT_EQ(got, room);
        }
        map.clear();
        EXPECT_EQ(map.next_free(0), 0u);
    }
}

TEST(FioOffsets, RandomMapTouchesEachBlockOnce) {
    for (const char* text : {"[j]\nrw=randread\n", "[j]\nrw=randrw\n", "[j]\nrw=randtrim\noffset=64k\n"}) {
        const auto issues = run_fio(text);
        std::set<std::uint64_t> seen;
        std::uint64_t sum = 0;
        for (const Issue& i : issues) {
            EXPECT_TRUE(seen.insert(i.request.offset).second);
            EXPECT_EQ(i.request.offset % 4096, 0u);
            sum += i.request.bytes;
        }
        EXPECT_EQ(sum, 1_MiB - (std::string(text).find("offset") != std::string::npos ? 64_KiB : 0)) << text;
    }
}

TEST(FioOffsets, MixedSizesCoverTheRegionWithoutOverlap) {
    for (const char* text : {"[j]\nrw=randwrite\nbsrange=4k-16k\n", "[j]\nrw=randrw\nbssplit=4k/50:8k/30:64k/20\n"}) {
        const auto issues = run_fio(text);
        std::vector<int> units(256);
        for (const Issue& i : issues)
            for (std::uint64_t u = i.request.offset / 4096; u < (i.request.offset + i.request.bytes) / 4096; ++u)
                ++units[u];
        for (int n : units) EXPECT_EQ(n, 1);
    }
    // Unlike sizes of reads and writes: still no block twice.
    const auto issues = run_fio("[j]\nrw=randrw\nbs=4k,8k\n");
    std::vector<int> units(256);
    for (const Issue& i : issues)
        for (std::uint64_t u = i.request.offset / 4096; u < (i.request.offset + i.request.bytes) / 4096; ++u)
            ++units[u];
    int once = 0;
    for (int n : units) {
        EXPECT_LE(n, 1);
        once += n;
    }
    EXPECT_GT(once, 200);
}

TEST(FioOffsets, NorandommapRepeatsBlocks) {
    const auto issues = run_fio("[j]\nrw=randread\nnorandommap\n");
    std::set<std::uint64_t> seen;
    for (const Issue& i : issues) seen.insert(i.request.offset);
    // 256 draws from 256: 1 - 1/e of them are different.
    EXPECT_NEAR(static_cast<double>(seen.size()), 256 * (1 - std::exp(-1)), 25);
}

TEST(FioOffsets, SecondPassRepeatsUnlessRandrepeatIsOff) {
    const auto sequence = [](const char* text) {
        std::vector<std::uint64_t> offsets;
        for (const Issue& i : run_fio(text)) offsets.push_back(i.request.offset);
        return offsets;
    };
    auto a = sequence("[j]\nrw=randread\nloops=2\n");
    ASSERT_EQ(a.size(), 512u);
    EXPECT_TRUE(std::equal(a.begin(), a.begin() + 256, a.begin() + 256));
    auto b = sequence("[j]\nrw=randread\nloops=2\nrandrepeat=0\n");
    ASSERT_EQ(b.size(), 512u);
    EXPECT_FALSE(std::equal(b.begin(), b.begin() + 256, b.begin() + 256));
    EXPECT_EQ(sequence("[j]\nrw=randread\n"), sequence("[k]\nrw=randread\n"));
    EXPECT_NE(sequence("[j]\nrw=randread\n"), sequence("[j]\nrw=randread\nrandseed=5\n"));
}

std::map<std::uint64_t, std::uint64_t> histogram(const std::vector<Issue>& issues, std::uint64_t unit = 4096) {
    std::map<std::uint64_t, std::uint64_t> h;
    for (const Issue& i : issues) ++h[i.request.offset / unit];
    return h;
}

TEST(FioOffsets, ZipfSharesAreThoseOfTheFormula) {
    const std::uint64_t n = 16_MiB / 4096;
    const double theta = 1.2;
    double zeta = 0;
    for (std::uint64_t r = 1; r <= n; ++r) zeta += std::pow(static_cast<double>(r), -theta);
    const std::uint64_t draws = 200'000;
    const auto h = histogram(run_fio(
        "[j]\nrw=randread\nrandom_distribution=zipf:1.2\nio_size=" + std::to_string(draws * 4096) + "\n", 16_MiB));
    std::vector<std::uint64_t> counts;
    for (const auto& [block, c] : h) counts.push_back(c);
    std::sort(counts.rbegin(), counts.rend());
    for (std::uint64_t rank : {1u, 2u, 3u, 10u}) {
        const double p = std::pow(static_cast<double>(rank), -theta) / zeta;
        const double expected = static_cast<double>(draws) * p;
        EXPECT_NEAR(static_cast<double>(counts[rank - 1]), expected, 6 * std::sqrt(expected)) << rank;
    }
    // Scattered: the two most popular blocks are not neighbours at the start of the region.
    EXPECT_LT(h.count(0) ? h.at(0) : 0, counts[0]);
}

TEST(FioOffsets, ZipfCentrePlacesTheMostPopularBlock) {
    const auto h = histogram(run_fio("[j]\nrw=randread\nrandom_distribution=zipf:1.4:0.25\nio_size=40m\n", 4_MiB));
    std::uint64_t best = 0;
    std::uint64_t most = 0;
    for (const auto& [block, c] : h)
        if (c > most) most = c, best = block;
    EXPECT_EQ(best, 4_MiB / 4096 / 4);
}

TEST(FioOffsets, ParetoFollowsItsPowerLaw) {
    // rank = (n-1) * u^p with p = log h / log(1-h): half of the draws (u < 1/2) fall on the n * 2^-p first ranks.
    const double h = 0.2;
    const double p = std::log(h) / std::log(1 - h);
    const std::uint64_t n = 16_MiB / 4096;
    const auto hist = histogram(run_fio("[j]\nrw=randread\nrandom_distribution=pareto:0.2\nio_size=400m\n", 16_MiB));
    std::vector<std::uint64_t> counts;
    std::uint64_t all = 0;
    for (const auto& [block, c] : hist) counts.push_back(c), all += c;
    std::sort(counts.rbegin(), counts.rend());
    const auto hot = static_cast<std::size_t>(static_cast<double>(n) * std::pow(0.5, p));
    std::uint64_t share = 0;
    for (std::size_t i = 0; i < hot && i < counts.size(); ++i) share += counts[i];
    EXPECT_NEAR(static_cast<double>(share) / static_cast<double>(all), 0.5, 0.02);
}

TEST(FioOffsets, ZonesGetTheirShareOfAccesses) {
    const auto h =
        histogram(run_fio("[j]\nrw=randwrite\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\nio_size=80m\n", 4_MiB));
    std::vector<double> zone(4);
    double all = 0;
    for (const auto& [block, c] : h) {
        const std::uint64_t percent = block * 100 / 1024;
        zone[percent < 10 ? 0 : percent < 30 ? 1 : percent < 60 ? 2 : 3] += static_cast<double>(c);
        all += static_cast<double>(c);
    }
    EXPECT_NEAR(zone[0] / all, 0.60, 0.02);
    EXPECT_NEAR(zone[1] / all, 0.30, 0.02);
    EXPECT_NEAR(zone[2] / all, 0.08, 0.01);
    EXPECT_NEAR(zone[3] / all, 0.02, 0.01);
    const auto a =
        histogram(run_fio("[j]\nrw=randwrite\nrandom_distribution=zoned_abs:75/1m:25/1m\nio_size=80m\n", 4_MiB));
    double first = 0;
    all = 0;
    for (const auto& [block, c] : a) {
        ASSERT_LT(block, 512u);
        all += static_cast<double>(c);
        if (block < 256) first += static_cast<double>(c);
    }
    EXPECT_NEAR(first / all, 0.75, 0.02);
}

TEST(FioOffsets, NormalStaysInTheRegion) {
    for (const char* d : {"normal:0", "normal:20", "normal:5:0.9"}) {
        const auto issues =
            run_fio(std::string("[j]\nrw=randread\nio_size=8m\nrandom_distribution=") + d + "\n", 4_MiB);
        EXPECT_EQ(issues.size(), 2048u) << d;
    }
}

TEST(FioOffsets, RwmixShare) {
    const auto issues = run_fio("[j]\nrw=randrw\nrwmixread=70\nsize=100%\n", 160_MiB, 1us);
    const double reads = static_cast<double>(count(issues, HostOp::read)) / static_cast<double>(issues.size());
    EXPECT_EQ(issues.size(), 40960u);
    EXPECT_NEAR(reads, 0.70, 6 * std::sqrt(0.7 * 0.3 / 40960));
    EXPECT_EQ(count(run_fio("[j]\nrw=rw\nrwmixwrite=0\n"), HostOp::write), 0u);
    // Of a contradictory pair the latter wins.
    EXPECT_EQ(count(run_fio("[j]\nrw=rw\nrwmixwrite=0\nrwmixread=0\n"), HostOp::read), 0u);
}

TEST(FioOffsets, BssplitShares) {
    const auto issues = run_fio("[j]\nrw=randrw\nnorandommap\nbssplit=4k/60:16k/30:64k/,8k/\n", 1_GiB, 1us);
    std::map<std::uint32_t, double> reads;
    double all = 0;
    for (const Issue& i : issues) {
        if (i.request.op == HostOp::write) {
            EXPECT_EQ(i.request.bytes, 8192u);
            continue;
        }
        ++reads[i.request.bytes];
        ++all;
    }
    const auto expect = [&](std::uint32_t size, double p) {
        EXPECT_NEAR(reads[size] / all, p, 6 * std::sqrt(p * (1 - p) / all)) << size;
    };
    expect(4096, 0.6);
    expect(16384, 0.3);
    expect(65536, 0.1);  // the remainder
}

TEST(FioOffsets, PercentageRandomLeavesTheRestSequential) {
    // fio 3.33, percentage_random=20: 79.5 % of the I/Os followed their predecessor.
    const auto issues = run_fio("[j]\nrw=randread\nnorandommap\npercentage_random=20\n", 64_MiB, 1us);
    double follows = 0;
    for (std::size_t i = 1; i < issues.size(); ++i)
        follows += issues[i].request.offset == issues[i - 1].request.offset + 4096;
    EXPECT_NEAR(follows / static_cast<double>(issues.size() - 1), 0.8, 0.02);
}

TEST(FioOffsets, SequenceSuffixes) {
    auto issues = run_fio("[j]\nrw=randread:8\nnorandommap\nnumber_ios=64\n", 64_MiB);
    for (std::size_t i = 0; i < issues.size(); ++i)
        EXPECT_TRUE(i % 8 == 0 || issues[i].request.offset == issues[i - 1].request.offset + 4096) << i;
    issues = run_fio("[j]\nrw=randread:8\nrw_sequencer=identical\nnorandommap\nnumber_ios=64\n", 64_MiB);
    for (std::size_t i = 0; i < issues.size(); ++i)
        EXPECT_TRUE(i % 8 == 0 || issues[i].request.offset == issues[i - 1].request.offset) << i;
    issues = run_fio("[j]\nrw=write:4k\nnumber_ios=4\n");
    for (std::size_t i = 0; i < issues.size(); ++i) EXPECT_EQ(issues[i].request.offset, i * 8192);
    issues = run_fio("[j]\nrw=write:-8k\nnumber_ios=4\n");
    EXPECT_EQ(issues[1].request.offset, 1_MiB - 8192);
    EXPECT_EQ(issues[2].request.offset, 1_MiB - 8192 - 4096);
}

// Zones of 64 KiB with 192 KiB between them: four in 1 MiB, and once more from the start.
TEST(FioOffsets, StridedZones) {
    for (const char* rw : {"read", "randread"}) {
        const auto issues = run_fio(std::string("[j]\nrw=") + rw +
                                    "\nbs=16k\nsize=1m\nio_size=512k\nzonemode=strided\nzonesize=64k\nzoneskip=192k\n");
        ASSERT_EQ(issues.size(), 32u);
        std::set<std::uint64_t> in_zone;
        for (std::size_t i = 0; i < issues.size(); ++i) {
            const std::uint64_t offset = issues[i].request.offset, zone = i / 4 % 4;
            EXPECT_EQ(offset / 256_KiB, zone) << rw << i;
            EXPECT_LT(offset % 256_KiB, 64_KiB);
            in_zone.insert(offset);
            if (rw[0] == 'r' && rw[1] == 'e') {
                EXPECT_EQ(offset, zone * 256_KiB + i % 4 * 16_KiB);
            }
        }
        EXPECT_EQ(in_zone.size(), 16u) << "each block of a zone once";
    }
    // A range that is half of what is done in a zone: it is passed over twice.
    const auto twice = run_fio("[j]\nrw=read\nbs=16k\nsize=256k\nzonemode=strided\nzonesize=128k\nzonerange=64k\n");
    ASSERT_EQ(twice.size(), 16u);
    for (std::size_t i = 0; i < twice.size(); ++i) EXPECT_EQ(twice[i].request.offset, i / 8 * 64_KiB + i % 4 * 16_KiB);
}

// Each write has the offset and the length of what was trimmed before it, whatever sizes are drawn.
TEST(FioOffsets, TrimwritePairs) {
    for (const char* sizes : {"", "bssplit=4k/60:8k/10:16k/5:32k/5:64k/20\n", "bsrange=4k-32k\n", "bs=4k,8k,16k\n",
                              "norandommap\nbssplit=4k/50:12k/50\n", "time_based\nruntime=10ms\nbsrange=4k-12k\n"})
        for (const std::string& text :
             {std::string("[j]\nrw=trimwrite\n") + sizes, std::string("[j]\nrw=randtrimwrite\n") + sizes}) {
            const auto issues = run_fio(text.c_str());
            if (*sizes == '\0') {
                ASSERT_EQ(issues.size(), 512u) << text;
            }
            ASSERT_GT(issues.size(), 20u) << text;
            for (std::size_t i = 0; i + 1 < issues.size(); i += 2) {
                EXPECT_EQ(issues[i].request.op, HostOp::trim);
                EXPECT_EQ(issues[i + 1].request.op, HostOp::write);
                EXPECT_EQ(issues[i].request.offset, issues[i + 1].request.offset);
                ASSERT_EQ(issues[i].request.bytes, issues[i + 1].request.bytes) << text << i;
            }
        }
}

TEST(FioOffsets, BlockAlign) {
    for (const Issue& i : run_fio("[j]\nrw=randwrite\nblockalign=8k\nbs=4k\n")) EXPECT_EQ(i.request.offset % 8192, 0u);
}

}  // namespace
}  // namespace ssdtlm
