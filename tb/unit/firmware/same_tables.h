// SPDX-License-Identifier: Apache-2.0
// What a drive knows before a shutdown and what it finds at the next start.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/ftl.h"

namespace ssdtlm {

/// Everything that the tables of a drive say, before a clean start and after it.
inline void expect_same_tables(const Ftl& was, const Ftl& is, int cut) {
    SCOPED_TRACE("clean start, cut " + std::to_string(cut));
    ASSERT_EQ(was.mapped_units(), is.mapped_units());
    for (std::uint32_t n = 0; n < was.logical_units(); ++n)
        ASSERT_EQ(was.lookup(Lpa{n}), is.lookup(Lpa{n})) << "unit " << n;
    for (std::uint32_t n = 0; n < was.shape().superblocks(); ++n) {
        const BlockRecord &a = was.superblock(SuperblockId{n}), &b = is.superblock(SuperblockId{n});
        ASSERT_EQ(a.state, b.state) << "superblock " << n << ", " << name_of(a.state) << ", " << name_of(b.state);
        ASSERT_EQ(a.valid, b.valid) << "superblock " << n;
        ASSERT_EQ(a.write_pointer, b.write_pointer) << "superblock " << n;
        ASSERT_TRUE(a.state != BlockState::free || a.next_free == b.next_free) << "superblock " << n;
        ASSERT_EQ(a.bad, b.bad) << "superblock " << n;
        ASSERT_EQ(a.cut, b.cut) << "superblock " << n;
        ASSERT_EQ(was.erases(SuperblockId{n}), is.erases(SuperblockId{n})) << "superblock " << n;
        const CheckpointBooks& books = *checkpoints_of(is)->latest();
        const BlockId first = is.shape().block(SuperblockId{n}, 0);
        ASSERT_TRUE(a.state == BlockState::set_apart || books.blocks[idx(first)].erases == was.erases(SuperblockId{n}));
    }
    for (std::uint32_t g = 0; g < was.shape().groups(); ++g) {
        ASSERT_EQ(was.free_blocks(GroupId{g}), is.free_blocks(GroupId{g}));
        ASSERT_EQ(was.takes_host_pages(GroupId{g}), is.takes_host_pages(GroupId{g}));
    }
    for (std::uint32_t p = 0; p < was.own_units(); ++p)
        ASSERT_EQ(was.lookup(was.own_unit(p)), is.lookup(is.own_unit(p))) << "translation page " << p;
    ASSERT_EQ(was.ragged_groups(), is.ragged_groups());
    ASSERT_EQ(was.media().blocks_retired, is.media().blocks_retired);
    ASSERT_EQ(was.media().available_spare, is.media().available_spare);
}

}  // namespace ssdtlm
