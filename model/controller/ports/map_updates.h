// SPDX-License-Identifier: Apache-2.0
// A map that is only partly in memory, as seen by those who change it.
#pragma once

#include <cstdint>

#include "controller/ports/map_port.h"

namespace ssdtlm {

class MapUpdates {
public:
    virtual ~MapUpdates() = default;
    /// Asks for the entries of these units to be in memory. Each unit counts until done() is called for it. Returns
    /// true if all entries are there. Else `then` is called later, never within this call. Calls are answered in order.
    /// `whose`: the tag of each unit's write.
    virtual bool bring_in(const Lpa* units, const WorkTag* whose, std::uint32_t count, const Then& then) = 0;
    /// A unit from bring_in() has got a new place (`has_changed`), or does not need one any more.
    virtual void done(Lpa lpa, bool has_changed) = 0;
    /// A unit without bring_in() has got a new place, or has none now. Its entry is taken into memory.
    virtual void changed(Lpa lpa) = 0;
    /// As changed(), for a unit that garbage collection has moved. Its out-of-band area names the new place as well.
    virtual void moved(Lpa lpa) = 0;
};

}  // namespace ssdtlm
