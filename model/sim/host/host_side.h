// SPDX-License-Identifier: Apache-2.0
// What stands before a drive in a run, by the name of the drive's front end (frontend.kind): the host's driver, and how
// it is joined to the front end. A program with a front end of its own registers a host for it in the same way.
#pragma once

#include <cstddef>
#include <memory>
#include <systemc>
#include <utility>

#include "common/config/policy_registry.h"
#include "common/latency/command_tracker.h"
#include "common/report/error.h"
#include "common/tlm/agenda.h"
#include "host_pcie/driver/host_driver.h"
#include "host_pcie/link/pcie_link.h"
#include "sim/device/device.h"
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
    /// Where the objects of the host are whose entries of the agenda outlive a loss of power.
    virtual std::pair<const void*, std::size_t> bytes() const = 0;
    /// Between two entries of the agenda. Throws CheckFailed.
    virtual void check_waiters() const { driver.check_waiters(); }

protected:
    explicit HostSide(HostDriver& d) : driver(d) {}
    virtual sc_core::sc_module& module() = 0;
};

/// All that are linked into the program, by the name of the front end that they speak to. They have no parameters.
using HostSides = PolicyRegistry<HostSide, HostSetup>;

std::unique_ptr<HostSide> make_raw_side(const HostSetup& setup);

/// The host of config.front_end.kind. UserError when there is none.
std::unique_ptr<HostSide> make_host_side(const HostSetup& setup);

}  // namespace ssdtlm
