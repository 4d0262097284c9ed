// SPDX-License-Identifier: Apache-2.0
// Places in the netlist where an observer can stand. A run without observers has nothing there and pays nothing.
#pragma once

#include <cstdint>

#include <tlm>

#include "controller/ports/flash.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm {

/// Each function is called once while the netlist is built. What stands in between must pass everything on unchanged, at
/// once, and in order.
class SsdTaps {
public:
    /// What the firmware is to use instead of the back end; may be the back end itself.
    virtual FlashPort& flash(FlashPort& backend) = 0;
    /// Joins the driver to the link.
    virtual void join_mmio(tlm::tlm_initiator_socket<>& driver, tlm::tlm_target_socket<>& link) = 0;
    /// Joins the DMA engine to the link.
    virtual void join_dma(tlm::tlm_initiator_socket<>& engine, tlm::tlm_target_socket<>& link) = 0;
    /// Joins a channel controller to its bus.
    virtual void join_onfi(std::uint32_t channel, OnfiInitiatorSocket& controller, OnfiTargetSocket& bus) = 0;

protected:
    ~SsdTaps() = default;
};

}  // namespace ssdtlm
