// SPDX-License-Identifier: Apache-2.0
// A user's flash in place of one channel's bus and packages: every operation of every die takes the same time, from its
// last command cycle on (tWB is part of it). What pages hold is kept in the model's SpareArea, as NandPackage does: it
// stands for the data and is what the integrity check and garbage collection read.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <systemc>

#include "common/tlm/agenda.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm::examples {

class ConstantFlash : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<ConstantFlash, 32, OnfiProtocol> controller_target;

    /// `contents` is shared by all channels and was filled by preconditioning.
    ConstantFlash(sc_core::sc_module_name name, Agenda& agenda, Ps busy, std::uint32_t channel, SpareArea& contents)
        : sc_module(name),
          controller_target("controller_target"),
          agenda_(agenda),
          busy_(busy),
          channel_(channel),
          contents_(contents) {
        controller_target.register_nb_transport_fw(this, &ConstantFlash::forward);
    }

private:
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
        const auto& onfi = *payload.get_extension<OnfiExtension>();
        if (onfi.op == FlashOp::read_out)
            contents_.read_page(page(onfi, 0), onfi.target[0].spare, onfi.target[0].bytes);
        // Data out ends with its last cycle; the other sequences when R/B# rises.
        const SimTime end = onfi.bus_end + (onfi.op == FlashOp::read_out ? Ps{} : busy_);
        agenda_.post(end, Then::to<&ConstantFlash::respond>(this, payload));
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void respond(tlm::tlm_generic_payload& payload) {
        const auto& onfi = *payload.get_extension<OnfiExtension>();
        for (std::uint32_t i = 0; i < onfi.count; ++i) {  // each plane
            const OnfiTarget& t = onfi.target[i];
            if (onfi.op == FlashOp::program) contents_.program_page(page(onfi, i), t.spare, *t.record, t.bytes, t.slc);
            if (onfi.op == FlashOp::erase) contents_.erase(contents_.geometry().block_of(page(onfi, i)));
        }
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        controller_target->nb_transport_bw(payload, phase, delay);
    }
    PageAddress page(const OnfiExtension& onfi, std::uint32_t i) const {
        const NandGeometry& g = contents_.geometry();
        const OnfiTarget& t = onfi.target[i];
        const std::uint32_t die = channel_ * g.dies_per_channel() + onfi.die;
        return PageAddress{PlaneId{die * g.planes_per_die + t.plane}, t.block, t.page};
    }

    Agenda& agenda_;
    const Ps busy_;
    const std::uint32_t channel_;
    SpareArea& contents_;
};

}  // namespace ssdtlm::examples
