// SPDX-License-Identifier: Apache-2.0
// A frame, or a signal of the phy, as a TLM-2.0 payload between the ends of a Serial ATA link. The sockets have a
// protocol type of their own, so that no other bus is bound to them by mistake.
//
// - A frame is a payload with TLM_WRITE_COMMAND from its sender: data are the bytes of the FIS (header first, without
//   CRC), address is 0.
// - BEGIN_REQ at the link is answered at once by END_REQ. The link carries the frame when the wire is free, and its far
//   end has a BEGIN_REQ when the CRC has arrived.
// - That end answers at once with TLM_COMPLETED, or with END_REQ and BEGIN_RESP later: the wire is held until then.
//   TLM_OK_RESPONSE is R_OK, TLM_GENERIC_ERROR_RESPONSE is R_ERR. The sender has BEGIN_RESP with the same status when
//   the primitive has come back. A frame that was cut off by COMRESET, or sent while the phy is down, has
//   TLM_INCOMPLETE_RESPONSE. Its receiver forgets it then, if it has not answered.
// - A frame that is not whole dwords, or longer than the longest Data FIS, has TLM_BURST_ERROR_RESPONSE at once.
// - A frame with `crc_error` is R_ERR whatever its receiver answers, which must not use its bytes.
// - A signal has TLM_IGNORE_COMMAND and no data. It takes effect whatever is on the wire, and is answered at once.
#pragma once

#include <cstdint>
#include <tlm>

namespace ssdtlm {

struct SataProtocol : tlm::tlm_base_protocol_types {};
using SataInitiatorSocket = tlm::tlm_initiator_socket<32, SataProtocol>;
using SataTargetSocket = tlm::tlm_target_socket<32, SataProtocol>;

struct SataExtension : tlm::tlm_extension<SataExtension> {
    enum class Kind : std::uint8_t {
        frame,
        comreset,  ///< host to device: the device starts again; all frames under way are gone
        cominit,   ///< device to host: the device has got its power; the link negotiates
        phy_up,    ///< to both ends, from the link: speed negotiation has ended, frames may be sent
        phy_down   ///< to the host, from the link: the device has no power, or COMRESET is going on
    };
    Kind kind = Kind::frame;
    bool crc_error = false;       ///< of a frame, from the link: it did not arrive as it was sent
    std::uint8_t generation = 0;  ///< of phy_up: 1, 2 or 3 for 1.5, 3 or 6 Gb/s

    tlm::tlm_extension_base* clone() const override { return new SataExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const SataExtension&>(other); }
};

}  // namespace ssdtlm
