// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/tpcc/tpcc_tables.h"

#include "common/report/error.h"

namespace ssdtlm::tpcc {

namespace {

struct TableKind {
    const char* name;
    std::uint32_t row_bytes;  // TPC-C standard specification 5.11, clause 4.2.2: typical row length
    bool grows;
};
constexpr std::array<TableKind, kTables> kTable{{{"warehouse", 89, false},
                                                 {"district", 95, false},
                                                 {"item", 82, false},
                                                 {"stock", 306, false},
                                                 {"customer", 655, false},
                                                 {"order", 24, true},
                                                 {"new_order", 8, true},
                                                 {"order_line", 54, true},
                                                 {"history", 46, true}}};

std::uint64_t pages_for(std::uint64_t rows, std::uint64_t rows_per_page) {
    return (rows + rows_per_page - 1) / rows_per_page;
}

struct Rows {
    std::uint64_t groups, of_each;
};
Rows rows_of(Table table, std::uint64_t warehouses) {
    const std::uint64_t districts = warehouses * kDistricts;
    switch (table) {
        case Table::warehouse:
            return {1, warehouses};
        case Table::district:
            return {1, districts};
        case Table::item:
            return {1, kItems};
        case Table::stock:
            return {1, warehouses * kItems};
        case Table::order:
            return {districts, kCustomers};
        case Table::new_order:
            return {districts, kUndelivered};
        case Table::order_line:
            return {districts, kCustomers * kLines};
        case Table::customer:
        case Table::history:  // no key: all rows in the order of their payments
            break;
    }
    return {1, districts * kCustomers};
}

std::uint64_t pages_at_first(Table table, std::uint64_t warehouses, std::uint32_t page_bytes) {
    const Rows rows = rows_of(table, warehouses);
    return rows.groups * pages_for(rows.of_each, rows_per_page(table, page_bytes));
}

}  // namespace

const char* name_of(Table table) {
    return kTable[static_cast<std::size_t>(table)].name;
}

std::uint32_t rows_per_page(Table table, std::uint32_t page_bytes) {
    return page_bytes / 4096 * (4096 / kTable[static_cast<std::size_t>(table)].row_bytes);
}

GrowingTable::GrowingTable(std::uint64_t first_page, std::uint32_t groups, std::uint32_t rows,
                           std::uint32_t rows_per_page)
    : first_page_(first_page),
      rows_per_page_(rows_per_page),
      // A group's rows lie in one page more when the last is not full.
      keep_(static_cast<std::uint32_t>(pages_for(rows, rows_per_page)) + 1),
      initial_pages_(pages_for(rows, rows_per_page) * groups),
      next_(initial_pages_),
      groups_(groups),
      recent_(std::size_t{groups} * keep_) {
    const auto own = static_cast<std::uint32_t>(pages_for(rows, rows_per_page));
    for (std::uint32_t g = 0; g < groups; ++g) {
        for (std::uint32_t p = 0; p < own; ++p) recent_[std::size_t{g} * keep_ + p] = g * own + p;
        groups_[g] = {own - 1, rows - (own - 1) * rows_per_page};
    }
}

GrowingTable::Place GrowingTable::add(std::uint32_t group) {
    Group& g = groups_[group];
    const bool fresh = g.filled == rows_per_page_;
    if (fresh) {
        g.filled = 0;
        g.head = (g.head + 1) % keep_;
        recent_[std::size_t{group} * keep_ + g.head] = static_cast<std::uint32_t>(next_);
        next_ = (next_ + 1) % pages();
    }
    ++g.filled;
    return {first_page_ + recent_[std::size_t{group} * keep_ + g.head], fresh};
}

std::uint64_t GrowingTable::page_of(std::uint32_t group, std::uint32_t back) const {
    const Group& g = groups_[group];
    const std::uint32_t pages = back < g.filled ? 0 : 1 + (back - g.filled) / rows_per_page_;
    SSDTLM_CHECK(pages < keep_, "a row of a table that is no longer remembered");
    return first_page_ + recent_[std::size_t{group} * keep_ + (g.head + keep_ - pages) % keep_];
}

Tables::Tables(std::uint32_t warehouses, std::uint32_t page_bytes) : warehouses_(warehouses) {
    for (std::size_t t = 0; t < kTables; ++t) {
        const auto table = static_cast<Table>(t);
        const Rows rows = rows_of(table, warehouses);
        Range& r = ranges_[t];
        r.rows_per_page = rows_per_page(table, page_bytes);
        r.first = pages_;
        const std::uint64_t initial = pages_at_first(table, warehouses, page_bytes);
        if (kTable[t].grows)
            growing_.emplace_back(pages_, static_cast<std::uint32_t>(rows.groups),
                                  static_cast<std::uint32_t>(rows.of_each), r.rows_per_page);
        r.end = pages_ += kTable[t].grows ? growing_.back().pages() : initial;
        initial_pages_ += initial;
    }
}

std::uint64_t Tables::pages(std::uint64_t warehouses, std::uint32_t page_bytes) {
    std::uint64_t pages = 0;
    for (std::size_t t = 0; t < kTables; ++t)
        pages += (kTable[t].grows ? 2 : 1) * pages_at_first(static_cast<Table>(t), warehouses, page_bytes);
    return pages;
}

std::uint64_t Tables::initial_pages(std::uint64_t warehouses, std::uint32_t page_bytes) {
    std::uint64_t pages = 0;
    for (std::size_t t = 0; t < kTables; ++t) pages += pages_at_first(static_cast<Table>(t), warehouses, page_bytes);
    return pages;
}

Table Tables::table_of(std::uint64_t page) const {
    for (std::size_t t = 0; t < kTables; ++t)
        if (page < ranges_[t].end) return static_cast<Table>(t);
    SSDTLM_CHECK(false, "a page of no table");
    return Table::history;
}

}  // namespace ssdtlm::tpcc
