// SPDX-License-Identifier: Apache-2.0
// The five transactions of TPC-C (standard specification 5.11, clauses 2.4 to 2.8) as the pages that they touch, row by
// row in the order of the clauses. Indexes are taken to be in memory; the hundredth of new orders that are rolled back
// is not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/workload/tpcc/tpcc_tables.h"

namespace ssdtlm::tpcc {

/// NURand(A, x, y) of clause 2.1.6, which is not uniform over [x, y].
class NuRand {
public:
    /// Draws the constant C of a run from `random`.
    NuRand(std::uint32_t a, std::uint32_t x, std::uint32_t y, Random& random)
        : a_(a), x_(x), y_(y), c_(static_cast<std::uint32_t>(random.below(a + 1))) {}
    std::uint32_t draw(Random& random) const {
        const auto mask = static_cast<std::uint32_t>(random.below(a_ + 1));
        const auto base = x_ + static_cast<std::uint32_t>(random.below(y_ - x_ + 1));
        return ((mask | base) + c_) % (y_ - x_ + 1) + x_;
    }

private:
    std::uint32_t a_, x_, y_, c_;
};

enum class Kind : std::uint8_t { new_order, payment, order_status, delivery, stock_level };
inline constexpr std::size_t kKinds = 5;

/// One or several rows of one page, which are accessed one after the other.
struct Access {
    std::uint64_t page = 0;
    std::uint32_t changed = 0;  ///< rows
    bool fresh = false;         ///< nothing of the page has to be read
};

class Transactions {
public:
    /// `tables` must outlive this object.
    Transactions(Tables& tables, std::uint64_t seed);
    /// Fills `accesses` with those of the next transaction.
    Kind next(std::vector<Access>& accesses);

private:
    void new_order(std::uint32_t w, std::uint32_t d);
    void payment(std::uint32_t w, std::uint32_t d);
    void order_status(std::uint32_t d);
    void delivery(std::uint32_t w);
    void stock_level(std::uint32_t w, std::uint32_t d);
    void customer(std::uint32_t d, std::uint32_t changed);
    std::uint32_t other_warehouse(std::uint32_t w);
    void read(std::uint64_t page) { touch({page, 0, false}); }
    void change(std::uint64_t page) { touch({page, 1, false}); }
    void add(GrowingTable& table, std::uint32_t group);
    void touch(const Access& access);

    Tables& tables_;
    Random random_;
    NuRand last_name_, customer_id_, item_id_;
    static constexpr std::uint32_t kRecentItems = 20 * kLines;  // clause 2.8.2.2: of the last 20 orders
    std::vector<std::uint32_t> recent_items_;                   // of each district, a ring
    std::vector<std::uint32_t> recent_at_;
    std::vector<Access>* out_ = nullptr;
};

}  // namespace ssdtlm::tpcc
