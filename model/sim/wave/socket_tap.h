// SPDX-License-Identifier: Apache-2.0
// A tap in the middle of a connection of sockets. It passes all calls on, and reports the two calls of the short AT
// protocol.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

namespace ssdtlm {

class SocketWatcher {
public:
    /// Called before the call is passed on. `tap`: the number from the tap's constructor.
    virtual void forward(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                         const sc_core::sc_time& delay) = 0;
    /// Called after the call was passed on.
    virtual void forwarded(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
        static_cast<void>(tap);
        static_cast<void>(payload);
        static_cast<void>(phase);
    }
    virtual void backward(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) = 0;

protected:
    ~SocketWatcher() = default;
};

/// `Types`: the protocol traits of the two sockets between which it stands.
template <class Types>
class SocketTap final : public sc_core::sc_module,
                        private tlm::tlm_fw_transport_if<Types>,
                        private tlm::tlm_bw_transport_if<Types> {
public:
    SocketTap(const sc_core::sc_module_name& name, SocketWatcher& watcher, std::uint32_t tap)
        : sc_module(name), target("target"), initiator("initiator"), watcher_(watcher), tap_(tap) {
        target.bind(static_cast<tlm::tlm_fw_transport_if<Types>&>(*this));
        initiator.bind(static_cast<tlm::tlm_bw_transport_if<Types>&>(*this));
    }

    tlm::tlm_target_socket<32, Types> target;
    tlm::tlm_initiator_socket<32, Types> initiator;

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        watcher_.forward(tap_, payload, phase, delay);
        const tlm::tlm_phase given = phase;
        const tlm::tlm_sync_enum answer = initiator->nb_transport_fw(payload, phase, delay);
        watcher_.forwarded(tap_, payload, given);
        return answer;
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        watcher_.backward(tap_, payload, phase);
        return target->nb_transport_bw(payload, phase, delay);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        initiator->b_transport(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return initiator->transport_dbg(payload); }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        return initiator->get_direct_mem_ptr(payload, dmi);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
        target->invalidate_direct_mem_ptr(first, last);
    }

    SocketWatcher& watcher_;
    const std::uint32_t tap_;
};

}  // namespace ssdtlm
