// SPDX-License-Identifier: Apache-2.0
// The tables of a TPC-C database as consecutive pages: it finds the page of a row. Rows of a table that grows go to the
// last page of their district. Its next page is the table's next free one, so that these pages are written in ascending
// order. A table has room for twice its rows; after that, new pages replace the oldest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ssdtlm::tpcc {

enum class Table : std::uint8_t { warehouse, district, item, stock, customer, order, new_order, order_line, history };
inline constexpr std::size_t kTables = 9;
const char* name_of(Table table);

// TPC-C standard specification 5.11, clause 4.3.3.1: rows of each table for one warehouse.
inline constexpr std::uint32_t kDistricts = 10;
inline constexpr std::uint32_t kCustomers =
    3000;  ///< customers of a district; each has one order and one payment in the tables
inline constexpr std::uint32_t kItems = 100'000;    ///< items; each warehouse has stock of all
inline constexpr std::uint32_t kLines = 10;         ///< mean lines of an order (clause 2.4.1.3: 5 to 15)
inline constexpr std::uint32_t kUndelivered = 900;  ///< latest orders of a district (clause 4.3.3.1)

/// Rows of a table in a page. As in Leutenegger and Dias, "A modeling study of the TPC-C benchmark" (SIGMOD 1993):
/// whole rows of the standard's typical lengths in each 4 KiB, 13 of stock, 6 of customer, 75 of order_line.
std::uint32_t rows_per_page(Table table, std::uint32_t page_bytes);

/// Rows that are only added, in `groups` orders of their own. The last rows of each group are looked up by how far back
/// they are.
class GrowingTable {
public:
    /// The table holds `rows` rows of each group at the beginning.
    GrowingTable(std::uint64_t first_page, std::uint32_t groups, std::uint32_t rows, std::uint32_t rows_per_page);

    struct Place {
        std::uint64_t page;
        bool fresh;  ///< the row is the page's first: there is nothing of the page to be read
    };
    Place add(std::uint32_t group);
    /// The page of the row that was added `back` rows before the last; 0: the last. `back` is less than the number of
    /// rows at the beginning.
    std::uint64_t page_of(std::uint32_t group, std::uint32_t back) const;
    std::uint64_t pages() const { return 2 * initial_pages_; }
    std::uint64_t initial_pages() const { return initial_pages_; }

private:
    struct Group {
        std::uint32_t head = 0;    // index in recent_ of the last page
        std::uint32_t filled = 0;  // rows in the last page
    };
    std::uint64_t first_page_;
    std::uint32_t rows_per_page_;
    std::uint32_t keep_;  // pages of a group that are remembered
    std::uint64_t initial_pages_;
    std::uint64_t next_;  // page, relative to the first
    std::vector<Group> groups_;
    std::vector<std::uint32_t> recent_;  // keep_ of each group, a ring: pages relative to the first
};

class Tables {
public:
    Tables(std::uint32_t warehouses, std::uint32_t page_bytes);
    /// pages() and initial_pages() of such tables.
    static std::uint64_t pages(std::uint64_t warehouses, std::uint32_t page_bytes);
    static std::uint64_t initial_pages(std::uint64_t warehouses, std::uint32_t page_bytes);

    std::uint32_t warehouses() const { return warehouses_; }
    /// Pages of all tables, with the room to grow.
    std::uint64_t pages() const { return pages_; }
    /// Pages of the rows that exist at the beginning.
    std::uint64_t initial_pages() const { return initial_pages_; }
    Table table_of(std::uint64_t page) const;

    // All numbers count from 0; districts are numbered over all warehouses.
    std::uint64_t warehouse(std::uint32_t w) const { return page(Table::warehouse, w); }
    std::uint64_t district(std::uint32_t d) const { return page(Table::district, d); }
    std::uint64_t item(std::uint32_t i) const { return page(Table::item, i); }
    std::uint64_t stock(std::uint32_t w, std::uint32_t i) const {
        return page(Table::stock, std::uint64_t{w} * kItems + i);
    }
    std::uint64_t customer(std::uint32_t d, std::uint32_t c) const {
        return page(Table::customer, std::uint64_t{d} * kCustomers + c);
    }
    GrowingTable& orders() { return growing_[0]; }
    GrowingTable& new_orders() { return growing_[1]; }
    GrowingTable& order_lines() { return growing_[2]; }
    GrowingTable& history() { return growing_[3]; }

private:
    std::uint64_t page(Table table, std::uint64_t row) const {
        const Range& r = ranges_[static_cast<std::size_t>(table)];
        return r.first + row / r.rows_per_page;
    }
    struct Range {
        std::uint64_t first = 0;  // page
        std::uint64_t end = 0;
        std::uint32_t rows_per_page = 1;
    };
    std::uint32_t warehouses_;
    std::uint64_t pages_ = 0;
    std::uint64_t initial_pages_ = 0;
    std::array<Range, kTables> ranges_;
    std::vector<GrowingTable> growing_;
};

}  // namespace ssdtlm::tpcc
