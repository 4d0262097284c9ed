// SPDX-License-Identifier: Apache-2.0
// Partners for the sockets of an unused PcieLink, because SystemC refuses sockets that are not bound.
#pragma once

#include <systemc>
#include <tlm>

#include "common/report/error.h"
#include "host_pcie/link/pcie_link.h"

namespace ssdtlm {

class UnusedLink : public sc_core::sc_module, private tlm::tlm_fw_transport_if<>, private tlm::tlm_bw_transport_if<> {
public:
    UnusedLink(sc_core::sc_module_name name, PcieLink& link) : sc_module(name) {
        to_host_.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
        to_device_.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
        of_host_.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
        of_device_.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
        to_host_.bind(link.host_target);
        to_device_.bind(link.device_target);
        link.host_initiator.bind(of_host_);
        link.device_initiator.bind(of_device_);
    }

private:
    [[noreturn]] static void refuse() { throw CheckFailed("a transaction on a link that is not used"); }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
        refuse();
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
        refuse();
    }
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override { refuse(); }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    tlm::tlm_initiator_socket<> to_host_{"to_host"}, to_device_{"to_device"};
    tlm::tlm_target_socket<> of_host_{"of_host"}, of_device_{"of_device"};
};

}  // namespace ssdtlm
