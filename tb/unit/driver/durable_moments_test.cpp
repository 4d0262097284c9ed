// SPDX-License-Identifier: Apache-2.0
// Blocks with versions of their own: what a loss of power leaves of a mapping unit is how it was at one moment.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <optional>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "host_pcie/driver/integrity_oracle.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kBlocks = 4, kFirst = 12;
using State = std::array<std::uint32_t, kBlocks>;

/// A device that applies what it is given at some moment, and of one mapping unit remembers all states since the last
/// loss.
struct Device {
    struct Command {
        DurableVersions::Token token;
        std::uint32_t first, end, version;
        bool fua;
        bool applied = false;
        std::size_t ended_after = 0;  ///< states, when it ended
    };
    void apply(Command& c) {
        if (c.applied) return;
        c.applied = true;
        State s = states.back();
        for (std::uint32_t b = c.first; b < c.end; ++b) s[b] = c.version;
        states.push_back(s);
    }
    std::vector<State> states{State{1, 1, 1, 1}};
    std::size_t durable = 0;  ///< the first state that may be left
    std::vector<Command> running;
};

struct Found {
    std::uint64_t losses = 0, open = 0, mixed = 0, refused = 0;
};

/// `most`: commands at once; `failing`: per cent of them end with an error, and have taken effect or not. False states
/// are those that no moment had, mixed of two that are possible.
Found run(std::uint64_t seeds, std::size_t most, unsigned failing = 0) {
    Found found;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Random random(seed, 62);
        DurableVersions d(kBlocks);
        Device device;
        State last = device.states.back();
        std::optional<std::pair<DurableVersions::Token, std::size_t>> flush;
        for (int step = 0; step < 400; ++step) {
            const std::uint64_t what = random.below(100);
            if (what < 40 && device.running.size() < most) {
                Device::Command c{};
                c.first = static_cast<std::uint32_t>(random.below(kBlocks));
                c.end = c.first + 1 + static_cast<std::uint32_t>(random.below(kBlocks - c.first));
                c.fua = random.percent(8);
                std::uint32_t avoid = 1;
                for (std::uint32_t b = c.first; b < c.end; ++b) avoid |= d.possible(kFirst + b, last[b]);
                while (c.version < 16 && (avoid >> c.version & 1u) != 0) ++c.version;
                if (c.version == 16) continue;  // they would not tell the operations apart
                c.token = d.begin();
                for (std::uint32_t b = c.first; b < c.end; ++b) {
                    d.touch(c.token, kFirst + b, c.version, last[b]);
                    last[b] = c.version;
                }
                device.running.push_back(c);
            } else if (what < 60 && !device.running.empty()) {
                device.apply(device.running[random.below(device.running.size())]);
            } else if (what < 90 && !device.running.empty()) {
                const std::size_t i = random.below(device.running.size());
                Device::Command c = device.running[i];
                device.running.erase(device.running.begin() + static_cast<std::ptrdiff_t>(i));
                const bool ok = failing == 0 || !random.percent(failing);
                if (ok || random.percent(50)) device.apply(c);
                if (ok && c.fua) device.durable = device.states.size() - 1;
                d.ends();
                for (std::uint32_t b = c.first; b < c.end; ++b) d.end(c.token, kFirst + b, ok, c.fua);
            } else if (what < 94 && !flush) {
                flush = {d.begin(), device.states.size() - 1};
            } else if (what < 97 && flush) {
                device.durable = std::max(device.durable, flush->second);
                d.flush_ended(flush->first);
                flush.reset();
            } else if (what >= 97) {
                d.ends();
                for (const Device::Command& c : device.running)
                    for (std::uint32_t b = c.first; b < c.end; ++b) d.end(c.token, kFirst + b, false, false);
                device.running.clear();
                flush.reset();
                d.power_lost(
                    [&](std::uint32_t, std::uint32_t versions) { found.open += (versions & (versions - 1)) != 0; });
                ++found.losses;
                // Two moments, each in some of the blocks.
                const auto moment = [&] {
                    return device.durable + random.below(device.states.size() - device.durable);
                };
                const std::size_t one = moment(), other = moment();
                State mix = device.states[one];
                for (std::uint32_t b = 0; b < kBlocks; ++b)
                    if (random.percent(50)) mix[b] = device.states[other][b];
                bool was = false;
                for (std::size_t s = device.durable; s < device.states.size(); ++s)
                    was = was || device.states[s] == mix;
                if (!was) {
                    DurableVersions copy = d;
                    bool refused = false;
                    for (std::uint32_t b = 0; b < kBlocks; ++b) refused = refused || !copy.found(kFirst + b, mix[b]);
                    ++found.mixed;
                    found.refused += refused;
                }
                const State left = device.states[moment()];
                // Some are read now, the others are left to the next loss.
                for (std::uint32_t b = 0; b < kBlocks; ++b) {
                    if (random.percent(30)) continue;
                    EXPECT_TRUE(d.found(kFirst + b, left[b])) << "seed " << seed << " step " << step << " block " << b;
                }
                if (::testing::Test::HasFailure()) return found;
                device.states = {left};
                device.durable = 0;
                last = left;
            }
        }
        if (flush) d.flush_ended(flush->first);
    }
    std::printf("%llu losses, %llu blocks with more than one version; %llu of %llu mixed states refused\n",
                static_cast<unsigned long long>(found.losses), static_cast<unsigned long long>(found.open),
                static_cast<unsigned long long>(found.refused), static_cast<unsigned long long>(found.mixed));
    return found;
}

