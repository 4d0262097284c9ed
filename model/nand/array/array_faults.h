// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the array, asked by the dies when an operation ends. Kernel-free.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "common/address/geometry.h"
#include "common/random/random.h"

namespace ssdtlm {

class ArrayFaults {
public:
    virtual ~ArrayFaults() = default;
    virtual bool program_fails(const PageAddress& page) = 0;
    /// `block.page` says nothing.
    virtual bool erase_fails(const PageAddress& block) = 0;
    /// Wrong bits in the page's worst code word. `cycle`: how often its block was erased before it was programmed.
    /// `again`: 0 at first, then the number of the retry, each with other read voltages.
    virtual std::uint16_t wrong_bits(const PageAddress& page, std::uint32_t cycle, std::uint32_t again) = 0;
};

/// Faults at given rates, the same for the same seed and order of operations. A block in which a program or an erase has failed
/// is worn out: whoever erases it again fails again.
class RandomFaults final : public ArrayFaults {
public:
    struct Rates {
        double program_fails = 0;  ///< of programmed pages
        double erase_fails = 0;    ///< of erased blocks
        double read_once = 0;      ///< of reads: uncorrectable at first, read well with the first retry
        double page_lost = 0;      ///< of pages: uncorrectable however often they are read, until the block is erased
        std::uint16_t wrong_bits = 0xFFFF;  ///< of an uncorrectable page
        double factory_bad = 0;    ///< of blocks: marked before anything is done to them
        /// Something may go wrong while the flash is in use.
        bool any() const { return program_fails > 0 || erase_fails > 0 || read_once > 0 || page_lost > 0; }
    };
    RandomFaults(const Rates& rates, std::uint64_t seed)
        : rates_(rates), seed_(seed), programs_(seed, 1), erases_(seed, 2), reads_(seed, 3) {}

    /// Blocks that the factory has marked, ascending: each at the rate, wherever it is.
    static std::vector<BlockId> factory_bad(const Rates& rates, const NandGeometry& geometry, std::uint64_t seed);

    bool program_fails(const PageAddress& page) override;
    bool erase_fails(const PageAddress& block) override;
    std::uint16_t wrong_bits(const PageAddress& page, std::uint32_t cycle, std::uint32_t again) override;
    /// Whether what was programmed there in that cycle is uncorrectable for good.
    bool lost(const PageAddress& page, std::uint32_t cycle) const;
    template <class Archive>
    void state(Archive& s) {
        s(programs_, erases_, reads_);
        s.set(worn_out_);
    }

private:
    static std::uint64_t block_of(const PageAddress& page) { return std::uint64_t{idx(page.plane)} << 32 | page.block; }
    const Rates rates_;
    const std::uint64_t seed_;
    std::unordered_set<std::uint64_t> worn_out_;  // blocks
    Random programs_, erases_, reads_;  // one stream each: more of one kind leave the others as they were
};

}  // namespace ssdtlm
