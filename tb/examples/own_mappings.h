// SPDX-License-Identifier: Apache-2.0
// Two mappings of one's own. `regions` has all of the map in memory, as page mapping does, but a core finds the entries
// of one region of the addresses at once, and waits for those of another. `scattered_logs` maps by blocks with log
// blocks, but none of them is a sequential one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/map/blocks/hybrid_map.h"
#include "controller/map/blocks/log_block_mapping.h"
#include "controller/ports/map_port.h"

namespace ssdtlm::examples {

class RegionMap final : public MapPort {
public:
    RegionMap(MapPort& own, Agenda& agenda, std::uint32_t units, Ps wait)
        : own_(own), agenda_(agenda), units_(units), wait_(wait) {}

    bool translate(const MapExtent& extent, MapUse use, Ppa* places, const MapThen& then) override {
        const std::uint32_t region = idx(extent.first) / units_;
        if (region == region_) return own_.translate(extent, use, places, then);
        region_ = region;
        questions_.push_back({extent, use, then});
        agenda_.post(agenda_.now() + wait_, Then::to<&RegionMap::answer>(this));
        return false;
    }
    void let_go(PlaneId plane, BlockId block, std::uint32_t units) override { own_.let_go(plane, block, units); }
    void unmap(const MapExtent& extent) override { own_.unmap(extent); }
    void lose(Lpa lpa) override { own_.lose(lpa); }

private:
    struct Question {
        MapExtent extent;
        MapUse use;
        MapThen then;
    };
    // All wait equally long, so the answers come in the order of the questions.
    void answer() {
        const Question q = questions_.front();
        questions_.pop_front();
        std::vector<Ppa> places(q.extent.units);
        if (own_.translate(q.extent, q.use, places.data(), q.then))
            q.then(q.use == MapUse::read ? places.data() : nullptr);
    }

    MapPort& own_;
    Agenda& agenda_;
    const std::uint32_t units_;
    const Ps wait_;
    std::uint32_t region_ = ~0u;
    std::deque<Question> questions_;
};

class Regions final : public Mapping {
public:
    Regions(const MappingSetup& setup, std::uint32_t units, Ps wait) : Mapping(setup), units_(units), wait_(wait) {}
    std::unique_ptr<MapPort> ask(MapPort& own, const MapPeers& peers) const override {
        return std::make_unique<RegionMap>(own, peers.agenda, units_, wait_);
    }

private:
    const std::uint32_t units_;
    const Ps wait_;
};

class ScatteredLogs final : public LogBlockMapping {
public:
    using LogBlockMapping::LogBlockMapping;
    std::unique_ptr<BlockPlacement> place(const PlacementSetup& setup) const override {
        struct Placement final : HybridMap {
            using HybridMap::HybridMap;
            bool is_sequential(const LogicalPage&) const override { return false; }
            LogicalPage next_sequential(GroupId group) const override { return {group, 0, 0}; }
        };
        return std::make_unique<Placement>(setup, random_logs());
    }
};

}  // namespace ssdtlm::examples
