// SPDX-License-Identifier: Apache-2.0
// NURand against its exact enumeration, and what each transaction touches against the clauses of the standard.
#include "host_pcie/workload/tpcc/tpcc_transactions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace ssdtlm::tpcc {
namespace {

double five_sigma(double share, double n) {
    return 5 * std::sqrt(share * (1 - share) / n);
}

/// Probability of each value of NURand(a, x, y) of clause 2.1.6 with the constant c, from x on, by counting all cases.
std::vector<double> enumerate(std::uint32_t a, std::uint32_t x, std::uint32_t y, std::uint32_t c) {
    std::vector<double> p(y - x + 1);
    const double each = 1.0 / (static_cast<double>(a + 1) * static_cast<double>(y - x + 1));
    for (std::uint32_t low = 0; low <= a; ++low)
        for (std::uint32_t base = x; base <= y; ++base) p[((low | base) + c) % (y - x + 1)] += each;
    return p;
}

std::vector<double> by_page(const std::vector<double>& tuples, std::size_t per_page) {
    std::vector<double> pages((tuples.size() + per_page - 1) / per_page);
    for (std::size_t i = 0; i < tuples.size(); ++i) pages[i / per_page] += tuples[i];
    return pages;
}

/// Share of the accesses that the most popular `part` of all gets.
double top(std::vector<double> p, double part) {
    std::sort(p.begin(), p.end(), std::greater<>());
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(part * static_cast<double>(p.size())); ++i) sum += p[i];
    return sum;
}

TEST(NuRand, IsAsSkewedAsPublished) {
    // Leutenegger and Dias, "A modeling study of the TPC-C benchmark" (SIGMOD 1993): 84 % of the accesses to 20 % of
    // stock, 71 % to 10 %, 39 % to 2 %; 75 % to 20 % of its pages of 4 KiB.
    const std::vector<double> stock = enumerate(8191, 1, kItems, 0);
    EXPECT_NEAR(top(stock, 0.20), 0.84, 0.005);
    EXPECT_NEAR(top(stock, 0.10), 0.71, 0.005);
    EXPECT_NEAR(top(stock, 0.02), 0.39, 0.005);
    EXPECT_NEAR(top(by_page(stock, 13), 0.20), 0.75, 0.005);
    // Pages of 16 KiB, as they are used here.
    EXPECT_NEAR(top(by_page(stock, 52), 0.20), 0.69, 0.005);
    EXPECT_NEAR(top(by_page(enumerate(1023, 1, kCustomers, 0), 24), 0.20), 0.61, 0.005);
}

