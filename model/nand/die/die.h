// SPDX-License-Identifier: Apache-2.0
// One die (LUN): what it is doing, what its page registers hold, and what a datasheet forbids. Kernel-free: it is
// told when the last command cycle was and answers when R/B# rises. Array times depend on the page type (lower,
// middle, upper); a multi-plane operation takes the longest of its pages. Not modelled: cache operations, suspend,
// partial-page programming, wear and failure of operations.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/units/units.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_target.h"

namespace ssdtlm {

enum class DieOperation : std::uint8_t { read, program, erase };

class alignas(64) Die {
public:
    Die(const NandConfig& config, DieId id, SpareArea& area);

    /// Why the die would refuse the operation now; empty when it accepts.
    std::string probe(DieOperation op, const OnfiTarget* targets, std::uint32_t count) const;
    /// R/B# falls at `start`; returns when it rises. A program's units are taken into the page registers at once.
    /// Panics with probe()'s text when refused.
    SimTime issue(DieOperation op, const OnfiTarget* targets, std::uint32_t count, SimTime start);
    /// The array operation on these planes ends: a read loads the page registers, a program and an erase change
    /// the array. Call at the time issue() returned, with the same planes.
    void finish(const OnfiTarget* targets, std::uint32_t count);
    /// The two for a read of one plane.
    SimTime issue_read(const OnfiTarget& target, SimTime start);
    void finish_read(const OnfiTarget& target);
    /// Copies a page register to `target.spare`; null: only the checks.
    void data_out(const OnfiTarget& target);

    /// Earliest time at which the plane can take an operation of that kind, as far as started work tells.
    SimTime earliest_ready(DieOperation op, std::uint32_t plane) const;
    bool busy() const { return busy_planes_ != 0; }
    bool busy(std::uint32_t plane) const { return (busy_planes_ >> plane & 1u) != 0; }
    DieId id() const { return id_; }

private:
    struct alignas(64) Plane {
        SimTime ready{};            // of the last operation
        DieOperation op = DieOperation::read;
        bool loaded = false;        // page register holds (block, page) as read
        std::uint32_t block = 0;
        std::uint32_t page = 0;
        Ppa first_slot{};           // of that page
        std::array<Spare, kMaxUnitsPerPage> page_register{};
    };
    PageAddress address(const OnfiTarget& t) const {
        return PageAddress{PlaneId{first_plane_ + t.plane}, t.block, t.page};
    }
    Ppa first_slot(const OnfiTarget& t) const {
        const std::uint32_t block = (first_plane_ + t.plane) * blocks_per_plane_ + t.block;
        return Ppa{(block * pages_per_block_ + t.page) * units_per_page_};
    }
    bool accepts(DieOperation op, const OnfiTarget* targets, std::uint32_t count) const;
    /// The same for one plane's read.
    bool accepts_read(const OnfiTarget& t) const {
        return (independent_plane_read_ ? locked_ : busy_planes_) == 0 && t.plane < planes_per_die_ && !busy(t.plane) &&
               t.block < blocks_per_plane_ && t.page < pages_per_block_;
    }
    Ps array_time(DieOperation op, std::uint32_t page) const;
    [[noreturn]] void refuse(DieOperation op, const OnfiTarget* targets, std::uint32_t count) const;
    [[noreturn]] void refuse_data_out(const OnfiTarget& target) const;
    [[noreturn]] void refuse_finish(const OnfiTarget& target) const;
    std::string probe_data_out(const OnfiTarget& target) const;
    std::string name(const OnfiTarget& t) const;

    // What a read needs, in one cache line.
    std::uint32_t busy_planes_ = 0; // bit per plane
    std::uint32_t locked_ = 0;      // planes busy with what stops the whole die (anything but an independent read)
    const std::uint32_t planes_per_die_;
    const std::uint32_t blocks_per_plane_;
    const std::uint32_t pages_per_block_;
    const std::uint32_t units_per_page_;
    const std::uint32_t page_bytes_;
    const std::uint32_t first_plane_;
    const bool independent_plane_read_;
    const bool one_t_read_;         // for all page types
    std::vector<Plane> planes_;
    SpareArea& area_;
    const Ps first_t_read_;
    // The rest.
    std::vector<Ps> t_read_;        // per page type; one: all types
    std::vector<Ps> t_program_;
    const Ps t_erase_;
    const NandGeometry geometry_;
    const DieId id_;
};

}  // namespace ssdtlm
