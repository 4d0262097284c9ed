// SPDX-License-Identifier: Apache-2.0
// What stands before a drive in a run, by the name of the drive's front end (frontend.kind): the host's driver, and how
// it is joined to the front end. A program with a front end of its own registers a host for it in the same way.
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
#include "sim/results/counters.h"
#include "sim/sim_config.h"
#include "sim/taps.h"

namespace ssdtlm {

/// What a host is made of. All that is referred to outlives it.
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

    /// The module behind it, a Host or a RawDriver. CheckFailed when it is another.
    template <class T>
    T& module_as() {
        T* const it = dynamic_cast<T*>(&module());
        SSDTLM_CHECK(it != nullptr, "the host of this front end is another module");
        return *it;
    }
    /// Objects whose entries of the agenda outlive a loss of power of the drive.
    using Bytes = std::pair<const void*, std::size_t>;
    virtual std::vector<Bytes> survivors() const = 0;
    /// The drive's supply fails: what is on its way between the two is gone, and so are its entries of the agenda. As
    /// it stands here, that is all that is on the PCIe link, which ends at the drive.
    virtual void cut_way(Agenda& agenda, PcieLink& link);
    /// Between two entries of the agenda. Throws CheckFailed.
    virtual void check_waiters() const { driver.check_waiters(); }

    // --- What it has between the PCIe link and the drive, beside its driver ---

    /// Time that something there was in use, since the start of the simulation.
    struct Resource {
        const char* name;
        Ps busy;
    };
    virtual std::vector<Resource> resources() const { return {}; }
    /// Of the host's own traffic, for the counters of a result.
    virtual Counters figures() const;
    /// The parameter that sets how many commands a queue has at a time.
    virtual std::string queue_slots(const SsdConfig& config) const;
    /// State for the watchdog, one fact per line.
    virtual std::string dump() const { return {}; }

protected:
    explicit HostSide(HostDriver& d) : driver(d) {}
    virtual sc_core::sc_module& module() = 0;

public:
    // --- Of a host whose commands are not all known to its driver ---

    /// Those that the drive counts, too, and whose end has reached the host.
    virtual std::uint64_t carried_out() const { return driver.counters().commands_completed; }
    /// What the driver counts is all that the drive has been told.
    virtual bool knows_all() const { return true; }
};

/// Makes another host than that of the front end's name.
using HostMaker = std::function<std::unique_ptr<HostSide>(const HostSetup&)>;

std::unique_ptr<HostSide> make_raw_side(const HostSetup& setup);

/// The host of config.front_end.kind. UserError when there is none.
std::unique_ptr<HostSide> make_host_side(const HostSetup& setup);

}  // namespace ssdtlm
