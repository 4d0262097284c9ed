// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/mmio_initiator.h"

#include "common/report/error.h"

namespace ssdtlm {

MmioInitiator::MmioInitiator(Agenda& agenda, tlm::tlm_initiator_socket<>& socket)
    : agenda_(agenda), socket_(socket), door_(agenda, *this) {
    socket.bind(door_);
}

void MmioInitiator::restart() {
    door_.restart();
    stores_.take_all_back();
    loads_.take_all_back();
}

inline void MmioInitiator::store_done(Store& store) {
    SSDTLM_CHECK(store.is_response_ok(), "register access failed");
    stores_.release(store);
}

void MmioInitiator::load_done(Load& load) {
    SSDTLM_CHECK(load.is_response_ok(), "register access failed");
    // The payload is released last, because the client may begin an access that must not reuse it.
    load.client->mmio_read_done(load.value);
    loads_.release(load);
}

/// Sends an access. Returns true if the target has answered at once.
inline bool MmioInitiator::send(tlm::tlm_generic_payload& access) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    return registers_->nb_transport_fw(access, phase, delay) == tlm::TLM_COMPLETED;
}

void MmioInitiator::write32(std::uint32_t offset, std::uint32_t value) {
    Store& store = stores_.acquire();
    store.value = value;
    store.aim(offset);
    if (send(store)) store_done(store);
}

void MmioInitiator::read32(std::uint32_t offset, MmioClient& client) {
    Load& load = loads_.acquire();
    load.value = 0;
    load.client = &client;
    load.aim(offset);
    // If the target answers at once, the client still gets the value in an event of its own.
    if (send(load))
        agenda_.post(agenda_.now(), Then::to<&MmioInitiator::load_done_at_once>(this, loads_.handle_of(load).number()));
}

tlm::tlm_sync_enum MmioInitiator::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    if (payload.is_write())
        store_done(static_cast<Store&>(payload));
    else
        load_done(static_cast<Load&>(payload));
    return tlm::TLM_COMPLETED;
}

void MmioInitiator::load_done_at_once(std::uint64_t number) {
    if (Load* const load = loads_.find(number)) load_done(*load);  // else the power was lost meanwhile
}

}  // namespace ssdtlm
