// SPDX-License-Identifier: Apache-2.0
// The host of a drive in a run: its driver, and its connection to the drive's front end. It is chosen by the name of
// the front end (frontend.kind). A program with a front end of its own registers a host for it in the same way.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "common/latency/command_tracker.h"
#include "common/report/error.h"
#include "common/tlm/agenda.h"
#include "host_pcie/driver/host_driver.h"
#include "host_pcie/link/pcie_link.h"
#include "sim/device/device.h"
#include "sim/host/host_sides.h"
#include "sim/limits/verdict.h"
#include "sim/results/counters.h"
#include "sim/sim_config.h"
#include "sim/taps.h"

namespace ssdtlm {

/// Arguments for making a host. Everything that it refers to outlives the host.
struct HostSetup {
    Agenda& agenda;
    const SsdConfig& config;
    Workload& workload;
    Device& device;
    PcieLink& link;  ///< the host must bind all four sockets; UnusedLink binds unused ones
    SsdTaps& taps;
    IntegrityOracle* oracle;       ///< null: reads are not checked
    CompletionObserver* observer;  ///< null: nobody observes
};

class HostSide {
public:
    HostSide(const HostSide&) = delete;
    HostSide& operator=(const HostSide&) = delete;
    virtual ~HostSide() = default;

    HostDriver& driver;

    /// Returns the module behind it by its type, such as Host or RawDriver. Panics when it has another type.
    template <class T>
    T& module_as() {
        T* const it = dynamic_cast<T*>(&module());
        SSDTLM_CHECK(it != nullptr, "the host of this front end is another module");
        return *it;
    }
    /// The memory of objects whose agenda entries survive a loss of power of the drive.
    using Bytes = std::pair<const void*, std::size_t>;
    virtual std::vector<Bytes> survivors() const = 0;
    /// Drops all that is on its way between host and drive, with its agenda entries, because the drive's supply has
    /// failed. This default does so for the PCIe link, which ends at the drive.
    virtual void cut_way(Agenda& agenda, PcieLink& link);
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    virtual void check_waiters() const { driver.check_waiters(); }

    // --- What the host has between the PCIe link and the drive, beside its driver ---

    /// A resource between link and drive, and the time for which it was in use since the start of the simulation.
    struct Resource {
        const char* name;
        Ps busy;
    };
    virtual std::vector<Resource> resources() const { return {}; }
    /// Counters of the host's own traffic, for the results.
    virtual Counters figures() const;
    /// The bound on the number of commands in a queue.
    virtual Bound queue_slots(const SsdConfig& config) const;
    /// The state for a report of the watchdog, one fact a line.
    virtual std::string dump() const { return {}; }

protected:
    explicit HostSide(HostDriver& d) : driver(d) {}
    virtual sc_core::sc_module& module() = 0;

public:
    // --- For a host whose driver does not know all commands ---

    /// Number of commands whose end has reached the host, counted as the drive counts them.
    virtual std::uint64_t carried_out() const { return driver.counters().commands_completed; }
    /// True: the driver counts all commands that the drive gets.
    virtual bool knows_all() const { return true; }
};

/// Makes a host that replaces the one with the front end's name.
using HostMaker = std::function<std::unique_ptr<HostSide>(const HostSetup&)>;

std::unique_ptr<HostSide> make_raw_side(const HostSetup& setup);

/// Makes the host for config.front_end.kind. Throws UserError when there is none.
std::unique_ptr<HostSide> make_host_side(const HostSetup& setup);

}  // namespace ssdtlm
