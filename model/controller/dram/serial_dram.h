// SPDX-License-Identifier: Apache-2.0
// The controller's DRAM as one serial port, first come first served, plus a pipelined access latency.
// A first-come-first-served server with known service times can be reserved at arrival without reordering
// anything, so one access is one call. Not modelled: banks, rows, refresh, read/write turnaround.
#pragma once

#include <algorithm>

#include "common/units/units.h"
#include "controller/dram/dram_config.h"
#include "controller/ports/dram_port.h"

namespace ssdtlm {

class SerialDram final : public DramPort {
public:
    explicit SerialDram(const DramConfig& config)
        : rate_(Rate::bytes_per_second(config.bytes_per_second)), latency_(config.access_latency) {}

    /// Reserves the port for `bytes` from `now`; returns when the last byte has been accessed.
    SimTime access(SimTime now, std::uint64_t bytes) override {
        const Ps service = rate_.time_for(bytes);
        free_at_ = std::max(free_at_, now) + service;
        busy_ += service;
        bytes_ += bytes;
        return free_at_ + latency_;
    }
    Ps busy() const { return busy_; }
    std::uint64_t bytes() const { return bytes_; }
    /// End of the last access so far.
    SimTime free_at() const { return free_at_; }

private:
    Rate rate_;
    Ps latency_;
    SimTime free_at_{};
    Ps busy_{};
    std::uint64_t bytes_ = 0;
};

}  // namespace ssdtlm
