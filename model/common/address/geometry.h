// SPDX-License-Identifier: Apache-2.0
// Coordinates as types, and the named conversions between them. There are no implicit conversions.
//
// Linear numbering (most significant first): channel, way (chip enable), die (LUN), plane, block, page, slot.
//   die   = (channel * ways + way) * dies_per_chip + lun        "global die"
//   plane = die * planes_per_die + plane in die                 "global plane"
//   block = plane * blocks_per_plane + block in plane           "global block"
//   page  = block * pages_per_block + page in block
//   Ppa   = page * units_per_page + slot                        one mapping unit in flash
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/address/word_lines.h"

namespace ssdtlm {

/// Host logical block address, in units of the namespace's LBA size.
enum class Lba : std::uint64_t {};
/// Logical mapping unit (4 KiB or page-size).
enum class Lpa : std::uint32_t {};
/// Physical mapping unit (page slot). kUnmapped: there is no copy in flash. kLost: the copy in flash cannot be read any
/// more.
enum class Ppa : std::uint32_t {};
enum class DieId : std::uint32_t {};    ///< global
enum class PlaneId : std::uint32_t {};  ///< global
enum class BlockId : std::uint32_t {};  ///< global
inline constexpr Ppa kUnmapped{0xFFFFFFFFu};
inline constexpr Ppa kLost{0xFFFFFFFEu};
inline constexpr BlockId kNoBlock{0xFFFFFFFFu};

template <class E>
constexpr auto idx(E e) {
    return static_cast<std::underlying_type_t<E>>(e);
}

/// True: the number is a place, neither kUnmapped nor kLost.
constexpr bool is_place(Ppa p) {
    return idx(p) < idx(kLost);
}

/// A page inside one plane.
struct PageAddress {
    PlaneId plane{};
    std::uint32_t block = 0;  ///< in plane
    std::uint32_t page = 0;   ///< in block
};

struct NandGeometry {
    std::uint32_t channels = 1;
    std::uint32_t ways = 1;           ///< chip enables per channel
    std::uint32_t dies_per_chip = 1;  ///< LUNs per chip enable
    std::uint32_t planes_per_die = 1;
    std::uint32_t blocks_per_plane = 1;
    std::uint32_t pages_per_block = 1;
    std::uint32_t page_bytes = 4096;   ///< user data
    std::uint32_t spare_bytes = 0;     ///< out-of-band area of a page
    std::uint32_t unit_bytes = 4096;   ///< mapping unit; divides page_bytes
    std::uint32_t bits_per_cell = 2;   ///< also the number of page types
    bool two_step = false;             ///< two bits per cell, and the page order of WordLines; else word line by line
    std::uint32_t metadata_bytes = 0;  ///< of the logical blocks of a unit: part of the spare area, beside the data

    /// What the flash keeps of a unit, where contents are bytes: its data, then its metadata.
    constexpr std::uint32_t kept_bytes() const { return unit_bytes + metadata_bytes; }

    constexpr std::uint32_t units_per_page() const { return page_bytes / unit_bytes; }
    constexpr std::uint32_t dies_per_channel() const { return ways * dies_per_chip; }
    constexpr std::uint32_t dies() const { return channels * dies_per_channel(); }
    constexpr std::uint32_t planes() const { return dies() * planes_per_die; }
    constexpr std::uint32_t blocks() const { return planes() * blocks_per_plane; }
    constexpr std::uint64_t pages() const { return std::uint64_t{blocks()} * pages_per_block; }
    constexpr std::uint64_t units() const { return pages() * units_per_page(); }
    constexpr std::uint32_t units_per_block() const { return pages_per_block * units_per_page(); }
    /// Pages of a block whose cells hold one bit each (SLC mode).
    constexpr std::uint32_t slc_pages_per_block() const { return pages_per_block / bits_per_cell; }
    /// The type of a page, a number below bits_per_cell: 0 is lower, the highest is upper.
    constexpr std::uint32_t page_type(std::uint32_t page) const {
        return two_step ? std::uint32_t{word_lines().is_upper(page)} : page % bits_per_cell;
    }
    constexpr WordLines word_lines() const { return {pages_per_block}; }
    constexpr std::uint64_t raw_bytes() const { return pages() * page_bytes; }

    constexpr std::uint32_t channel_of(DieId d) const { return idx(d) / dies_per_channel(); }
    /// Die number inside its channel: way * dies_per_chip + lun.
    constexpr std::uint32_t die_in_channel(DieId d) const { return idx(d) % dies_per_channel(); }
    constexpr DieId die_of(PlaneId p) const { return DieId{idx(p) / planes_per_die}; }
    constexpr std::uint32_t plane_in_die(PlaneId p) const { return idx(p) % planes_per_die; }
    constexpr PlaneId plane_of(BlockId b) const { return PlaneId{idx(b) / blocks_per_plane}; }
    constexpr std::uint32_t block_in_plane(BlockId b) const { return idx(b) % blocks_per_plane; }
    constexpr BlockId block_id(PlaneId p, std::uint32_t block) const {
        return BlockId{idx(p) * blocks_per_plane + block};
    }
    constexpr BlockId block_of(const PageAddress& a) const { return block_id(a.plane, a.block); }
    constexpr BlockId block_of(Ppa p) const { return BlockId{idx(p) / units_per_block()}; }
    constexpr Ppa ppa_of(const PageAddress& a, std::uint32_t slot) const {
        return Ppa{(idx(block_of(a)) * pages_per_block + a.page) * units_per_page() + slot};
    }
    constexpr std::uint32_t slot_of(Ppa p) const { return idx(p) % units_per_page(); }
    constexpr PageAddress page_of(Ppa p) const {
        const std::uint32_t in_block = idx(p) % units_per_block();
        const BlockId b = block_of(p);
        return PageAddress{plane_of(b), block_in_plane(b), in_block / units_per_page()};
    }
};

}  // namespace ssdtlm
