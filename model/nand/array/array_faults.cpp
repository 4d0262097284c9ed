// SPDX-License-Identifier: Apache-2.0
#include "nand/array/array_faults.h"

namespace ssdtlm {

std::vector<BlockId> RandomFaults::factory_bad(const Rates& rates, const NandGeometry& geometry, std::uint64_t seed) {
    std::vector<BlockId> bad;
    if (rates.factory_bad == 0) return bad;
    Random random(seed, 5);
    for (std::uint32_t b = 0; b < geometry.blocks(); ++b)
        if (random.unit() < rates.factory_bad) bad.push_back(BlockId{b});
    return bad;
}

bool RandomFaults::program_fails(const PageAddress& page) {
    if (programs_.unit() >= rates_.program_fails) return false;
    worn_out_.insert(block_of(page));
    return true;
}

bool RandomFaults::erase_fails(const PageAddress& block) {
    if (!worn_out_.empty() && worn_out_.count(block_of(block)) != 0) return true;
    if (erases_.unit() >= rates_.erase_fails) return false;
    worn_out_.insert(block_of(block));
    return true;
}

/// A function of the page and its cycle, not of the order of reads: each read of a lost page finds it lost.
bool RandomFaults::lost(const PageAddress& page, std::uint32_t cycle) const {
    const std::uint64_t block = block_of(page);
    return Random(seed_ ^ block, 4 + (std::uint64_t{cycle} << 32 | page.page)).unit() < rates_.page_lost;
}

std::uint16_t RandomFaults::wrong_bits(const PageAddress& page, std::uint32_t cycle, std::uint32_t again) {
    const bool once = again == 0 && reads_.unit() < rates_.read_once;
    return once || lost(page, cycle) ? rates_.wrong_bits : std::uint16_t{0};
}

}  // namespace ssdtlm
