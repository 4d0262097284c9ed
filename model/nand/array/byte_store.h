// SPDX-License-Identifier: Apache-2.0
// The bytes of all units that were programmed since the start, by block, as references. The contents of preconditioning
// are not stored, but made when they are read: they are version 1 of its logical blocks, as the host's check expects.
// So only units that were programmed and not erased since the start take memory. Units from the start that garbage
// collection moves take none.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/address/geometry.h"
#include "common/random/block_bytes.h"
#include "common/snapshot/snapshot.h"
#include "nand/onfi/spare.h"
#include "nand/onfi/unit_bytes.h"

namespace ssdtlm {

class ByteStore {
public:
    ByteStore(const NandGeometry& geometry, const SpareCodec& codec, const BlockBytes& at_start);

    /// Programs a page, named by its first slot. `spare` and `bytes` have units_per_page entries. Precondition
    /// (checked): each unit that belongs to a logical unit has bytes.
    void program(Ppa first_slot, const Spare* spare, const UnitBytes* bytes);
    /// Reads the bytes of a page. `spare`: the units in the page. A slot without a logical unit gets no bytes.
    void read(Ppa first_slot, const Spare* spare, UnitBytes* bytes) const;
    void erase(BlockId b);
    /// Reads or writes the stored bytes. A snapshot with another seed of the contents at the start is refused.
    void state(Snapshot& s);

    /// Number of units whose bytes are stored.
    std::uint64_t kept() const { return kept_; }

private:
    static bool is_somebodys(Spare s) { return s != kErased && s != kPadding && s != kTorn; }
    UnitBytes made(Lpa lpa) const;
    [[noreturn]] void refuse(Ppa slot) const;

    const NandGeometry geometry_;
    const std::uint32_t units_per_page_;
    const SpareCodec codec_;
    const BlockBytes at_start_;
    std::vector<std::unique_ptr<UnitBytes[]>> blocks_;  // null: no bytes of the block are stored
    std::uint64_t kept_ = 0;
};

}  // namespace ssdtlm
