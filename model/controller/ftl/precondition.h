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
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
#include "common/address/sequential_layout.h"
#include "common/random/random.h"
#include "controller/ftl/ftl.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class Preconditioner {
public:
    explicit Preconditioner(Ftl& ftl);

    /// The configured initial state. Precondition: a fresh Ftl.
    void run();
    /// Writes logical units 0 .. units-1 in ascending order; leaves exactly what unit-by-unit writing would leave, but
    /// the big tables take it as a formula. Precondition: a fresh Ftl.
    void lay_out(std::uint64_t units);
    /// The same units where very many random overwrites would have brought them, in full superblocks, of which as many are free as
    /// the hard threshold leaves. Precondition: a fresh Ftl whose victim policy has a law.
    void scatter(std::uint64_t units);
    /// `writes` uniformly random overwrites within the first `units` logical units. The groups begin up to `latest` rows apart.
    void overwrite(std::uint64_t units, std::uint64_t writes, std::uint64_t latest);
    /// Moves one row's worth of the group's victim, the units packed in page order, and erases the victim when that was
    /// the last of it (the last page is padded). Takes a new victim where there is none. false: nothing to collect.
    bool collect_row(GroupId group);

private:
    struct Move {
        Spare spare;
        Ppa from;
    };
    void fill();
    std::vector<SuperblockId> fill_superblocks(GroupId group, std::uint32_t count, Random& random);
    void hold(SuperblockId b, std::uint32_t valid, std::vector<std::uint32_t>& by_block, Random& random);
    void overwrite_hybrid(std::uint64_t units, std::uint64_t writes);
    void fill_blocks(const SequentialLayout& layout);

    Ftl& ftl_;
    const NandGeometry& geometry_;
    const std::uint32_t units_per_page_;
    std::vector<Move> moves_;
    std::vector<SuperblockId> victims_;  // by group
    std::vector<std::uint32_t> pages_;   // by group: where in the victim to go on
};

}  // namespace ssdtlm
