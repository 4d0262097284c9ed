// SPDX-License-Identifier: Apache-2.0
// Says where pages lie after logical units 0 .. n-1 were written once, in ascending order, to a fresh device. Pages go
// round the planes in the allocation order, and fill the blocks of each plane in ascending order. It is a formula in
// both directions, so units that stay where they were laid out need no memory. The forward map and the flash contents
// only hold what differs from it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"

namespace ssdtlm {

class SequentialLayout {
public:
    /// Creates a layout without units.
    explicit SequentialLayout(const NandGeometry& geometry) : SequentialLayout(geometry, all_planes(geometry), 0) {}
    /// `planes`: every plane of the device once, in the order of allocation. Precondition: the units fit into the
    /// device.
    SequentialLayout(const NandGeometry& geometry, const std::vector<PlaneId>& planes, std::uint64_t units)
        : units_(static_cast<std::uint32_t>(units)),
          units_per_page_(geometry.units_per_page()),
          planes_(geometry.planes()),
          pages_per_plane_(geometry.blocks_per_plane * geometry.pages_per_block),
          by_page_(units_per_page_),
          by_planes_(planes_),
          by_plane_(pages_per_plane_),
          first_(planes_),
          position_(planes_) {
        for (std::uint32_t i = 0; i < planes_; ++i) {
            first_[i] = idx(planes[i]) * pages_per_plane_ * units_per_page_;
            position_[idx(planes[i])] = i;
        }
    }

    /// Number of logical units that are laid out.
    std::uint32_t units() const { return units_; }
    /// The place of a unit; kUnmapped if the layout does not have it.
    Ppa place_of(Lpa lpa) const {
        const std::uint32_t unit = idx(lpa);
        if (unit >= units_) return kUnmapped;
        const std::uint32_t page = by_page_(unit), row = by_planes_(page);
        return Ppa{first_[page - row * planes_] + row * units_per_page_ + (unit - page * units_per_page_)};
    }
    /// The logical unit that slot 0 of this flash page holds if the result is below units().
    std::uint32_t unit_of(std::uint32_t page_number) const {
        const std::uint32_t plane = by_plane_(page_number), row = page_number - plane * pages_per_plane_;
        return (row * planes_ + position_[plane]) * units_per_page_;
    }
    /// The difference between unit_of() of two neighbouring pages of a plane.
    std::uint32_t stride() const { return planes_ * units_per_page_; }
    /// Number of the flash page that holds the unit in `p`, over the whole device.
    std::uint32_t page_number(Ppa p) const { return by_page_(idx(p)); }
    /// Number of pages of the layout in a plane.
    std::uint32_t pages_in(PlaneId plane) const {
        const std::uint32_t pages = by_page_(units_) + (units_ % units_per_page_ != 0 ? 1 : 0);
        return pages / planes_ + (position_[idx(plane)] < pages % planes_ ? 1 : 0);
    }

private:
    static std::vector<PlaneId> all_planes(const NandGeometry& geometry) {
        std::vector<PlaneId> planes;
        for (std::uint32_t p = 0; p < geometry.planes(); ++p) planes.push_back(PlaneId{p});
        return planes;
    }

    std::uint32_t units_;
    std::uint32_t units_per_page_;
    std::uint32_t planes_;
    std::uint32_t pages_per_plane_;
    FastDivide by_page_;
    FastDivide by_planes_;
    FastDivide by_plane_;
    std::vector<std::uint32_t> first_;     // by position in the order: the first physical unit of the plane
    std::vector<std::uint32_t> position_;  // by plane: its position in the order
};

}  // namespace ssdtlm