TEST(NuRand, DrawsWhatTheEnumerationSays) {
    struct Use {
        std::uint32_t a, x, y;
    };
    for (const Use u : {Use{255, 0, 999}, Use{1023, 1, 3000}, Use{8191, 1, 100'000}}) {
        Random random(42, u.a);
        const auto c = static_cast<std::uint32_t>(Random(42, u.a).below(u.a + 1));
        const NuRand nurand(u.a, u.x, u.y, random);
        const std::vector<double> p = enumerate(u.a, u.x, u.y, c);
        constexpr double kDraws = 2'000'000;
        std::vector<double> count(p.size());
        for (int i = 0; i < static_cast<int>(kDraws); ++i) {
            const std::uint32_t v = nurand.draw(random);
            ASSERT_GE(v, u.x);
            ASSERT_LE(v, u.y);
            ++count[v - u.x];
        }
        // Pearson's sum over groups of 50 values: its mean is one less than their number, its variance twice that.
        double sum = 0;
        const std::vector<double> expected = by_page(p, 50), found = by_page(count, 50);
        for (std::size_t i = 0; i < expected.size(); ++i)
            sum += std::pow(found[i] - kDraws * expected[i], 2) / (kDraws * expected[i]);
        const double freedom = static_cast<double>(expected.size()) - 1;
        EXPECT_NEAR(sum, freedom, 5 * std::sqrt(2 * freedom)) << u.a;
    }
}

struct TpccTransactions : ::testing::Test {
    static constexpr std::uint32_t kWarehouses = 4;
    Tables tables{kWarehouses, 16384};
    Transactions transactions{tables, 1};
    std::vector<Access> accesses;

    std::uint32_t changed(Table table) const {
        std::uint32_t rows = 0;
        for (const Access& a : accesses) rows += tables.table_of(a.page) == table ? a.changed : 0;
        return rows;
    }
    std::uint32_t changed() const {
        std::uint32_t rows = 0;
        for (const Access& a : accesses) rows += a.changed;
        return rows;
    }
    std::size_t touched(Table table) const {
        return static_cast<std::size_t>(std::count_if(
            accesses.begin(), accesses.end(), [&](const Access& a) { return tables.table_of(a.page) == table; }));
    }
};

TEST_F(TpccTransactions, TheMixIsThatOfClause523) {
    std::map<Kind, double> count;
    constexpr double kCount = 200'000;
    for (int i = 0; i < static_cast<int>(kCount); ++i) ++count[transactions.next(accesses)];
    const std::map<Kind, double> shares{{Kind::new_order, 0.45},
                                        {Kind::payment, 0.43},
                                        {Kind::order_status, 0.04},
                                        {Kind::delivery, 0.04},
                                        {Kind::stock_level, 0.04}};
    for (const auto& [kind, share] : shares) EXPECT_NEAR(count[kind] / kCount, share, five_sigma(share, kCount));
}

TEST_F(TpccTransactions, RowsThatEachChanges) {
    std::map<std::uint32_t, double> lines;  // of an order
    double orders = 0;
    for (int i = 0; i < 100'000; ++i) {
        switch (transactions.next(accesses)) {
            case Kind::new_order: {
                const std::uint32_t l = changed(Table::order_line);
                ++lines[l];
                ++orders;
                ASSERT_EQ(changed(Table::stock), l);
                ASSERT_EQ(changed(Table::district), 1u);
                ASSERT_EQ(changed(Table::order), 1u);
                ASSERT_EQ(changed(Table::new_order), 1u);
                ASSERT_EQ(changed(), 3 + 2 * l);
                ASSERT_EQ(tables.table_of(accesses.front().page), Table::warehouse);
                ASSERT_EQ(touched(Table::customer), 1u);
                break;
            }
            case Kind::payment:
                for (const Table t : {Table::warehouse, Table::district, Table::customer, Table::history})
                    ASSERT_EQ(changed(t), 1u);
                ASSERT_EQ(changed(), 4u);
                break;
            case Kind::delivery:  // of ten districts: an order of ten lines, its new order, its customer
                ASSERT_EQ(changed(Table::new_order), 10u);
                ASSERT_EQ(changed(Table::order), 10u);
                ASSERT_EQ(changed(Table::order_line), 100u);
                ASSERT_EQ(changed(Table::customer), 10u);
                ASSERT_EQ(changed(), 130u);
                break;
            case Kind::stock_level:
                ASSERT_EQ(touched(Table::district), 1u);
                ASSERT_GE(touched(Table::stock), 150u);  // of 200 items, neighbours in one page count once
                [[fallthrough]];
            case Kind::order_status:
                ASSERT_EQ(changed(), 0u);
                break;
        }
    }
    ASSERT_EQ(lines.size(), 11u);
    for (const auto& [l, count] : lines) {
        EXPECT_TRUE(l >= 5 && l <= 15) << l;
        EXPECT_NEAR(count / orders, 1 / 11.0, five_sigma(1 / 11.0, orders)) << l;
    }
}

TEST_F(TpccTransactions, StockIsChangedWhereNuRandSays) {
    const auto c = [] {  // the third constant that is drawn
        Random random(1, 20);
        random.below(256);
        random.below(1024);
        return static_cast<std::uint32_t>(random.below(8192));
    }();
    const std::vector<double> items = enumerate(8191, 1, kItems, c);
    std::map<std::uint64_t, double> expected, found;
    for (std::uint32_t w = 0; w < kWarehouses; ++w)
        for (std::uint32_t i = 0; i < kItems; ++i) expected[tables.stock(w, i)] += items[i] / kWarehouses;
    double count = 0;
    for (int t = 0; t < 300'000; ++t) {
        if (transactions.next(accesses) != Kind::new_order) continue;
        for (const Access& a : accesses) {
            if (tables.table_of(a.page) != Table::stock) continue;
            found[a.page] += a.changed;
            count += a.changed;
        }
    }
    double sum = 0;
    for (const auto& [page, p] : expected) sum += std::pow(found[page] - count * p, 2) / (count * p);
    const double freedom = static_cast<double>(expected.size()) - 1;
    EXPECT_NEAR(sum, freedom, 5 * std::sqrt(2 * freedom));
}

TEST_F(TpccTransactions, OneLineOfAHundredIsOfAnotherWarehouse) {
    double lines = 0, others = 0;
    const std::uint64_t stock = tables.stock(1, 0) - tables.stock(0, 0);
    const std::uint64_t customers = tables.customer(kDistricts, 0) - tables.customer(0, 0);
    for (int i = 0; i < 200'000; ++i) {
        if (transactions.next(accesses) != Kind::new_order) continue;
        const auto customer = std::find_if(accesses.begin(), accesses.end(),
                                           [&](const Access& a) { return tables.table_of(a.page) == Table::customer; });
        const std::uint64_t home = (customer->page - tables.customer(0, 0)) / customers;
        for (const Access& a : accesses) {
            if (tables.table_of(a.page) != Table::stock) continue;
            lines += a.changed;
            others += (a.page - tables.stock(0, 0)) / stock != home ? a.changed : 0;
        }
    }
    // A page at the border of two warehouses counts for one of them: one of 1924.
    EXPECT_NEAR(others / lines, 0.01, five_sigma(0.01, lines) + 1.0 / 1924);
}

TEST(TpccPayments, SixOfTenKnowTheNameAndOneOfSevenIsOfAnotherWarehouse) {
    constexpr std::uint32_t kMany = 200;
    Tables tables(kMany, 4096);
    Transactions transactions(tables, 3);
    const auto warehouse_of = [&](std::uint64_t customer) {  // 500 pages of each district
        return static_cast<std::uint32_t>((customer - tables.customer(0, 0)) / 500 / kDistricts);
    };
    // Of the district only its page is seen, which has districts of several warehouses.
    std::map<std::uint64_t, std::set<std::uint32_t>> warehouses_at;
    for (std::uint32_t d = 0; d < kMany * kDistricts; ++d) warehouses_at[tables.district(d)].insert(d / kDistricts);
    double visible = 0;  // that another warehouse is not in the page
    for (std::uint32_t d = 0; d < kMany * kDistricts; ++d)
        visible += 1 - (static_cast<double>(warehouses_at[tables.district(d)].size()) - 1) / (kMany - 1);
    visible /= kMany * kDistricts;

    std::vector<Access> accesses;
    double payments = 0, named = 0, others = 0;
    for (int i = 0; i < 100'000; ++i) {
        if (transactions.next(accesses) != Kind::payment) continue;
        std::vector<std::uint64_t> customers;
        std::uint64_t district = 0;
        for (const Access& a : accesses) {
            if (tables.table_of(a.page) == Table::customer) customers.push_back(a.page);
            if (tables.table_of(a.page) == Table::district) district = a.page;
        }
        ++payments;
        named += customers.size() == 4;  // three are read, then the middle one is changed
        ASSERT_TRUE(customers.size() == 1 || customers.size() == 4);
        others += warehouses_at[district].count(warehouse_of(customers.back())) == 0;
    }
    EXPECT_NEAR(named / payments, 0.60, five_sigma(0.60, payments));
    EXPECT_NEAR(others / payments, 0.15 * visible, five_sigma(0.15 * visible, payments));
}

}  // namespace
}  // namespace ssdtlm::tpcc
