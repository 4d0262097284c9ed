// SPDX-License-Identifier: Apache-2.0
// The generic payload's extension on the ONFI bus: one command sequence or one data-out burst. It uses the short AT
// protocol. BEGIN_REQ comes when the first cycle is on the bus, and is answered at once by TLM_UPDATED and END_REQ.
// BEGIN_RESP comes from the target when its part has ended, and is answered by TLM_COMPLETED. A part ends when R/B#
// rises (read, program, erase, suspend), with the last data cycle (read_out), or with the last cycle (resume). A
// suspended program or erase is answered when it has ended at last. Cache program: a program is answered when its
// result is known (FAIL: the array is idle; FAILC: R/B# rises behind the next one). A call with an annotated delay
// takes effect at its time.
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
    SimTime bus_begin{};     ///< time of the first cycle
    SimTime bus_end{};       ///< last cycle; the array starts here (reads, programs, erases: tWB later)
    tlm::tlm_generic_payload* request = nullptr;  ///< for the target, until it answers
    std::array<OnfiTarget, 8> target{};
    std::uint64_t cookie = 0;  ///< for the initiator
    // Members for programs with NandConfig::cache_program only.
    bool more = false;       ///< confirmed by 15h
    SimTime array_begins{};  ///< answer of the target: when the array begins to program the page
    SimTime array_ends{};    ///< answer of the target: when the array ends, unless it is suspended
    SimTime ready_at{};      ///< the target's answer: when R/B# rises; with `more` the cache registers are free then

    tlm::tlm_extension_base* clone() const override { return new OnfiExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& e) override { *this = static_cast<const OnfiExtension&>(e); }
};

/// A payload that contains its extension, so that code that knows the type needs no look-up. Other code uses
/// tlm_generic_payload and get_extension().
class OnfiPayload final : public tlm::tlm_generic_payload {
public:
    OnfiPayload() { set_extension(&onfi); }
    ~OnfiPayload() override { clear_extension(&onfi); }
    OnfiPayload(const OnfiPayload&) = delete;
    OnfiPayload& operator=(const OnfiPayload&) = delete;

    OnfiExtension onfi;
};

/// True: the payload is an OnfiPayload. It is false if another shared library has defined the type again.
inline bool is_onfi_payload(const tlm::tlm_generic_payload& payload) {
    return &typeid(payload) == &typeid(OnfiPayload);
}
/// The extension of any payload; null: it has none.
inline OnfiExtension* onfi_of(tlm::tlm_generic_payload& payload) {
    if (__builtin_expect(is_onfi_payload(payload), 1)) return &static_cast<OnfiPayload&>(payload).onfi;
    return payload.get_extension<OnfiExtension>();
}

}  // namespace ssdtlm
