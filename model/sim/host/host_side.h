// SPDX-License-Identifier: Apache-2.0
// The host of a drive in a run, by the name of the drive's front end (frontend.kind): the host's driver, and its
// connection to the front end. A program with its own front end registers a host for it in the same way.
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
    PcieLink& link;  ///< all four of its sockets are to be bound; UnusedLink does it for a host without a link
    SsdTaps& taps;
    IntegrityOracle* oracle;       ///< null: nobody checks what is read
    CompletionObserver* observer;  ///< null: nobody watches
};

class HostSide {
public:
    HostSide(const HostSide&) = delete;
    HostSide& operator=(const HostSide&) = delete;
    virtual ~HostSide() = default;

    HostDriver& driver;

    /// The module of this type behind it, a Host or a RawDriver. Panics when it is another one.
    template <class T>
    T& module_as() {
        T* const it = dynamic_cast<T*>(&module());
        SSDTLM_CHECK(it != nullptr, "the host of this front end is another module");
        return *it;
    }
    /// Objects whose agenda entries outlive a loss of power of the drive.
    using Bytes = std::pair<const void*, std::size_t>;
    virtual std::vector<Bytes> survivors() const = 0;
    /// The drive's supply fails: what is on its way between host and drive is gone, and so are its agenda entries. This
    /// default does so for everything on the PCIe link, which ends at the drive.
    virtual void cut_way(Agenda& agenda, PcieLink& link);
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    virtual void check_waiters() const { driver.check_waiters(); }

    // --- What the host has between the PCIe link and the drive, beside its driver ---

    /// The time that something there was in use, since the start of the simulation.
    struct Resource {
        const char* name;
        Ps busy;
    };
    virtual std::vector<Resource> resources() const { return {}; }
    /// Counters of the host's own traffic, for the results.
    virtual Counters figures() const;
    /// What sets how many commands a queue has at a time.
    virtual Bound queue_slots(const SsdConfig& config) const;
    /// Text for the watchdog, one fact per line.
    virtual std::string dump() const { return {}; }

protected:
    explicit HostSide(HostDriver& d) : driver(d) {}
    virtual sc_core::sc_module& module() = 0;

public:
    // --- For a host whose driver does not know all commands ---

    /// Commands whose end has reached the host, as the drive counts them, too.
    virtual std::uint64_t carried_out() const { return driver.counters().commands_completed; }
    /// True: the driver counts everything that the drive has been told.
    virtual bool knows_all() const { return true; }
};

/// Makes another host than that of the front end's name.
using HostMaker = std::function<std::unique_ptr<HostSide>(const HostSetup&)>;

std::unique_ptr<HostSide> make_raw_side(const HostSetup& setup);

/// Makes the host of config.front_end.kind. Throws UserError when there is none.
std::unique_ptr<HostSide> make_host_side(const HostSetup& setup);

}  // namespace ssdtlm
