// SPDX-License-Identifier: Apache-2.0
// What a posted write learns from the link beyond the base protocol: when it is visible at the far end.
// Carried by the initiator's payload; a payload without it is served by the plain base protocol.
#pragma once

#include <tlm>

#include "common/units/units.h"

namespace ssdtlm {

/// With this extension the response to a write means "accepted by the link, in order": it comes before the data
/// has arrived, and the initiator keeps payload data unchanged until visible_at. Without it, writes longer than
/// PcieLink::kInlineBytes are answered on arrival.
struct LinkExtension : tlm::tlm_extension<LinkExtension> {
    SimTime visible_at{};  ///< set by the link before the response to a write
    /// True for a write that has not been handed over before its response, so that other writes may go before each of
    /// its TLPs. Bulk writes keep the order of the times at which they take effect (the request's annotated delay: its
    /// data are there then).
    bool bulk = false;
    /// True for a bulk write whose response comes when its last TLP begins. If false, the response may come as late as
    /// on arrival, and before that of the next prompt one.
    bool prompt = true;

    tlm::tlm_extension_base* clone() const override { return new LinkExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const LinkExtension&>(other); }
};

}  // namespace ssdtlm
