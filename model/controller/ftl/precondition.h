// SPDX-License-Identifier: Apache-2.0
// Brings a device into a used state without simulating time. Same books, same policies, same code as in operation;
// only the flash operations happen at once, so GC is always fast enough to stay above its soft threshold. All contents
// get version 1, as if the host had written each unit for the first time.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
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
    /// `writes` uniformly random overwrites within the first `units` logical units.
    void overwrite(std::uint64_t units, std::uint64_t writes);
    /// Empties and erases one victim; the units are packed in page order, the last page is padded. false: no victim.
    bool collect(PlaneId plane);

private:
    struct Move {
        Spare spare;
        Ppa from;
    };
    void fill_blocks(const std::vector<std::uint64_t>& pages, std::uint64_t units);

    Ftl& ftl_;
    const NandGeometry& geometry_;
    const std::uint32_t units_per_page_;
    std::vector<Move> moves_;
};

}  // namespace ssdtlm
