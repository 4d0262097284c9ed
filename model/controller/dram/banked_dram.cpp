// SPDX-License-Identifier: Apache-2.0
#include "controller/dram/banked_dram.h"

#include <algorithm>
#include <memory>

#include "common/config/quantity.h"
#include "common/report/error.h"
#include "controller/dram/dram_models.h"

namespace ssdtlm {

namespace {
constexpr Ps kLeastBetweenRefreshes{100'000};  // assumed: what has less moves hardly any data
}

BankedDram::BankedDram(Agenda& agenda, const DramConfig& config, const Chips& chips)
    : DramPort(agenda),
      rate_(Rate::bytes_per_second(config.bytes_per_second)),
      latency_(config.access_latency),
      chips_(chips),
      banks_(chips.banks) {
    const Ps least = chips.t_rfc + chips.t_rp + chips.t_rcd + chips.t_cl;
    if (chips.t_refi != Ps{0} && chips.t_refi < least + kLeastBetweenRefreshes)
        throw UserError(Problem{
            "dram.banks.t_refi",
            format_quantity(chips.t_refi.count(), Dimension::time) + " leaves no time between a refresh and the next",
            "0 (no refresh), or at least " +
                format_quantity((least + kLeastBetweenRefreshes).count(), Dimension::time) +
                ": t_rfc + t_rp + t_rcd + t_cl and 100 ns",
            "raise it, or lower t_rfc"});
}

SimTime BankedDram::begin(const DramPiece* pieces, std::uint32_t count, const Then&) {
    const SimTime start = std::max(bus_free_, agenda_.now());
    for (const DramPiece* p = pieces; p != pieces + count; ++p)
        for (std::uint32_t pass = 0; pass < p->passes; ++pass) {
            std::uint64_t at = p->address;
            for (const std::uint64_t end = at + p->bytes; at != end;) {
                const std::uint64_t row_end = (at / chips_.row_bytes + 1) * chips_.row_bytes;
                at += transfer(at, static_cast<std::uint32_t>(std::min(end, row_end) - at));
            }
        }
    busy_ += bus_free_ - start;
    return bus_free_ + latency_;
}

SimTime BankedDram::next_refresh(SimTime t) const {
    if (chips_.t_refi == Ps{0}) return kNever;
    return SimTime{(t.time_since_epoch() / chips_.t_refi + 1) * chips_.t_refi};
}

/// Opens the row in its bank, if it is not open; returns when its data begin. The bank gets its first command so early
/// that they follow the data before them, if it can.
SimTime BankedDram::open(Bank& bank, std::uint64_t row) {
    Ps before_data = chips_.t_cl;
    SimTime start = agenda_.now();
    if (bank.row != row) {
        before_data += chips_.t_rcd;
        if (bank.row != kNoRow) {
            before_data += chips_.t_rp;
            start = std::max(start, bank.data_end);
        }
    }
    start = std::max(start, bus_free_ - before_data);
    const bool is_open = bank.row != kNoRow && start + before_data < bank.refresh;
    if (is_open) {
        ++(bank.row == row ? counters_.hits : counters_.conflicts);
        return start + before_data;
    }
    // A refresh leaves no row open, and lets nothing begin that could not move any data before it.
    ++counters_.opened;
    before_data = chips_.t_rcd + chips_.t_cl;
    start = std::max(agenda_.now(), bus_free_ - before_data);
    if (bank.row != kNoRow) start = std::max(start, bank.refresh);
    if (chips_.t_refi != Ps{0}) {
        if (start + before_data >= next_refresh(start)) start = next_refresh(start);
        const SimTime refreshed = next_refresh(start) - chips_.t_refi;
        if (refreshed != SimTime{}) start = std::max(start, refreshed + chips_.t_rfc);
    }
    bank.refresh = next_refresh(start);
    return start + before_data;
}

/// Transfers bytes of one row, as many as go before the next refresh, and returns how many.
std::uint32_t BankedDram::transfer(std::uint64_t address, std::uint32_t bytes) {
    const std::uint64_t row = address / chips_.row_bytes;
    Bank& bank = banks_[row % chips_.banks];
    const SimTime data = open(bank, row);
    bus_free_ = data + rate_.time_for(bytes);
    if (bus_free_ > bank.refresh) {
        const auto left = static_cast<std::uint64_t>((bank.refresh - data).count());
        bytes = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(left * rate_.bytes_part() / rate_.ps_part()));
        bus_free_ = data + rate_.time_for(bytes);
    }
    bank.row = row;
    bank.data_end = bus_free_;
    return bytes;
}

namespace {

constexpr std::int64_t ns(double t) {
    return static_cast<std::int64_t>(t * 1000);
}

const DramModels::Registered kBankedDram{
    {"banks",
     "banks with open rows and refresh behind one data bus",
     {policy_integer("banks", 16).range("1", "256").says("Banks").from("DDR4 (JESD79-4): 16 with chips of 4 or 8 bits"),
      policy_quantity("row_size", Dimension::bytes, 8192)
          .range("512B", "64KiB")
          .says("Bytes of one row of a bank, over all chips")
          .from("DDR4 (JESD79-4): 1 KiB in each of 8 chips of 8 bits"),
      policy_quantity("t_rcd", Dimension::time, ns(13.75))
          .range("0s", "1us")
          .says("From a row's activation to its first command")
          .from("DDR4-3200AA (JESD79-4)"),
      policy_quantity("t_cl", Dimension::time, ns(13.75))
          .range("0s", "1us")
          .says("From a command to its data")
          .from("DDR4-3200AA (JESD79-4)"),
      policy_quantity("t_rp", Dimension::time, ns(13.75))
          .range("0s", "1us")
          .says("Precharge, before another row can be activated")
          .from("DDR4-3200AA (JESD79-4)"),
      policy_quantity("t_refi", Dimension::time, ns(7800))
          .range("0s", "1ms")
          .says("Between two refreshes of all banks; 0: none")
          .from("DDR4 up to 85 degrees (JESD79-4)"),
      policy_quantity("t_rfc", Dimension::time, ns(350))
          .range("0s", "10us")
          .says("A refresh: no bank can be used")
          .from("DDR4 chips of 8 Gbit (JESD79-4)")},
     [](const DramSetup& s, const PolicySettings& p) {
         const auto time = [&p](const char* name) { return Ps{p.number(name)}; };
         return std::make_unique<BankedDram>(
             s.agenda, s.config,
             BankedDram::Chips{static_cast<std::uint32_t>(p.number("banks")),
                               static_cast<std::uint32_t>(p.number("row_size")), time("t_rcd"), time("t_cl"),
                               time("t_rp"), time("t_refi"), time("t_rfc")});
     }}};

}  // namespace

}  // namespace ssdtlm
