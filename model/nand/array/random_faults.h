// SPDX-License-Identifier: Apache-2.0
// Faults at given rates. They are the same for the same seed and order of operations. A block in which a program or an
// erase has failed is worn out: every later erase of it fails. A block is also worn out after its limit of erases.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "common/random/random.h"
#include "nand/array/array_faults.h"

namespace ssdtlm {

class RandomFaults final : public ArrayFaults {
public:
    /// `geometry`: geometry of the flash, for the blocks that are marked as bad at the factory.
    RandomFaults(const FaultRates& rates, std::uint64_t seed, const NandGeometry& geometry = {})
        : rates_(rates), geometry_(geometry), seed_(seed), programs_(seed, 1), erases_(seed, 2), reads_(seed, 3) {}

    Kinds kinds() const override {
        return {rates_.read_once > 0 || rates_.page_lost > 0, rates_.program_fails > 0,
                rates_.erase_fails > 0 || rates_.most_erases != 0};
    }
    bool program_fails(const ArrayWork& work) override;
    bool erase_fails(const ArrayWork& work) override;
    std::uint16_t wrong_bits(const ArrayWork& work, std::uint32_t again) override;
    /// Each block is bad with the same probability.
    std::vector<BlockId> factory_bad() const override;
    void state(Snapshot& s) override {
        s(programs_, erases_, reads_);
        s.set(worn_out_);
    }
    /// True: the data that were programmed into this page in this cycle are uncorrectable for good.
    bool lost(const PageAddress& page, std::uint32_t cycle) const;

private:
    static std::uint64_t block_of(const PageAddress& page) { return std::uint64_t{idx(page.plane)} << 32 | page.block; }
    const FaultRates rates_;
    const NandGeometry geometry_;
    const std::uint64_t seed_;
    std::unordered_set<std::uint64_t> worn_out_;  // blocks
    Random programs_, erases_, reads_;            // separate, so that one kind does not change the others
};

}  // namespace ssdtlm
