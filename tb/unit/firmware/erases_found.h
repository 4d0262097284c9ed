// SPDX-License-Identifier: Apache-2.0
// How often blocks were erased, as a firmware knows it after a loss of power, against the flash.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/ftl.h"

namespace ssdtlm {

struct ErasesFound {
    std::uint64_t read = 0, supposed = 0;  ///< superblocks, over all starts
    std::uint32_t furthest = 0;            ///< from the truth
    std::vector<std::uint32_t> believed;   ///< before the loss

    void note(const Ftl& ftl) {
        believed.clear();
        for (std::uint32_t n = 0; n < ftl.shape().superblocks(); ++n) believed.push_back(ftl.erases(SuperblockId{n}));
    }
    /// Of a block with a readable first page it is what was known before; what is supposed without a checkpoint is
    /// between what others of the group have.
    void compare(const Ftl& ftl, const SpareArea& flash) {
        const SuperblockShape& shape = ftl.shape();
        for (std::uint32_t group = 0; group < shape.groups(); ++group) {
            std::vector<SuperblockId> others;
            std::uint32_t least = ~0u, most = 0;
            for (std::uint32_t n = group * shape.blocks_per_group(); n < (group + 1) * shape.blocks_per_group(); ++n) {
                const SuperblockId b{n};
                const BlockState state = ftl.superblock(b).state;
                if (state == BlockState::set_apart || state == BlockState::spare || state == BlockState::retired)
                    continue;
                const BlockId first = shape.block(b, 0);
                const std::uint32_t is = ftl.erases(b), was = flash.erase_count(first);
                furthest = std::max(furthest, is < was ? was - is : is - was);
                if (flash.next_page(first) == 0 || flash.at(ftl.geometry().ppa_of(shape.page(b, 0), 0)) == kTorn) {
                    others.push_back(b);
                    continue;
                }
                ASSERT_EQ(is, believed[n]) << "superblock " << n;
                ++read;
                least = std::min(least, is);
                most = std::max(most, is);
            }
            supposed += others.size();
            if (checkpoints_of(ftl) != nullptr || least > most) continue;
            for (const SuperblockId b : others)
                ASSERT_TRUE(ftl.erases(b) >= least && ftl.erases(b) <= most) << "superblock " << idx(b);
        }
    }
};

}  // namespace ssdtlm
