// SPDX-License-Identifier: Apache-2.0
// The controller's DRAM as banks of rows behind one data bus. Accesses go over the bus in the order in which they were
// asked for; a bank opens the row that it will need next while others have the bus. An open row stays open until
// another of its bank is needed (tRP + tRCD + tCL), or until a refresh, which takes all banks for tRFC every tREFI:
// what is not over the bus by then goes on after it.
//
// Not modelled: reordering, the command bus, read/write turnaround, bank groups, tRAS, tFAW; write recovery is taken to
// be hidden.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/tlm/agenda.h"
#include "common/units/units.h"
#include "controller/dram/dram_config.h"
#include "controller/ports/dram_port.h"

namespace ssdtlm {

class BankedDram final : public DramPort {
public:
    struct Chips {
        std::uint32_t banks = 16;
        std::uint32_t row_bytes = 8192;
        Ps t_rcd{}, t_cl{}, t_rp{};
        Ps t_refi{};  ///< 0: no refresh
        Ps t_rfc{};
    };
    /// `agenda` must outlive it.
    BankedDram(Agenda& agenda, const DramConfig& config, const Chips& chips);

    using DramPort::begin;
    SimTime begin(const DramPiece* pieces, std::uint32_t count, const Then& then) override;
    bool idle(SimTime now) const override { return bus_free_ == SimTime{} || bus_free_ + latency_ <= now; }
    Ps busy() const override { return busy_; }

    struct Counters {
        std::uint64_t hits = 0;       ///< stretches of a row that was open
        std::uint64_t opened = 0;     ///< whose bank had no row open
        std::uint64_t conflicts = 0;  ///< whose bank had another row open
    };
    const Counters& counters() const { return counters_; }

private:
    static constexpr std::uint64_t kNoRow = ~std::uint64_t{0};
    struct Bank {
        std::uint64_t row = kNoRow;
        SimTime data_end{};  ///< of the last data of its open row
        SimTime refresh{};   ///< that closes it
    };
    std::uint32_t transfer(std::uint64_t address, std::uint32_t bytes);
    SimTime open(Bank& bank, std::uint64_t row);
    SimTime next_refresh(SimTime t) const;

    const Rate rate_;
    const Ps latency_;
    const Chips chips_;
    std::vector<Bank> banks_;
    SimTime bus_free_{};
    Ps busy_{};
    Counters counters_;
};

}  // namespace ssdtlm
