// SPDX-License-Identifier: Apache-2.0
// The embedded cores: each is a serial resource, first come first served. A step's cost is known when it
// arrives, so reserving it at arrival keeps the order and costs one event, the end of the step.
#pragma once

#include <algorithm>
#include <vector>

#include "common/latency/occupancy.h"
#include "common/units/units.h"
#include "controller/cpu/core_probe.h"
#include "controller/ports/core_port.h"
#include "controller/ports/firmware_config.h"

namespace ssdtlm {

class CorePool final : public CorePort {
public:
    CorePool(Agenda& agenda, const FirmwareConfig& config)
        : CorePort(agenda), clock_(Clock::hertz(config.clock_hz)), size_(config.cores), cores_(config.cores) {}

    std::uint32_t size() const { return size_; }
    Slot reserve(std::uint64_t number, std::uint64_t cycles, CoreStep step, std::uint64_t command,
                 Ps waits = {}) override {
        const SimTime now = agenda_.now();
        if (cycles == 0) return {now, now};
        const std::uint32_t core = size_ == 1 ? 0 : static_cast<std::uint32_t>(number % size_);
        Core& c = cores_[core];
        const SimTime start = std::max(c.free_at, now);
        const Ps cost = clock_.cycles(cycles) + waits;
        c.free_at = start + cost;
        c.busy += cost;
        if (log_ != nullptr) log_[core].add({start, c.free_at, 0, command, static_cast<std::uint8_t>(step)});
        if (__builtin_expect(probe_ != nullptr, 0)) probe_->on_step(core, step, command, start, c.free_at);
        return {start, c.free_at};
    }
    Ps busy(std::uint32_t core) const { return cores_[core].busy; }
    /// Busy time up to `now`: work that the core does after `now` is not counted.
    Ps busy_until(std::uint32_t core, SimTime now) const {
        return cores_[core].busy - std::max(Ps{}, cores_[core].free_at - now);
    }
    /// End of the core's last step so far.
    SimTime free_at(std::uint32_t core) const { return cores_[core].free_at; }
    void set_probe(CoreProbe* probe) { probe_ = probe; }
    /// From now on the work of the cores is kept in a log.
    void record(Occupancy& log) { log_ = &log.core(0); }

private:
    struct Core {
        SimTime free_at{};
        Ps busy{};
    };
    Clock clock_;
    const std::uint32_t size_;
    std::vector<Core> cores_;
    CoreProbe* probe_ = nullptr;
    OccupancyLog* log_ = nullptr;  // of core 0; null: nobody wants to know
};

}  // namespace ssdtlm
