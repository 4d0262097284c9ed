// SPDX-License-Identifier: Apache-2.0
// Where rows lie: rows of a page, pages of a warehouse, and tables that grow against a list of all their rows.
#include "host_pcie/workload/tpcc/tpcc_tables.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm::tpcc {
namespace {

TEST(TpccTables, RowsOfAPageAreThoseOfLeuteneggerAndDias) {
    // Tuples in a page of 4 KiB, their Table 1; larger pages hold as many in each 4 KiB.
    const std::map<Table, std::uint32_t> published{
        {Table::warehouse, 46},  {Table::district, 43},   {Table::customer, 6},
        {Table::stock, 13},      {Table::item, 49},       {Table::order, 170},
        {Table::new_order, 512}, {Table::order_line, 75}, {Table::history, 89}};
    for (const auto& [table, rows] : published)
        for (const std::uint32_t four : {1u, 2u, 4u})
            EXPECT_EQ(rows_per_page(table, four * 4096), four * rows) << name_of(table);
}

TEST(TpccTables, PagesAreThoseOfTheRows) {
    const auto up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    for (const std::uint64_t w : {1u, 2u, 7u, 30u}) {
        // Of 16 KiB. Rows of a district have pages of their own in the tables that grow, but for history.
        const std::uint64_t fixed =
            up(w, 184) + up(10 * w, 172) + up(100'000, 196) + up(100'000 * w, 52) + up(30'000 * w, 24);
        const std::uint64_t grow = 10 * w * (up(3000, 680) + up(900, 2048) + up(30'000, 300)) + up(30'000 * w, 356);
        const Tables tables(static_cast<std::uint32_t>(w), 16384);
        EXPECT_EQ(tables.initial_pages(), fixed + grow);
        EXPECT_EQ(tables.pages(), fixed + 2 * grow) << "with room for as much again";
        EXPECT_EQ(Tables::pages(w, 16384), tables.pages());
        EXPECT_EQ(Tables::initial_pages(w, 16384), tables.initial_pages());
    }
}

TEST(TpccTables, EachRowIsInItsTable) {
    Tables tables(3, 8192);
    EXPECT_EQ(tables.table_of(tables.warehouse(2)), Table::warehouse);
    EXPECT_EQ(tables.table_of(tables.district(29)), Table::district);
    EXPECT_EQ(tables.table_of(tables.item(0)), Table::item);
    EXPECT_EQ(tables.table_of(tables.item(kItems - 1)), Table::item);
    EXPECT_EQ(tables.table_of(tables.stock(0, 0)), Table::stock);
    EXPECT_EQ(tables.table_of(tables.stock(2, kItems - 1)), Table::stock);
    EXPECT_EQ(tables.table_of(tables.customer(0, 0)), Table::customer);
    EXPECT_EQ(tables.table_of(tables.customer(29, kCustomers - 1)), Table::customer);
    for (int i = 0; i < 3'000'000; ++i) {
        ASSERT_EQ(tables.table_of(tables.orders().add(29).page), Table::order);
        ASSERT_EQ(tables.table_of(tables.order_lines().add(0).page), Table::order_line);
        ASSERT_EQ(tables.table_of(tables.history().add(0).page), Table::history);
    }
    // Neighbours share pages, rows far apart do not: 26 of stock in 8 KiB.
    std::map<std::uint64_t, int> rows;
    for (std::uint32_t i = 0; i < kItems; ++i) ++rows[tables.stock(0, i)];
    for (auto r = rows.begin(); r != std::prev(rows.end()); ++r) EXPECT_EQ(r->second, 26);
}

/// The page of each row of each group, all of them.
struct PlainTable {
    PlainTable(std::uint64_t first, std::uint32_t groups, std::uint32_t rows, std::uint32_t rows_per_page)
        : first_(first), rows_per_page_(rows_per_page), pages_of_(groups) {
        for (auto& group : pages_of_) {
            for (std::uint32_t r = 0; r < rows; ++r) group.push_back(first_ + taken_ + r / rows_per_page);
            taken_ += (rows + rows_per_page - 1) / rows_per_page;
        }
        room_ = 2 * taken_;
        filled_.assign(groups, (rows - 1) % rows_per_page + 1);
    }
    bool add(std::uint32_t group) {
        const bool fresh = filled_[group] == rows_per_page_;
        if (fresh) filled_[group] = 0;
        ++filled_[group];
        pages_of_[group].push_back(fresh ? first_ + taken_++ % room_ : pages_of_[group].back());
        return fresh;
    }
    std::uint64_t page_of(std::uint32_t group, std::uint32_t back) const {
        return pages_of_[group][pages_of_[group].size() - 1 - back];
    }

    std::uint64_t first_, taken_ = 0, room_ = 0;
    std::uint32_t rows_per_page_;
    std::vector<std::uint32_t> filled_;
    std::vector<std::vector<std::uint64_t>> pages_of_;
};

TEST(GrowingTable, IsAListOfRows) {
    Random random(3);
    for (int round = 0; round < 60; ++round) {
        const auto groups = static_cast<std::uint32_t>(1 + random.below(6));
        const auto rows = static_cast<std::uint32_t>(1 + random.below(50));
        const auto rows_per_page = static_cast<std::uint32_t>(1 + random.below(12));
        const std::uint64_t first = random.below(1000);
        GrowingTable table(first, groups, rows, rows_per_page);
        PlainTable plain(first, groups, rows, rows_per_page);
        for (int step = 0; step < 2000; ++step) {
            const auto g = static_cast<std::uint32_t>(random.below(groups));
            const auto back = static_cast<std::uint32_t>(random.below(rows));
            ASSERT_EQ(table.page_of(g, back), plain.page_of(g, back)) << "round " << round << " step " << step;
            const bool fresh = plain.add(g);
            const GrowingTable::Place place = table.add(g);
            ASSERT_EQ(place.page, plain.page_of(g, 0));
            ASSERT_EQ(place.fresh, fresh);
            ASSERT_LT(place.page, first + table.pages());
        }
    }
}

}  // namespace
}  // namespace ssdtlm::tpcc
