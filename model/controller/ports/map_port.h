// SPDX-License-Identifier: Apache-2.0
// The map from logical to physical units as commands see it. A command asks once, for all units of its extent, and the
// answer holds for one instant: what it says about several units belongs together, whatever happened while it was
// sought.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "common/tlm/then.h"
#include "controller/ports/work_tag.h"

namespace ssdtlm {

/// Neighbouring mapping units.
struct MapExtent {
    Lpa first{};
    std::uint32_t units = 0;
    WorkTag whose{};  ///< of who asks
};

/// The purpose of a question to the map.
enum class MapUse : std::uint8_t {
    read,   ///< go to the places: the answer holds off the erase of each block that it names
    remove  ///< unmap the extent in the step that takes the answer; no places are told, nothing is held
};

/// Gets an answer that comes later. `places`: of each unit of the extent, kUnmapped where there is none, kLost where it
/// cannot be read; valid during the call. Null for MapUse::remove.
using MapThen = ThenOf<void, const Ppa*>;

/// Contract: every question is answered once; an answer that comes later never comes within translate(). The places of
/// all units are those of the instant of the answer. For MapUse::read each block named is held once for every unit in
/// it, until let_go() has been called for as many.
class MapPort {
public:
    virtual ~MapPort() = default;
    /// True: answered; `places` (units of them) are written. False: `then` gets the answer.
    virtual bool translate(const MapExtent& extent, MapUse use, Ppa* places, const MapThen& then) = 0;
    /// The most units of a question for MapUse::read. It is the same for the life of the map.
    virtual std::uint32_t most_units() const { return ~0u; }
    /// `units` of a block that an answer named are needed no more, or have been read.
    virtual void let_go(PlaneId plane, BlockId block, std::uint32_t units) = 0;
    /// Unmaps the extent; the answer for MapUse::remove is at hand.
    virtual void unmap(const MapExtent& extent) = 0;
    /// The unit cannot be read any more: its place is kLost until it is written or unmapped.
    virtual void lose(Lpa lpa) = 0;
};

/// Waits to erase blocks that are being read.
class EraseGate {
public:
    /// A read of `block` has ended.
    virtual void read_finished(PlaneId plane, BlockId block) = 0;

protected:
    ~EraseGate() = default;
};

}  // namespace ssdtlm
