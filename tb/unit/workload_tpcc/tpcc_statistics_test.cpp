// SPDX-License-Identifier: Apache-2.0
// How much TPC-C reads and writes, against the hit ratio of LRU under the references that the standard's clauses give.
#include <gmock/gmock.h>

#include <cstdio>
#include <list>
#include <numeric>
#include <unordered_map>

#include "tpcc_bench.h"

namespace ssdtlm {
namespace {

using tpcc::Table;

template <class Array>
double sum(const Array& counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

constexpr std::uint64_t kTransactions = 20'000;

TpccConfig config(double buffer_pool) {
    TpccConfig c;
    c.warehouses = 10;
    c.transactions = kTransactions;
    c.buffer_pool = buffer_pool;
    return c;
}

/// Misses of each transaction when the last `frames` pages are in memory, whatever is changed.
double misses_of_lru(const TpccConfig& c, std::size_t frames) {
    tpcc::Tables tables(c.warehouses, c.page_bytes);
    tpcc::Transactions transactions(tables, 99);
    std::vector<tpcc::Access> accesses;
    std::list<std::uint64_t> recent;
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> at;
    std::uint64_t misses = 0;
    const std::uint64_t before = 60'000;
    for (std::uint64_t t = 0; t < before + kTransactions; ++t) {
        transactions.next(accesses);
        for (const tpcc::Access& a : accesses) {
            const auto found = at.find(a.page);
            if (found != at.end()) {
                recent.splice(recent.begin(), recent, found->second);
                continue;
            }
            misses += t >= before && !a.fresh;
            recent.push_front(a.page);
            at[a.page] = recent.begin();
            if (recent.size() <= frames) continue;
            at.erase(recent.back());
            recent.pop_back();
        }
    }
    return static_cast<double>(misses) / kTransactions;
}

TEST(TpccStatistics, ReadsAreTheMissesOfLru) {
    for (const double share : {0.1, 0.25, 0.5}) {
        const TpccConfig c = config(share);
        TpccWorkload w(c, {16_GiB, 512, 1});
        run_tpcc(w);
        // Of the reserve, 1024 pages and at most an eighth, between a half and all is free.
        const double expected = misses_of_lru(c, w.pool().frames() - std::min(1024u, w.pool().frames() / 8) * 3 / 4);
        const double found = sum(w.counters().read) / kTransactions;
        EXPECT_NEAR(found / expected, 1, 0.05) << "pool of " << share;
        std::printf("[   FIGURE ] pool of %2.0f %%: %.3f pages read for a transaction, LRU %.3f\n", 100 * share, found,
                    expected);
    }
}

/// Changes of each page of `rows` rows in a transaction; NURand is counted out with the constant 0, which moves the
/// popular rows.
std::vector<double> changes(std::uint32_t a, std::uint32_t rows, std::size_t per_page, double rate,
                            double uniform_rate) {
    std::vector<double> pages((rows + per_page - 1) / per_page);
    for (std::uint32_t low = 0; low <= a; ++low)
        for (std::uint32_t base = 0; base < rows; ++base)
            pages[((low | base) % rows) / per_page] += rate / (a + 1.0) / rows;
    for (std::size_t p = 0; p < pages.size(); ++p)
        pages[p] += uniform_rate * static_cast<double>(std::min<std::size_t>(per_page, rows - p * per_page)) / rows;
    return pages;
}

TEST(TpccStatistics, WithAllInMemoryEachPageIsWrittenOnceForTheAgeOfItsChanges) {
    const TpccConfig c = config(1);
    TpccWorkload w(c, {16_GiB, 512, 1});
    run_tpcc(w);
    EXPECT_EQ(w.cleaner().for_room(), 0u);
    // Rows changed by a transaction: 23, 4 and 130 of new orders, payments and deliveries. A page that is changed for
    // the first time is written when three quarters of the log have been written behind that, and then waits for its
    // next change.
    const double redo = (0.45 * 23 + 0.43 * 4 + 0.04 * 130) * c.redo_per_row;
    const double age = 0.75 * static_cast<double>(c.log_bytes) / redo;
    const auto written = [&](const std::vector<double>& one, double copies) {
        double all = 0;
        for (const double rate : one) all += copies * (rate / copies) / (1 + rate / copies * age);
        return all;
    };
    // Lines of new orders; customers by number in payments (40 %), by name else, and any in deliveries.
    const double stock = written(changes(8191, 100'000, 52, 0.45 * 10, 0), 10);
    const auto found = [&](Table t) {
        return static_cast<double>(w.counters().written[static_cast<std::size_t>(t)]) / kTransactions;
    };
    EXPECT_NEAR(found(Table::stock) / stock, 1, 0.05);
    std::printf("[   FIGURE ] all in memory: %.3f pages of stock written for a transaction, formula %.3f\n",
                found(Table::stock), stock);
    std::vector<double> customer = changes(1023, 3000, 24, 0.43 * 0.4, 0.04 * 10);
    std::vector<double> name(1000);
    for (std::uint32_t low = 0; low <= 255; ++low)
        for (std::uint32_t base = 0; base < 1000; ++base) name[(low | base) % 1000] += 0.43 * 0.6 / 256 / 1000;
    for (std::size_t n = 0; n < 1000; ++n) customer[(n + 1000) / 24] += name[n];  // the middle one of three
    EXPECT_NEAR(found(Table::customer) / written(customer, 100), 1, 0.05);
    std::printf("[   FIGURE ] all in memory: %.3f pages of customer written for a transaction, formula %.3f\n",
                found(Table::customer), written(customer, 100));
}

TEST(TpccStatistics, MoreMemoryMeansFewerReadsAndAtLastFewerWrites) {
    double reads = 1e9, writes = 1e9;
    for (const double share : {0.05, 0.1, 0.25, 0.5, 1.0}) {
        TpccWorkload w(config(share), {16_GiB, 512, 1});
        run_tpcc(w);
        const double r = sum(w.counters().read), x = sum(w.counters().written);
        EXPECT_LT(r, reads) << share;
        EXPECT_LT(x, writes) << share;
        reads = r;
        writes = x;
        const double log = static_cast<double>(w.log().bytes());
        std::printf("[   FIGURE ] pool of %3.0f %%: %.3f read, %.3f written, %.1f %% of the bytes written are log\n",
                    100 * share, r / kTransactions, x / kTransactions, 100 * log / (log + 2 * x * 16384));
    }
    EXPECT_LT(reads / kTransactions, 0.1) << "all is in memory";
}

}  // namespace
}  // namespace ssdtlm
