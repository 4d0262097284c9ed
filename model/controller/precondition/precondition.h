// SPDX-License-Identifier: Apache-2.0
// Brings a device into a used state without simulating time. Same books, same policies, same code as in operation;
// only the flash operations happen at once. All contents get version 1, as if the host had written each unit for the
// first time.
//
// `random` ends where a host that writes as fast as it can would have brought the device (steady state as in SNIA PTS).
// Such a host fills every block that it gets at once and then waits for the next one, so each group of planes is at a
// random point of its cycle: writing its open superblock, or at the hard threshold with a victim half emptied. To get
// there, the groups take turns of one row each, with a host page where one may be written and GC where not, and they
// begin at different times.
//
// How much it overwrites is said beforehand, or ends with the first five rounds, of a tenth of the mapped units each,
// that are steady (overwrite_rounds.h). The rounds are counted either way.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
#include "common/address/sequential_layout.h"
#include "common/random/random.h"
#include "controller/ftl/ftl.h"
#include "controller/ftl/image.h"
#include "controller/precondition/overwrite_rounds.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class Preconditioner {
public:
    /// Turns that are looked up together, and units that are drawn together, so that cache misses of the simulating
    /// machine overlap. It does not change the result. 0: one after the other.
    static constexpr std::size_t kTurnsAhead = 16;
    explicit Preconditioner(Ftl& ftl, std::size_t turns_ahead = kTurnsAhead);

    /// Brings the FTL into the configured initial state and returns how its overwrites went. Precondition: a fresh Ftl.
    OverwriteRounds run();
    /// Writes logical units 0 .. units-1 in ascending order. The result is exactly that of unit-by-unit writing, but
    /// the big tables take it as a formula. Precondition: a fresh Ftl.
    void lay_out(std::uint64_t units);
    /// As lay_out(), where each share of the planes has a range of the addresses. It writes unit by unit, as no formula
    /// says where each is.
    void lay_out_by_pages(std::uint64_t units);
    void lay_out_by_blocks(std::uint64_t units);
    /// Puts the same units where very many random overwrites would have brought them, in full superblocks. As many
    /// superblocks stay free as the hard threshold leaves. Precondition: a fresh Ftl whose victim policy has a law.
    void scatter(std::uint64_t units);
    struct Overwrites {
        std::uint64_t units = 0;    ///< the first ones, uniformly random among them
        std::uint64_t writes = 0;   ///< at most
        std::uint64_t latest = 0;   ///< the groups begin up to so many rows apart
        bool until_steady = false;  ///< the round that makes the drive steady is the last
    };
    void overwrite(const Overwrites& asked);

private:
    struct Move {
        Move(Spare s, Ppa f) : spare(s), from(f) {}
        Spare spare;
        Ppa from;
    };
    /// What a turn of a group would move, as seen when it was looked at. It is part of planned_.
    struct Turn {
        bool is_planned = false;
        std::size_t first = 0, end = 0;
        std::uint32_t page = 0;  ///< where in the victim the next one goes on
    };
    void fill();
    std::vector<SuperblockId> fill_superblocks(GroupId group, std::uint32_t count, Random& random);
    void hold(SuperblockId b, std::uint32_t valid, std::vector<std::uint32_t>& by_block, Random& random);
    template <class Next>
    std::uint64_t write_units(GroupId group, std::uint64_t most, Next&& next);
    void overwrite_in_turn(const Overwrites& asked);
    void overwrite_by_blocks(const Overwrites& asked);
    void begin_rounds(std::uint64_t units);
    /// Moves one row's worth of the group's victim, with the units packed in page order. Erases the victim when that
    /// was the last of it; the last page is padded. Takes a new victim where there is none. False: there is nothing to
    /// collect.
    bool collect_row(GroupId group, const Turn& turn);
    void next_row(GroupId group, std::uint32_t& page, std::vector<Move>& moves) const;
    void look_ahead(const GroupId* groups, std::size_t turns);
    bool is_as_planned(const Turn& turn) const;
    /// Called after each write. True: the drive is steady now.
    bool ends_steady(std::uint64_t written) {
        if (__builtin_expect(!rounds_.is_over(written), 1)) return false;
        rounds_.end_round(image_.counters);
        return rounds_.is_steady();
    }
    void fill_blocks(const SequentialLayout& layout);

    Ftl& ftl_;
    const FtlImage image_;
    const NandGeometry& geometry_;
    const std::uint32_t units_per_page_;
    OverwriteRounds rounds_;
    std::vector<PageAddress> row_;
    std::vector<Move> moves_, planned_;
    std::vector<Turn> turns_;            // that have been looked at
    std::vector<SuperblockId> victims_;  // by group
    std::vector<std::uint32_t> pages_;   // by group: where in the victim to go on
};

}  // namespace ssdtlm
