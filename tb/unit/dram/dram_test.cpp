// SPDX-License-Identifier: Apache-2.0
// Every model of the DRAM: what is asked for is answered once and later, and takes its time on the bus. The serial one
// and the one with banks: to the picosecond, against formulas and against a search for the earliest time that breaks no
// rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "common/random/random.h"
#include "controller/dram/banked_dram.h"
#include "controller/dram/dram_models.h"
#include "controller/dram/serial_dram.h"

namespace ssdtlm {
namespace {

constexpr Ps kNs{1000};

/// Keeps when each access ended.
class Client final {
public:
    explicit Client(const Agenda& agenda) : agenda_(agenda) {}
    void dram_done(std::uint64_t access) {
        EXPECT_FALSE(asking) << "answered from within";
        EXPECT_TRUE(ended.emplace(access, agenda_.now().time_since_epoch()).second) << "answered twice";
    }
    bool asking = false;
    std::map<std::uint64_t, Ps> ended;

private:
    const Agenda& agenda_;
};

std::vector<DramPiece> random_pieces(Random& random) {
    std::vector<DramPiece> pieces(1 + random.below(4));
    for (DramPiece& p : pieces)
        p = {random.below(1 << 20), static_cast<std::uint32_t>(1 + random.below(20000)),
             1 + static_cast<std::uint32_t>(random.below(2))};
    return pieces;
}

TEST(Dram, EveryModelAnswersOnceAndTakesTheTimeOfItsBus) {
    for (const auto& [name, model] : DramModels::instance().policies()) {
        SCOPED_TRACE(name);
        Agenda agenda;
        Random random(5, 1);
        DramConfig config;
        config.model = name;
        config.bytes_per_second = 1'000'000'000;  // 1 ns a byte
        const auto dram = make_dram(config, agenda);
        Client client(agenda);
        std::map<std::uint64_t, Ps> earliest;
        Ps work{};
        for (std::uint64_t n = 0; n < 2000; ++n) {
            // In bursts, with pauses in which all is answered.
            if (n % 50 == 0) {
                agenda.run();
                EXPECT_TRUE(dram->idle(agenda.now()));
                EXPECT_EQ(client.ended.size(), n);
                agenda.run_until(agenda.now() + static_cast<std::int64_t>(random.below(100'000)) * kNs);
            } else {
                agenda.run_until(agenda.now() + static_cast<std::int64_t>(random.below(30'000)) * kNs);
            }
            const std::vector<DramPiece> pieces = random_pieces(random);
            Ps bus{};
            for (const DramPiece& p : pieces) bus += std::int64_t{p.bytes} * p.passes * kNs;
            work += bus;
            earliest[n] = agenda.now().time_since_epoch() + bus + config.access_latency;
            client.asking = true;
            dram->access(pieces.data(), static_cast<std::uint32_t>(pieces.size()),
                         Then::to<&Client::dram_done>(&client, n));
            client.asking = false;
            EXPECT_FALSE(dram->idle(agenda.now()));
        }
        agenda.run();
        ASSERT_EQ(client.ended.size(), 2000u);
        for (const auto& [n, end] : client.ended) EXPECT_GE(end, earliest[n]) << n;
        EXPECT_GE(dram->busy(), work);
        EXPECT_LE(dram->busy(), agenda.now().time_since_epoch());
    }
}

TEST(Dram, DataArePlacedOneStretchAfterTheOtherAndRoundAgain) {
    Agenda agenda;
    SerialDram dram(agenda, {});
    std::uint64_t next = 0, rounds = 0;
    for (int n = 0; n < 200'000; ++n) {
        const std::uint64_t bytes = 4096u << (n % 3), at = dram.place(bytes);
        if (at == 0 && n != 0) {
            ++rounds;
            EXPECT_GT(next + bytes, std::uint64_t{1} << 30);
        } else {
            EXPECT_EQ(at, next);
        }
        next = at + bytes;
    }
    EXPECT_EQ(rounds, 1u);
}

TEST(SerialDram, IsAServerOfOneRate) {
    Agenda agenda;
    Random random(7, 1);
    DramConfig config;
    config.bytes_per_second = 300'000'000;
    config.access_latency = Ps{12'345};
    SerialDram dram(agenda, config);
    Client client(agenda);
    std::vector<Ps> expected;
    Ps free{};
    std::uint64_t bytes = 0;
    for (std::uint64_t n = 0; n < 2000; ++n) {
        agenda.run_until(agenda.now() + static_cast<std::int64_t>(random.below(200'000)) * kNs);
        const std::vector<DramPiece> pieces = random_pieces(random);
        std::uint64_t of_access = 0;
        for (const DramPiece& p : pieces) of_access += std::uint64_t{p.bytes} * p.passes;
        bytes += of_access;
        // 10^12 ps / 3 * 10^8 bytes, rounded up once.
        free = std::max(free, agenda.now().time_since_epoch()) +
               Ps{static_cast<std::int64_t>((of_access * 10'000 + 2) / 3)};
        expected.push_back(free + Ps{12'345});
        dram.access(pieces.data(), static_cast<std::uint32_t>(pieces.size()), Then::to<&Client::dram_done>(&client, n));
    }
    agenda.run();
    EXPECT_EQ(dram.bytes(), bytes);
    for (std::uint64_t n = 0; n < 2000; ++n) ASSERT_EQ(client.ended[n], expected[n]) << n;
}

/// With 1 ns a byte and times in whole ns.
struct Banks {
    explicit Banks(const BankedDram::Chips& c) : chips(c), dram(agenda, config(), c), client(agenda) {}
    static DramConfig config() {
        DramConfig d;
        d.bytes_per_second = 1'000'000'000;
        d.access_latency = Ps{};
        return d;
    }
    /// When the access ended that was asked for at `at`, both in ns.
    std::int64_t access(std::int64_t at, const std::vector<DramPiece>& pieces) {
        agenda.run_until(SimTime{at * kNs});
        dram.access(pieces.data(), static_cast<std::uint32_t>(pieces.size()),
                    Then::to<&Client::dram_done>(&client, ++number));
        agenda.run();
        return client.ended[number] / kNs;
    }
    const BankedDram::Chips chips;
    Agenda agenda;
    BankedDram dram;
    Client client;
    std::uint64_t number = 0;
};

TEST(BankedDram, LeavesTimeBetweenRefreshes) {
    Agenda agenda;
    BankedDram::Chips chips{4, 1024, 14 * kNs, 11 * kNs, 13 * kNs, (350 + 13 + 14 + 11 + 100) * kNs, 350 * kNs};
    const auto make = [&] { BankedDram dram(agenda, Banks::config(), chips); };
    EXPECT_NO_THROW(make());
    chips.t_refi -= Ps{1};
    EXPECT_THROW(make(), UserError);
    chips.t_refi = Ps{};  // none
    EXPECT_NO_THROW(make());
}

TEST(BankedDram, OpensAndKeepsRows) {
    Banks b({4, 1024, 14 * kNs, 11 * kNs, 13 * kNs, {}, {}});
    EXPECT_EQ(b.access(1000, {{0, 64, 1}}), 1000 + 14 + 11 + 64);          // nothing open
    EXPECT_EQ(b.access(2000, {{64, 64, 1}}), 2000 + 11 + 64);              // the open row
    EXPECT_EQ(b.access(3000, {{4096, 64, 1}}), 3000 + 13 + 14 + 11 + 64);  // another row of that bank
    EXPECT_EQ(b.access(4000, {{1024, 64, 1}}), 4000 + 14 + 11 + 64);       // another bank
    EXPECT_EQ(b.access(5000, {{4096, 64, 2}}), 5000 + 11 + 128);           // in and out again
    EXPECT_EQ(b.dram.counters().hits, 3u);
    EXPECT_EQ(b.dram.counters().opened, 2u);
    EXPECT_EQ(b.dram.counters().conflicts, 1u);
}

TEST(BankedDram, AStreamHidesTheRowsOfOtherBanks) {
    // 64 rows, each of another bank than the one before: after the first, rows are opened while others have the bus.
    Banks b({16, 1024, 14 * kNs, 14 * kNs, 14 * kNs, {}, {}});
    EXPECT_EQ(b.access(1000, {{0, 64 * 1024, 1}}), 1000 + 28 + 64 * 1024);
    // In a single bank each row waits for the one before it.
    Banks single({1, 1024, 14 * kNs, 14 * kNs, 14 * kNs, {}, {}});
    EXPECT_EQ(single.access(1000, {{0, 64 * 1024, 1}}), 1000 + 28 + 63 * 42 + 64 * 1024);
}

/// The rules of the chips, asked of one time after the other: slow, and in no way like the model.
class EarliestTime {
public:
    explicit EarliestTime(const BankedDram::Chips& c)
        : c_(c),
          t_rcd_(c.t_rcd / kNs),
          t_cl_(c.t_cl / kNs),
          t_rp_(c.t_rp / kNs),
          t_refi_(c.t_refi / kNs),
          t_rfc_(c.t_rfc / kNs) {}

    std::int64_t access(std::int64_t now, const std::vector<DramPiece>& pieces) {
        for (const DramPiece& p : pieces)
            for (std::uint32_t pass = 0; pass < p.passes; ++pass)
                for (std::uint64_t a = p.address; a < p.address + p.bytes; ++a) byte(now, a / c_.row_bytes);
        return bus_free_;
    }

private:
    struct Bank {
        bool used = false;
        std::uint64_t row = 0;
        std::int64_t command = 0, data_end = 0;
    };
    std::int64_t interval(std::int64_t t) const { return t_refi_ == 0 ? 0 : t / t_refi_; }
    bool refreshing(std::int64_t t) const { return interval(t) != 0 && t % t_refi_ < t_rfc_; }
    bool may_begin(const Bank& bank, std::int64_t now, std::uint64_t row, std::int64_t data,
                   std::int64_t& command) const {
        // All from the first command to the data lies between two refreshes.
        const auto open_at = [&](std::int64_t t) { return bank.used && interval(t) == interval(bank.command); };
        const auto allowed = [&](std::int64_t first) {
            return first >= now && !refreshing(first) && interval(first) == interval(data);
        };
        command = data - t_cl_;
        if (allowed(command) && open_at(command) && bank.row == row) return true;
        command = data - t_cl_ - t_rcd_;
        if (allowed(command) && !open_at(command)) return true;
        command = data - t_cl_ - t_rcd_ - t_rp_;
        return allowed(command) && open_at(command) && bank.row != row && command >= bank.data_end;
    }
    void byte(std::int64_t now, std::uint64_t row) {
        Bank& bank = banks_[row % c_.banks];
        std::int64_t data = bus_free_, command = 0;
        while (!may_begin(bank, now, row, data, command)) ++data;
        bus_free_ = data + 1;
        bank = {true, row, command, bus_free_};
    }

    const BankedDram::Chips c_;
    const std::int64_t t_rcd_, t_cl_, t_rp_, t_refi_, t_rfc_;
    std::map<std::uint64_t, Bank> banks_;
    std::int64_t bus_free_ = 0;
};

TEST(BankedDram, EachAccessEndsAtTheEarliestTimeThatTheRulesAllow) {
    std::uint64_t accesses = 0;
    BankedDram::Counters all;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 3);
        const auto time = [&random](std::uint64_t longest) {
            return static_cast<std::int64_t>(random.below(longest)) * kNs;
        };
        BankedDram::Chips chips;
        chips.banks = 1 + static_cast<std::uint32_t>(random.below(8));
        chips.row_bytes = 256u << random.below(4);
        chips.t_rcd = time(40);
        chips.t_cl = time(40);
        chips.t_rp = time(40);
        chips.t_rfc = chips.t_rp + time(300);
        chips.t_refi = seed % 3 == 0 ? Ps{} : chips.t_rfc + 100 * kNs + time(4000);
        Banks b(chips);
        EarliestTime reference(chips);
        std::int64_t now = 0;
        // Some wait for the one before, some come in a pause.
        for (int n = 0; n < 200; ++n) {
            now += static_cast<std::int64_t>(random.below(random.percent(20) ? 5000 : 300));
            std::vector<DramPiece> pieces(1 + random.below(3));
            for (DramPiece& p : pieces)
                p = {random.below(8192), static_cast<std::uint32_t>(1 + random.below(700)),
                     1 + static_cast<std::uint32_t>(random.below(2))};
            b.agenda.run_until(SimTime{now * kNs});
            b.dram.access(pieces.data(), static_cast<std::uint32_t>(pieces.size()),
                          Then::to<&Client::dram_done>(&b.client, n));
            const std::int64_t expected = reference.access(now, pieces);
            ASSERT_FALSE(b.dram.idle(SimTime{expected * kNs - Ps{1}}))
                << "access " << n << " asked for at " << now << " ns should end at " << expected << " ns";
            ASSERT_TRUE(b.dram.idle(SimTime{expected * kNs}))
                << "access " << n << " should end at " << expected << " ns";
            ++accesses;
        }
        b.agenda.run();
        ASSERT_EQ(b.client.ended.size(), 200u);
        all.hits += b.dram.counters().hits;
        all.opened += b.dram.counters().opened;
        all.conflicts += b.dram.counters().conflicts;
    }
    std::printf(
        "%llu accesses, each at the picosecond of the search; %llu stretches in open rows, %llu in closed banks, %llu "
        "after another row\n",
        static_cast<unsigned long long>(accesses), static_cast<unsigned long long>(all.hits),
        static_cast<unsigned long long>(all.opened), static_cast<unsigned long long>(all.conflicts));
    EXPECT_GT(all.hits, 5000u);
    EXPECT_GT(all.opened, 2000u);
    EXPECT_GT(all.conflicts, 5000u);
}

// A stream that never ends leaves the bus idle for a refresh and the first row after it, once an interval.
TEST(BankedDram, RefreshTakesItsShareOfAStream) {
    Banks b({16, 8192, 14 * kNs, 14 * kNs, 14 * kNs, 7800 * kNs, 350 * kNs});
    const std::uint32_t bytes = 100'000'000;
    const auto time = static_cast<double>(b.access(0, {{0, bytes, 1}}));
    const double share = 1.0 - (350.0 + 28.0) / 7800.0;
    EXPECT_NEAR(bytes / time, share, 0.002);
    std::printf("bandwidth under refresh: formula %.4f of the bus, model %.4f\n", share, bytes / time);
}

}  // namespace
}  // namespace ssdtlm
