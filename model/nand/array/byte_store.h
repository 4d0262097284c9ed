// SPDX-License-Identifier: Apache-2.0
// The bytes of what was programmed since the start, by block, as references. What preconditioning left is not kept but
// made when it is read: version 1 of its logical blocks, as the host's check expects it. Memory is taken by what was
// programmed and not erased since; units of the start that garbage collection moves take none.
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

    /// A page by its first slot; `spare` and `bytes` have units_per_page entries. Precondition (checked): each unit
    /// that is somebody's has bytes.
    void program(Ppa first_slot, const Spare* spare, const UnitBytes* bytes);
    /// What the page holds, by what `spare` says of it; nothing where a unit is nobody's.
    void read(Ppa first_slot, const Spare* spare, UnitBytes* bytes) const;
    void erase(BlockId b);
    /// Reading: what preconditioning left must be made of the same bytes.
    void state(Snapshot& s);

    /// Units whose bytes are kept.
    std::uint64_t kept() const { return kept_; }

private:
    static bool is_somebodys(Spare s) { return s != kErased && s != kPadding && s != kTorn; }
    UnitBytes made(Lpa lpa) const;
    [[noreturn]] void refuse(Ppa slot) const;

    const NandGeometry geometry_;
    const std::uint32_t units_per_page_;
    const SpareCodec codec_;
    const BlockBytes at_start_;
    std::vector<std::unique_ptr<UnitBytes[]>> blocks_;  // null: nothing is kept of the block
    std::uint64_t kept_ = 0;
};

}  // namespace ssdtlm
