// SPDX-License-Identifier: Apache-2.0
// A PCIe link between a root complex and one endpoint, at transaction level. It has two independent directions, MMIO
// from the host and DMA from the device. Serialisation, latency, credits and tags take time. Switches, link training,
// power states, errors and config space are not modelled.
#pragma once

#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/report/error.h"
#include "common/tlm/agenda.h"
#include "host_pcie/link/link_config.h"
#include "host_pcie/link/link_direction.h"
#include "host_pcie/link/link_path.h"

namespace ssdtlm {

/// Returns the problems of a configuration, except for the ranges of single values. `where`: the name of the section.
std::vector<Problem> check_link(const LinkConfig& config, const std::string& where);

/// All four sockets speak the TLM-2.0 base protocol. A call with an annotated delay takes effect at its time.
/// - An MMIO write is answered when the wire takes it (by TLM_COMPLETED at once if the wire is idle), and forwarded on
///   arrival.
/// - An MMIO read is answered when the completion has arrived.
/// - A DMA write is answered like an MMIO write if it is short or its payload carries LinkExtension; else on arrival.
///   All other traffic may pass a write that is `bulk` by its LinkExtension, until it is answered.
/// - A DMA read is answered when the last completion has arrived. The host memory is read once per burst of requests,
///   root_complex_latency after the first of them has arrived.
/// - Byte enables of DMA reach the far end, except for writes of up to 64 bytes. The answer to other byte enables is
///   TLM_BYTE_ENABLE_ERROR_RESPONSE. The wire carries all bytes. A part of a read that begins inside the pattern may
///   move bytes that are not enabled.
/// Far ends get payloads that the link owns. Their data pointer is the requester's, or points to a copy of up to 64
/// bytes.
class PcieLink : public sc_core::sc_module {
public:
    tlm::tlm_target_socket<> host_target;          ///< MMIO; address = offset in BAR0
    tlm::tlm_initiator_socket<> device_initiator;  ///< MMIO at the endpoint
    tlm::tlm_target_socket<> device_target;        ///< DMA; address = host physical address
    tlm::tlm_initiator_socket<> host_initiator;    ///< DMA at the root complex

    /// Throws UserError when check_link() finds problems.
    PcieLink(sc_core::sc_module_name name, Agenda& agenda, const LinkConfig& config);

    /// The direction from device to host, in its present state.
    const LinkDirection& upstream() const {
        wires_->up.catch_up();
        return wires_->up;
    }
    /// The direction from host to device, in its present state.
    const LinkDirection& downstream() const {
        wires_->down.catch_up();
        return wires_->down;
    }
    /// Sets the observers of both directions. Null: nobody observes that direction.
    void set_probes(LinkProbe* up, LinkProbe* down) {
        wires_->up.set_probe(up);
        wires_->down.set_probe(down);
    }
    const LinkPath& dma() const { return wires_->dma; }
    const LinkPath& mmio() const { return wires_->mmio; }
    /// Carries out a loss of the endpoint's power. All traffic under way is lost without an answer, even requests of
    /// the host. Counters continue. Precondition: the agenda has no entry of the link, and no thread is in b_transport.
    void restart();
    /// The state as text for the watchdog's report.
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    void end_of_elaboration() override {
        wires_->mmio.bound();
        wires_->dma.bound();
    }

    /// State that a restart resets. It is built again in the same place, because the sockets are bound to it.
    struct Wires {
        Wires(PcieLink& link, const LinkConfig& config);
        LinkDirection up;
        LinkDirection down;
        LinkPath mmio;
        LinkPath dma;
    };
    Agenda& agenda_;
    const LinkConfig config_;
    mutable std::optional<Wires> wires_;  // mutable, because a direction computes what has left when it is asked
};

}  // namespace ssdtlm
