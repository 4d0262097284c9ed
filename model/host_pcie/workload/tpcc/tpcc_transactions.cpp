// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/tpcc/tpcc_transactions.h"

namespace ssdtlm::tpcc {

namespace {

// Clause 5.2.3 gives the least shares of all but new orders, which take the rest.
constexpr std::array<unsigned, kKinds> kMix{45, 43, 4, 4, 4};
constexpr std::uint32_t kNames =
    1000;  // clause 4.3.2.3: last names; on average three customers of a district share one

}  // namespace

Transactions::Transactions(Tables& tables, std::uint64_t seed)
    : tables_(tables),
      random_(seed, 20),
      last_name_(255, 0, kNames - 1, random_),
      customer_id_(1023, 1, kCustomers, random_),
      item_id_(8191, 1, kItems, random_),
      recent_items_(std::size_t{tables.warehouses()} * kDistricts * kRecentItems),
      recent_at_(std::size_t{tables.warehouses()} * kDistricts) {
    for (std::uint32_t& i : recent_items_) i = item_id_.draw(random_) - 1;
}

Kind Transactions::next(std::vector<Access>& accesses) {
    accesses.clear();
    out_ = &accesses;
    auto percent = static_cast<unsigned>(random_.below(100));
    std::size_t kind = 0;
    while (percent >= kMix[kind]) percent -= kMix[kind++];
    const auto w = static_cast<std::uint32_t>(random_.below(tables_.warehouses()));
    const std::uint32_t d = w * kDistricts + static_cast<std::uint32_t>(random_.below(kDistricts));
    switch (static_cast<Kind>(kind)) {
        case Kind::new_order:
            new_order(w, d);
            break;
        case Kind::payment:
            payment(w, d);
            break;
        case Kind::order_status:
            order_status(d);
            break;
        case Kind::delivery:
            delivery(w);
            break;
        case Kind::stock_level:
            stock_level(w, d);
            break;
    }
    return static_cast<Kind>(kind);
}

void Transactions::touch(const Access& access) {
    if (!out_->empty() && out_->back().page == access.page)
        out_->back().changed += access.changed;
    else
        out_->push_back(access);
}

void Transactions::add(GrowingTable& table, std::uint32_t group) {
    const GrowingTable::Place place = table.add(group);
    touch({place.page, 1, place.fresh});
}

std::uint32_t Transactions::other_warehouse(std::uint32_t w) {
    if (tables_.warehouses() == 1) return w;
    const auto other = static_cast<std::uint32_t>(random_.below(tables_.warehouses() - 1));
    return other + (other >= w ? 1 : 0);
}

/// Finds a customer. In 60 % of cases it is by last name: all who share it are read, and the middle one is meant
/// (clauses 2.5.2.2, 2.6.2.2).
void Transactions::customer(std::uint32_t d, std::uint32_t changed) {
    if (!random_.percent(60)) return touch({tables_.customer(d, customer_id_.draw(random_) - 1), changed, false});
    const std::uint32_t first = last_name_.draw(random_);
    for (std::uint32_t c = first; c < kCustomers; c += kNames) read(tables_.customer(d, c));
    touch({tables_.customer(d, first + kNames), changed, false});
}

void Transactions::new_order(std::uint32_t w, std::uint32_t d) {
    read(tables_.warehouse(w));
    change(tables_.district(d));
    read(tables_.customer(d, customer_id_.draw(random_) - 1));
    add(tables_.orders(), d);
    add(tables_.new_orders(), d);
    const auto lines = 5 + static_cast<std::uint32_t>(random_.below(11));
    for (std::uint32_t l = 0; l < lines; ++l) {
        const std::uint32_t i = item_id_.draw(random_) - 1;
        recent_items_[std::size_t{d} * kRecentItems + recent_at_[d]] = i;
        recent_at_[d] = (recent_at_[d] + 1) % kRecentItems;
        read(tables_.item(i));
        change(tables_.stock(random_.percent(1) ? other_warehouse(w) : w, i));  // clause 2.4.1.5
        add(tables_.order_lines(), d);
    }
}

void Transactions::payment(std::uint32_t w, std::uint32_t d) {
    std::uint32_t home = d;
    if (random_.percent(15))  // clause 2.5.1.2: a customer of another warehouse
        home = other_warehouse(w) * kDistricts + static_cast<std::uint32_t>(random_.below(kDistricts));
    change(tables_.warehouse(w));
    change(tables_.district(d));
    customer(home, 1);
    add(tables_.history(), 0);
}

/// Reads the last order of a customer. Each customer has one order, so it is taken to be any of the last kCustomers
/// orders.
void Transactions::order_status(std::uint32_t d) {
    customer(d, 0);
    const auto back = static_cast<std::uint32_t>(random_.below(kCustomers));
    read(tables_.orders().page_of(d, back));
    read(tables_.order_lines().page_of(d, (back + 1) * kLines - 1));
    read(tables_.order_lines().page_of(d, back * kLines));
}

/// Delivers the oldest order of each district that is not delivered. About as many orders come in, so its distance from
/// the last one stays the same.
void Transactions::delivery(std::uint32_t w) {
    constexpr std::uint32_t kBack = kUndelivered - 1;
    for (std::uint32_t d = w * kDistricts; d < (w + 1) * kDistricts; ++d) {
        change(tables_.new_orders().page_of(d, kBack));
        change(tables_.orders().page_of(d, kBack));
        for (std::uint32_t l = kLines; l-- > 0;) change(tables_.order_lines().page_of(d, kBack * kLines + l));
        change(tables_.customer(d, static_cast<std::uint32_t>(random_.below(kCustomers))));
    }
}

void Transactions::stock_level(std::uint32_t w, std::uint32_t d) {
    read(tables_.district(d));
    for (std::uint32_t l = kRecentItems; l-- > 0;) read(tables_.order_lines().page_of(d, l));
    for (std::uint32_t i = 0; i < kRecentItems; ++i)
        read(tables_.stock(w, recent_items_[std::size_t{d} * kRecentItems + i]));
}

}  // namespace ssdtlm::tpcc
