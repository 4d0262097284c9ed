// SPDX-License-Identifier: Apache-2.0
#include "controller/dram/banked_dram.h"

#include <algorithm>
#include <memory>

#include "controller/dram/dram_models.h"

namespace ssdtlm {

BankedDram::BankedDram(Agenda& agenda, const DramConfig& config, const Chips& chips)
    : agenda_(agenda),
      rate_(Rate::bytes_per_second(config.bytes_per_second)),
      latency_(config.access_latency),
      chips_(chips),
      banks_(chips.banks) {}

void BankedDram::access(const DramPiece* pieces, std::uint32_t count, DramClient& client, std::uint64_t cookie) {
    const SimTime begin = std::max(bus_free_, agenda_.now());
    for (const DramPiece* p = pieces; p != pieces + count; ++p)
        for (std::uint32_t pass = 0; pass < p->passes; ++pass) {
            std::uint64_t at = p->address;
            for (const std::uint64_t end = at + p->bytes; at != end;) {
                const std::uint64_t row_end = (at / chips_.row_bytes + 1) * chips_.row_bytes;
                const auto bytes = static_cast<std::uint32_t>(std::min(end, row_end) - at);
                transfer(at, bytes);
                at += bytes;
            }
        }
    busy_ += bus_free_ - begin;
    agenda_.post<&DramClient::dram_done>(bus_free_ + latency_, &client, cookie);
}

/// When a bank that would be given its first command at `start` can take it. A refresh leaves no row open.
SimTime BankedDram::refresh(Bank& bank, SimTime start) {
    if (chips_.t_refi == Ps{0}) return start;
    const std::int64_t due = start.time_since_epoch() / chips_.t_refi;
    if (due == bank.refreshes) return start;
    bank.refreshes = due;
    bank.row = kNoRow;
    return std::max(start, SimTime{due * chips_.t_refi + chips_.t_rfc});
}

// Of one row. Its bank gets its first command so early that the data follow those before them, if it can.
void BankedDram::transfer(std::uint64_t address, std::uint32_t bytes) {
    const std::uint64_t row = address / chips_.row_bytes;
    Bank& bank = banks_[row % chips_.banks];
    const SimTime now = agenda_.now();
    Ps before_data = chips_.t_cl;
    SimTime start = now;
    if (bank.row != row) {
        before_data += chips_.t_rcd;
        if (bank.row != kNoRow) {
            before_data += chips_.t_rp;
            start = std::max(start, bank.data_end);
        }
    }
    start = std::max(start, bus_free_ - before_data);
    const SimTime refreshed = refresh(bank, start);
    if (bank.row == kNoRow) {
        before_data = chips_.t_rcd + chips_.t_cl;
        start = std::max({refreshed, now, bus_free_ - before_data});
        ++counters_.opened;
    } else {
        ++(bank.row == row ? counters_.hits : counters_.conflicts);
    }
    bus_free_ = start + before_data + rate_.time_for(bytes);
    bank.row = row;
    bank.data_end = bus_free_;
}

namespace {

constexpr std::int64_t ns(double t) { return static_cast<std::int64_t>(t * 1000); }

const DramModels::Registered kBankedDram{{
    "banks",
    "banks with open rows and refresh behind one data bus",
    {policy_integer("banks", 16).range("1", "256").says("Banks").from("DDR4 (JESD79-4): 16 with chips of 4 or 8 bits"),
     policy_quantity("row_size", Dimension::bytes, 8192)
         .range("512B", "64KiB")
         .says("Bytes of one row of a bank, over all chips")
         .from("DDR4 (JESD79-4): 1 KiB in each of 8 chips of 8 bits"),
     policy_quantity("t_rcd", Dimension::time, ns(13.75)).range("0s", "1us").says("From a row's activation to its first command").from(
         "DDR4-3200AA (JESD79-4)"),
     policy_quantity("t_cl", Dimension::time, ns(13.75)).range("0s", "1us").says("From a command to its data").from("DDR4-3200AA (JESD79-4)"),
     policy_quantity("t_rp", Dimension::time, ns(13.75)).range("0s", "1us").says("Precharge, before another row can be activated").from(
         "DDR4-3200AA (JESD79-4)"),
     policy_quantity("t_refi", Dimension::time, ns(7800)).range("0s", "1ms").says("Between two refreshes of all banks; 0: none").from(
         "DDR4 up to 85 degrees (JESD79-4)"),
     policy_quantity("t_rfc", Dimension::time, ns(350)).range("0s", "10us").says("A refresh: no bank can be used").from(
         "DDR4 chips of 8 Gbit (JESD79-4)")},
    [](const DramSetup& s, const PolicySettings& p) {
        const auto time = [&p](const char* name) { return Ps{p.number(name)}; };
        return std::make_unique<BankedDram>(s.agenda, s.config,
                                            BankedDram::Chips{static_cast<std::uint32_t>(p.number("banks")),
                                                              static_cast<std::uint32_t>(p.number("row_size")), time("t_rcd"),
                                                              time("t_cl"), time("t_rp"), time("t_refi"), time("t_rfc")});
    }}};

}  // namespace

}  // namespace ssdtlm
