// SPDX-License-Identifier: Apache-2.0
// Makes a driver's register accesses at its TLM socket: 4 bytes, little-endian, address = offset in the device's BAR.
// It uses the short AT form of the base protocol.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>

#include "common/tlm/pooled_payload.h"
#include "common/tlm/tlm_guard.h"
#include "host_pcie/driver/mmio_port.h"

namespace ssdtlm {

class MmioInitiator final : public MmioPort, private tlm::tlm_bw_transport_if<> {
public:
    /// Binds the socket, which must outlive it.
    MmioInitiator(Agenda& agenda, tlm::tlm_initiator_socket<>& socket);

    /// Call it when the socket is bound, before the first access.
    void bound() { registers_ = door_.towards(socket_.operator->()); }
    void write32(std::uint32_t offset, std::uint32_t value) override;
    void read32(std::uint32_t offset, MmioClient& client) override;
    /// Drops all accesses under way without a call of their clients.
    void restart();
    void check_waiters(const std::string& where) const { door_.check_waiters(where); }

private:
    /// A register access with its data. Only the address differs between stores. The other attributes, which neither
    /// interconnect nor target may change, are set once, when the payload is made.
    struct Access : tlm::tlm_generic_payload {
        explicit Access(tlm::tlm_command command) {
            set_up(*this, command, 0, reinterpret_cast<unsigned char*>(&value), sizeof value);
        }
        void aim(std::uint32_t offset) {
            set_address(offset);
            set_dmi_allowed(false);
            set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        }
        std::uint32_t value = 0;
    };
    struct Store : Access {
        Store() : Access(tlm::TLM_WRITE_COMMAND) {}
    };
    struct Load : Access {
        Load() : Access(tlm::TLM_READ_COMMAND) {}
        MmioClient* client = nullptr;
    };

    bool send(tlm::tlm_generic_payload& access);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}  // it has no direct memory
    void store_done(Store& store);
    void load_done(Load& load);
    void load_done_at_once(std::uint64_t load);

    Agenda& agenda_;
    tlm::tlm_initiator_socket<>& socket_;
    InitiatorGuard<> door_;
    tlm::tlm_fw_transport_if<>* registers_ = nullptr;  // what the socket is bound to
    PooledPayloads<Store> stores_;
    PooledPayloads<Load> loads_;
};

}  // namespace ssdtlm
