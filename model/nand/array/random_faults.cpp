// SPDX-License-Identifier: Apache-2.0
#include "nand/array/random_faults.h"

namespace ssdtlm {

std::vector<BlockId> RandomFaults::factory_bad() const {
    std::vector<BlockId> bad;
    if (rates_.factory_bad == 0) return bad;
    Random random(seed_, 5);
    for (std::uint32_t b = 0; b < geometry_.blocks(); ++b)
        if (random.unit() < rates_.factory_bad) bad.push_back(BlockId{b});
    return bad;
}

bool RandomFaults::program_fails(const ArrayWork& work) {
    if (programs_.unit() >= rates_.program_fails) return false;
    worn_out_.insert(block_of(work.page));
    return true;
}

bool RandomFaults::erase_fails(const ArrayWork& work) {
    if (rates_.most_erases != 0 && work.cycle >= rates_.most_erases) return true;
    if (!worn_out_.empty() && worn_out_.count(block_of(work.page)) != 0) return true;
    if (erases_.unit() >= rates_.erase_fails) return false;
    worn_out_.insert(block_of(work.page));
    return true;
}

/// The result depends on the page and its cycle only, not on the order of reads. So every read of a lost page fails.
bool RandomFaults::lost(const PageAddress& page, std::uint32_t cycle) const {
    const std::uint64_t block = block_of(page);
    return Random(seed_ ^ block, 4 + (std::uint64_t{cycle} << 32 | page.page)).unit() < rates_.page_lost;
}

std::uint16_t RandomFaults::wrong_bits(const ArrayWork& work, std::uint32_t again) {
    const bool once = again == 0 && reads_.unit() < rates_.read_once;
    return once || lost(work.page, work.cycle) ? rates_.wrong_bits : std::uint16_t{0};
}

std::unique_ptr<ArrayFaults> make_faults(const FaultConfig& config, const NandGeometry& geometry, std::uint64_t seed) {
    return FaultModels::instance().make("nand.faults.model", config.model, {geometry, seed, config}, config.models);
}

ArrayFaults::Kinds fault_kinds(const FaultConfig& config, const NandGeometry& geometry) {
    return make_faults(config, geometry, 0)->kinds();
}

namespace {
const FaultModels::Registered kRates{{"rates",
                                      "shares of programs, erases, reads and pages, drawn for each",
                                      {},
                                      [](const FaultSetup& s, const PolicySettings&) {
                                          return std::make_unique<RandomFaults>(s.rates, s.seed, s.geometry);
                                      }}};
}  // namespace

}  // namespace ssdtlm
