// SPDX-License-Identifier: Apache-2.0
// The controller's DRAM as one serial port, first come first served, plus a pipelined access latency.
// A first-come-first-served server with known service times can be reserved at arrival without reordering
// anything. Not modelled: banks, rows, refresh (BankedDram has them), read/write turnaround.
#pragma once

#include <algorithm>

#include "common/tlm/agenda.h"
#include "common/units/units.h"
#include "controller/dram/dram_config.h"
#include "controller/ports/dram_port.h"

namespace ssdtlm {

class SerialDram final : public DramPort {
public:
    /// `agenda` must outlive it.
    SerialDram(Agenda& agenda, const DramConfig& config)
        : DramPort(agenda), rate_(Rate::bytes_per_second(config.bytes_per_second)), latency_(config.access_latency) {}

    using DramPort::begin;
    SimTime begin(const DramPiece* pieces, std::uint32_t count, const Then& then) override;
    bool idle(SimTime now) const override { return free_at_ == SimTime{} || free_at_ + latency_ <= now; }
    Ps busy() const override { return busy_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    Rate rate_;
    Ps latency_;
    SimTime free_at_{};
    Ps busy_{};
    std::uint64_t bytes_ = 0;
};

}  // namespace ssdtlm
