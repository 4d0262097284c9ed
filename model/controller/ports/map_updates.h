// SPDX-License-Identifier: Apache-2.0
// A map that is not all in memory, as those see it who change it.
#pragma once

#include <cstdint>

#include "controller/ports/map_port.h"

namespace ssdtlm {

class MapUpdates {
public:
    virtual ~MapUpdates() = default;
    /// Wants the entries of these units in memory, each as often as done() is called for it. True: they are. False:
    /// `then` comes later, and never from within. Questions are answered in order.
    /// `whose`: of the write of each.
    virtual bool bring_in(const Lpa* units, const WorkTag* whose, std::uint32_t count, const Then& then) = 0;
    /// A unit that was brought in has got a new place (`has_changed`), or does not need one any more.
    virtual void done(Lpa lpa, bool has_changed) = 0;
    /// A unit that nobody has brought in has got a new place, or none. The entry is taken into memory.
    virtual void changed(Lpa lpa) = 0;
    /// The same of a unit that garbage collection has moved, whose out-of-band area says so as well.
    virtual void moved(Lpa lpa) = 0;
};

}  // namespace ssdtlm
