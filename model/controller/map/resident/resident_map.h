// SPDX-License-Identifier: Apache-2.0
// MapPort over a forward map that is all in memory: every answer is at hand.
#pragma once

#include "common/address/fast_divide.h"
#include "controller/ftl/ftl.h"
#include "controller/ports/map_port.h"

namespace ssdtlm {

class ResidentMap final : public MapPort {
public:
    explicit ResidentMap(Ftl& ftl) : ftl_(ftl), block_of_(ftl.geometry().units_per_block()) {}
    /// Sets who is told when a read has ended.
    void bind(EraseGate& gate) { gate_ = &gate; }

    bool translate(const MapExtent& extent, MapUse use, Ppa* places, const MapThen&) override {
        if (extent.units != 1 || use == MapUse::remove) return translate_many(extent, use, places);
        places[0] = ftl_.lookup(extent.first);
        if (is_place(places[0])) ftl_.read_started(BlockId{block_of_(idx(places[0]))});
        return true;
    }
    void let_go(PlaneId plane, BlockId block, std::uint32_t units) override {
        ftl_.read_finished(block, units);
        gate_->read_finished(plane, block);
    }
    void lose(Lpa lpa) override { ftl_.lose(lpa); }
    void unmap(const MapExtent& extent) override { ftl_.trim(extent.first, extent.units); }

private:
    bool translate_many(const MapExtent& extent, MapUse use, Ppa* places);

    Ftl& ftl_;
    const FastDivide block_of_;
    EraseGate* gate_ = nullptr;
};

}  // namespace ssdtlm