TEST(DurableMoments, OneAfterTheOtherNothingMixedIsTaken) {
    const Found found = run(300, 1);
    EXPECT_GT(found.mixed, 300u);
    EXPECT_EQ(found.refused, found.mixed);
}

// Of commands at once the order is not known: a mix may be a state of another order.
TEST(DurableMoments, SeveralAtOnce) {
    const Found found = run(300, 4);
    EXPECT_GT(found.mixed, 300u);
    EXPECT_GT(found.refused, found.mixed / 2);
}

// What failed says nothing of what was there before it, or came after it.
TEST(DurableMoments, WithCommandsThatFail) {
    for (const std::size_t most : {1, 4}) {
        const Found found = run(300, most, 40);
        EXPECT_GT(found.mixed, 300u);
        EXPECT_GT(found.refused, found.mixed / 4);
    }
}

TEST(IntegrityOracleWithBytes, ReadsOfPartsAgreeOnOneMoment) {
    constexpr std::uint32_t kLba = 512;
    IntegrityOracle::Geometry g;
    g.units = 4;
    g.filled_units = 4;
    g.bytes_of_seed = 5;
    g.power_cuts = true;
    const auto write = [](IntegrityOracle& o, std::uint64_t lba, std::uint32_t blocks) {
        std::vector<std::uint8_t> data(std::size_t{blocks} * kLba);
        const auto token = o.begin_write(lba, blocks, data.data());
        o.end_write(lba, blocks, true, token);
        return data;
    };
    const auto read = [](IntegrityOracle& o, std::uint64_t lba, const std::vector<std::uint8_t>& as) -> std::string {
        std::vector<std::uint8_t> data(as.size());
        const auto blocks = static_cast<std::uint32_t>(as.size() / kLba);
        const auto token = o.begin_read(blocks, data.data());
        data = as;
        try {
            o.check_read(token, lba, blocks, data.data(), {1, 7, SimTime{}});
            return {};
        } catch (const CheckFailed& e) {
            return e.what();
        }
    };
    const auto start = [](std::uint64_t lba) {
        std::vector<std::uint8_t> data(kLba);
        BlockBytes(5, kLba).fill(lba, 1, data.data());
        return data;
    };
    for (const bool newer : {false, true}) {
        IntegrityOracle o(g);
        const auto first = write(o, 9, 1), second = write(o, 12, 1);
        o.power_lost();
        // The later write is there, or not: then the earlier one must be there, or may be.
        EXPECT_EQ(read(o, 12, newer ? second : start(12)), "");
        EXPECT_EQ(read(o, 9, first), "");
    }
    IntegrityOracle o(g);
    const auto first = write(o, 9, 1), second = write(o, 12, 1);
    o.power_lost();
    EXPECT_EQ(read(o, 12, second), "");
    EXPECT_NE(read(o, 9, start(9)).find("never had together"), std::string::npos);
}

}  // namespace
}  // namespace ssdtlm
