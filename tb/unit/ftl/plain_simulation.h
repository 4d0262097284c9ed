// SPDX-License-Identifier: Apache-2.0
// Write amplification without an FTL: a log of blocks in arrays, one block open for the host and one for moved pages,
// one more in reserve, uniform writes. Nothing is kept up to date that a victim's choice could look up: it looks at all
// blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm::test {

struct PlainBlock {
    std::uint32_t valid = 0;
    std::vector<std::uint32_t> pages;  ///< what was written, in order
};

/// Of the full blocks, in the order in which they became full: the position of the victim.
using PlainChoice = std::function<std::size_t(const std::vector<const PlainBlock*>&, Random&)>;

inline double plain_write_amplification(std::uint32_t blocks, std::uint32_t pages_per_block, std::uint32_t logical,
                                        double warm_up, double measured, const PlainChoice& choose) {
    std::vector<PlainBlock> all(blocks);
    std::vector<std::uint32_t> place_of(logical, ~0u), free, full;  // a place: block times pages of a block plus page
    for (std::uint32_t b = 0; b < blocks; ++b) free.push_back(b);
    std::uint32_t open[2] = {~0u, ~0u};  // of the host, of what is moved; ~0: the next page begins one
    std::uint64_t written[2] = {0, 0};
    Random random(17, 4);
    const auto put = [&](std::uint32_t page, int stream) {
        if (open[stream] == ~0u) {
            open[stream] = free.front();
            free.erase(free.begin());
        }
        ++written[stream];
        if (place_of[page] != ~0u) --all[place_of[page] / pages_per_block].valid;
        PlainBlock& b = all[open[stream]];
        ++b.valid;
        place_of[page] = open[stream] * pages_per_block + static_cast<std::uint32_t>(b.pages.size());
        b.pages.push_back(page);
        if (b.pages.size() != pages_per_block) return;
        full.push_back(open[stream]);
        open[stream] = ~0u;
    };
    const auto collect = [&] {
        std::vector<const PlainBlock*> candidates;
        for (const std::uint32_t b : full) candidates.push_back(&all[b]);
        const std::size_t at = choose(candidates, random);
        const std::uint32_t victim = full[at];
        full.erase(full.begin() + static_cast<std::ptrdiff_t>(at));
        for (std::uint32_t i = 0; i < pages_per_block; ++i)
            if (place_of[all[victim].pages[i]] == victim * pages_per_block + i) put(all[victim].pages[i], 1);
        all[victim] = PlainBlock{};
        free.push_back(victim);
    };
    const auto write = [&](std::uint32_t page) {
        while (open[0] == ~0u && free.size() < 2) collect();
        put(page, 0);
    };
    for (std::uint32_t page = 0; page < logical; ++page) write(page);
    const auto overwrite = [&](double multiples) {
        for (double i = multiples * logical; i > 0; --i) write(static_cast<std::uint32_t>(random.below(logical)));
    };
    overwrite(warm_up);
    written[0] = written[1] = 0;
    overwrite(measured);
    return static_cast<double>(written[0] + written[1]) / static_cast<double>(written[0]);
}

}  // namespace ssdtlm::test
