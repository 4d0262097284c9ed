// SPDX-License-Identifier: Apache-2.0
// The generic payload's extension on the ONFI bus: one command sequence or one data-out burst.
// Short AT protocol: BEGIN_REQ when the first cycle is on the bus (answered at once: TLM_UPDATED, END_REQ), BEGIN_RESP
// from the target (answered TLM_COMPLETED) when its part is over: R/B# rises (read, program, erase; a suspend), the
// last data cycle (read_out) or the last cycle (a resume). A suspended program or erase is answered when it is done at
// last. Cache program: a program is answered when its result is known (FAIL: the array is idle; FAILC: R/B# rises
// behind the next one). A delay may be annotated to a call: it takes effect at that time.
#pragma once

#include <array>
#include <cstdint>
#include <tlm>
#include <typeinfo>

#include "common/units/units.h"
#include "nand/onfi/onfi_operation.h"
#include "nand/onfi/onfi_target.h"

namespace ssdtlm {

/// It has the payload and phases of the base protocol, but is a type of its own: binding an ONFI socket to another kind
/// does not compile. A socket of tlm_utils takes it as its third argument: simple_target_socket<Flash, 32,
/// OnfiProtocol>.
struct OnfiProtocol : tlm::tlm_base_protocol_types {};
using OnfiInitiatorSocket = tlm::tlm_initiator_socket<32, OnfiProtocol>;
using OnfiTargetSocket = tlm::tlm_target_socket<32, OnfiProtocol>;

struct OnfiExtension : tlm::tlm_extension<OnfiExtension> {
    FlashOp op = FlashOp::read;
    std::uint16_t die = 0;   ///< in channel: way * dies_per_chip + lun
    std::uint8_t count = 0;  ///< planes addressed
    SimTime bus_begin{};     ///< first cycle
    SimTime bus_end{};       ///< last cycle; the array starts here (tWB later for reads, programs, erases)
    tlm::tlm_generic_payload* request = nullptr;  ///< the target's, until it answers
    std::array<OnfiTarget, 8> target{};
    std::uint64_t cookie = 0;  ///< the initiator's
    // Members for programs with NandConfig::cache_program only.
    bool more = false;       ///< confirmed by 15h
    SimTime array_begins{};  ///< the target's answer: when the array takes the page over
    SimTime array_ends{};    ///< the target's answer: when it is done, if nothing suspends it
    SimTime ready_at{};      ///< the target's answer: when R/B# rises; with `more` the cache registers are free then

    tlm::tlm_extension_base* clone() const override { return new OnfiExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& e) override { *this = static_cast<const OnfiExtension&>(e); }
};

/// A payload that contains its extension, so that code which knows the type needs no look-up to find it. Other code
/// sees tlm_generic_payload and get_extension().
class OnfiPayload final : public tlm::tlm_generic_payload {
public:
    OnfiPayload() { set_extension(&onfi); }
    ~OnfiPayload() override { clear_extension(&onfi); }
    OnfiPayload(const OnfiPayload&) = delete;
    OnfiPayload& operator=(const OnfiPayload&) = delete;

    OnfiExtension onfi;
};

/// True for an OnfiPayload. It is also false for one whose type another shared library has defined again.
inline bool is_onfi_payload(const tlm::tlm_generic_payload& payload) {
    return &typeid(payload) == &typeid(OnfiPayload);
}
/// The extension of any payload; null: it has none.
inline OnfiExtension* onfi_of(tlm::tlm_generic_payload& payload) {
    if (__builtin_expect(is_onfi_payload(payload), 1)) return &static_cast<OnfiPayload&>(payload).onfi;
    return payload.get_extension<OnfiExtension>();
}

}  // namespace ssdtlm
