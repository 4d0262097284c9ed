// SPDX-License-Identifier: Apache-2.0
// A map that answers late, as one does that has to read its own pages from flash first: an example of MapPort. Each
// question takes a time of its own, so answers overtake each other; what they say is what the map in memory says at
// that instant.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/agenda.h"
#include "controller/ports/map_port.h"

namespace ssdtlm {

class LateMap final : public MapPort {
public:
    /// `at_once`: percent of the questions whose answer is at hand; the others take `shortest` to `longest`.
    struct Shape {
        Ps shortest{0};
        Ps longest{0};
        unsigned at_once = 0;
    };
    LateMap(Agenda& agenda, MapPort& resident, const Shape& shape, std::uint64_t seed)
        : agenda_(agenda), resident_(resident), shape_(shape), random_(seed, 10) {}

    bool translate(const MapExtent& extent, MapUse use, Ppa* places, const MapThen& then) override {
        if (random_.percent(shape_.at_once)) return resident_.translate(extent, use, places, then);
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(questions_.size()));
            questions_.emplace_back();
        }
        const std::uint32_t i = free_.back();
        free_.pop_back();
        questions_[i] = {extent, use, then};
        ++late;
        const auto spread = static_cast<std::uint64_t>((shape_.longest - shape_.shortest).count());
        const Ps time = shape_.shortest + Ps{static_cast<std::int64_t>(random_.below(spread + 1))};
        agenda_.post(agenda_.now() + time, Then::to<&LateMap::answer>(this, i));
        return false;
    }
    void let_go(PlaneId plane, BlockId block, std::uint32_t units) override { resident_.let_go(plane, block, units); }
    void unmap(const MapExtent& extent) override { resident_.unmap(extent); }
    void lose(Lpa lpa) override { resident_.lose(lpa); }

    std::uint64_t late = 0;

private:
    struct Question {
        MapExtent extent;
        MapUse use = MapUse::read;
        MapThen then;
    };
    void answer(std::uint64_t i) {
        const Question q = questions_[i];
        free_.push_back(static_cast<std::uint32_t>(i));
        std::vector<Ppa> places(q.extent.units);
        resident_.translate(q.extent, q.use, places.data(), {});
        q.then(q.use == MapUse::remove ? nullptr : places.data());
    }

    Agenda& agenda_;
    MapPort& resident_;
    const Shape shape_;
    Random random_;
    std::vector<Question> questions_;
    std::vector<std::uint32_t> free_;
};

}  // namespace ssdtlm
