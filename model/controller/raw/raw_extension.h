// SPDX-License-Identifier: Apache-2.0
// Fields of a request of the front end "raw" that the generic payload lacks, and of the drive's answer.
#pragma once

#include <cstdint>
#include <tlm>

#include "common/latency/timeline.h"
#include "controller/ports/command_status.h"

namespace ssdtlm {

struct RawExtension : tlm::tlm_extension<RawExtension> {
    enum class Op : std::uint8_t {
        transfer,  ///< what the payload's command says: TLM_READ_COMMAND or TLM_WRITE_COMMAND
        trim,      ///< of address and length; no data
        flush,     ///< of all that has ended before; neither address, nor length, nor data
        shutdown   ///< a flush after which the power may go: the drive knows then where everything is
    };
    // The host sets the following members. Trim, flush and shutdown have TLM_IGNORE_COMMAND.
    Op op = Op::transfer;
    bool fua = false;           ///< a write ends when it is in flash
    std::uint16_t tenant = 0;   ///< whose request it is; 0: nobody's in particular
    std::uint8_t priority = 0;  ///< 0 urgent to 3 low
    std::uint8_t stream = 0;    ///< of a write; 0: none
    /// The host's queue and tag for the request, by which records name the command; queue 0: the drive numbers it.
    std::uint16_t queue = 0, tag = 0;
    Timeline* timeline =
        nullptr;  ///< where the drive tells what it does in the request's time, from BEGIN_REQ on; null: it does not
    // The drive sets the following members with BEGIN_RESP.
    CommandStatus status = CommandStatus::success;
    std::uint64_t result = 0;

    tlm::tlm_extension_base* clone() const override { return new RawExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const RawExtension&>(other); }
};

}  // namespace ssdtlm
