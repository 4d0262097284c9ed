// SPDX-License-Identifier: Apache-2.0
// A user's loosely-timed flash in place of a package: it only knows b_transport, does the whole operation in one call
// and annotates how long that takes. A BasicLtTargetAdapter<OnfiProtocol> joins it to the bus.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <systemc>
#include <vector>

#include "common/tlm/sc_time_bridge.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm::examples {

class LtFlash : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<LtFlash, 32, OnfiProtocol> socket;

    /// `contents` is shared by all packages and was filled by preconditioning.
    LtFlash(sc_core::sc_module_name name, const NandConfig& nand, std::uint32_t channel, SpareArea& contents)
        : sc_module(name), socket("socket"), nand_(nand), channel_(channel), contents_(contents) {
        socket.register_b_transport(this, &LtFlash::transport);
    }

private:
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const auto& onfi = *payload.get_extension<OnfiExtension>();
        Ps array{};
        for (std::uint32_t i = 0; i < onfi.count; ++i)
            array = std::max(array, operate(onfi.op, onfi.die, onfi.target[i]));
        // The call comes with the first cycle on the bus; the array starts behind the last.
        delay += to_sc_time(onfi.bus_end - onfi.bus_begin + array);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    /// What the array does for it; how long R/B# is low.
    Ps operate(FlashOp op, std::uint32_t die_in_channel, const OnfiTarget& t) {
        const NandGeometry& g = contents_.geometry();
        const std::uint32_t die = channel_ * g.dies_per_channel() + die_in_channel;
        const PageAddress page{PlaneId{die * g.planes_per_die + t.plane}, t.block, t.page};
        switch (op) {
            case FlashOp::read_out:
                contents_.read_page(page, t.spare, t.bytes);
                // Of a page that was programmed in the other cell mode.
                if (!contents_.readable(page, t.slc) && t.spare != nullptr)
                    std::fill_n(t.spare, g.units_per_page(), kTorn);
                return Ps{};
            case FlashOp::program:
                contents_.program_page(page, t.spare, *t.record, t.bytes, t.slc);
                break;
            case FlashOp::erase:
                contents_.erase(g.block_of(page));
                break;
            default:
                break;
        }
        if (t.slc) return nand_.onfi.t_wb + onfi_operation(op).slc_time(nand_);
        const std::vector<Ps> times = onfi_operation(op).array_time(nand_);  // one, or one per page type
        return nand_.onfi.t_wb + times[t.page % times.size()];
    }

    const NandConfig& nand_;
    const std::uint32_t channel_;
    SpareArea& contents_;
};

}  // namespace ssdtlm::examples
