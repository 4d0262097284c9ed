// SPDX-License-Identifier: Apache-2.0
// The device's half of the netlist: a controller and its flash. It ends at the sockets of the controller's front end
// and knows nothing of the host:
//
//   -nvme().mmio_target->  SsdController --channel 0..n--> NandFlash
//   <-nvme().dma_initiator-
//
// A PcieLink or the host itself is bound to the two sockets. Other front ends (frontend.kind) have other sockets, which
// controller.front_end_as<...>() gives.
#pragma once

#include <functional>
#include <optional>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "controller/nvme/nvme_on_pcie.h"
#include "sim/device/nand_flash.h"
#include "sim/device/power_cut.h"
#include "sim/device/ssd_controller.h"

namespace ssdtlm {

class Device : public sc_core::sc_module {
public:
    /// Builds and preconditions a drive. `taps` must outlive it. `host`: see SsdController.
    Device(sc_core::sc_module_name name, Agenda& agenda, const DeviceConfig& config, const ContentsConfig& contents,
           SsdTaps& taps = SsdTaps::none(), FunctionalHost* host = nullptr);

    /// The front end of frontend.kind = "nvme". Throws CheckFailed when it is another one.
    NvmeOnPcie& nvme() const { return controller.front_end_as<NvmeOnPcie>(); }
    /// Resets the function of the NVMe controller, as a host asks for it by Initiate Function Level Reset in PCI's
    /// configuration space, which stands in front of the device. See NvmeOnPcie::function_level_reset(); throws
    /// CheckFailed when the front end is another one.
    void function_level_reset(std::function<void()> done) { nvme().function_level_reset(std::move(done)); }
    /// The supply fails. If capacitors protect the write buffer, they keep the controller running, without its host,
    /// until buffer and journal are in flash. Then `off` is called, in an entry of the agenda, and power_off() must
    /// follow. Without capacitors `off` is called at once. Agenda entries of the device's end of the link are dropped;
    /// entries of parts before it must be gone already.
    void supply_fails(std::function<void()> off);
    /// Carries out the loss of power. Everything that is not on the flash is lost, operations of the dies are torn, and
    /// all other parts are built again in their places. With a map on the flash the loss must have been announced
    /// (ContentsConfig::outlives_power). The agenda must hold no entry of the device any more. For `host_commands`, see
    /// SsdController::lose_power().
    void power_off(std::uint64_t host_commands);
    /// The power returns. The controller finds the map on the flash before it serves the host.
    void power_on();
    /// Sets a function that is called when the map was found again, before the host's first command.
    void set_on_rebuilt(std::function<void()> f) { on_rebuilt_ = std::move(f); }
    /// The losses of power, in order of time.
    const std::vector<PowerCut>& power_cuts() const { return power_cuts_; }

    NandFlash flash;
    SsdController controller;

private:
    void rebuilt();

    std::vector<PowerCut> power_cuts_;
    SimTime scan_began_{};
    std::optional<SimTime> on_capacitors_since_;
    std::function<void()> on_rebuilt_;
};

}  // namespace ssdtlm
