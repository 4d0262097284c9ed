// SPDX-License-Identifier: Apache-2.0
// Places in the netlist where observers can be inserted. A run without observers has none, and pays nothing.
#pragma once

#include <cstdint>
#include <tlm>

#include "controller/ports/flash.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm {

/// Each function is called once while the netlist is built. An observer must pass everything on unchanged, at once, and
/// in order. The functions of this class insert no observer.
class SsdTaps {
public:
    /// Returns the port that the firmware uses in place of the back end. It may be the back end itself.
    virtual FlashPort& flash(FlashPort& backend) { return backend; }
    /// Joins the host's driver to the PCIe link, which goes to the controller, or to the host adapter of a Serial ATA
    /// drive.
    virtual void join_mmio(tlm::tlm_initiator_socket<>& host, tlm::tlm_target_socket<>& link) { host.bind(link); }
    /// Joins the device, or the host adapter, to the PCIe link.
    virtual void join_dma(tlm::tlm_initiator_socket<>& device, tlm::tlm_target_socket<>& link) { device.bind(link); }
    /// Joins a channel controller to its bus.
    virtual void join_onfi(std::uint32_t channel, OnfiInitiatorSocket& controller, OnfiTargetSocket& bus);

    /// The taps of a run without observers.
    static SsdTaps& none();

protected:
    ~SsdTaps() = default;
};

/// Gets notice of losses of power. Work under way ends then, and the observed organs are built again.
class PowerWatcher {
public:
    /// The supply has failed. Everything on the link is lost.
    virtual void supply_fails() = 0;
    /// The drive has lost its power, at once or when its capacitors were used. Nothing is under way. The organs still
    /// exist.
    virtual void power_lost() = 0;
    /// The organs of the drive were built again in their places.
    virtual void built_again() = 0;
    /// The drive has power again, and searches for its map.
    virtual void power_back() = 0;

protected:
    ~PowerWatcher() = default;
};

inline void SsdTaps::join_onfi(std::uint32_t, OnfiInitiatorSocket& controller, OnfiTargetSocket& bus) {
    controller.bind(bus);
}

inline SsdTaps& SsdTaps::none() {
    struct None final : SsdTaps {};
    static None none;
    return none;
}

}  // namespace ssdtlm
