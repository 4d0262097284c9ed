// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/block_manager.h"

#include <string>

namespace ssdtlm {

const char* name_of(BlockState state) {
    switch (state) {
        case BlockState::free:
            return "free";
        case BlockState::open_host:
            return "open for host pages";
        case BlockState::open_gc:
            return "open for GC pages";
        case BlockState::full:
            return "full";
        case BlockState::sealed:
            return "sealed";
        case BlockState::victim:
            return "victim";
    }
    return "?";
}

BlockManager::BlockManager(const SuperblockShape& shape, std::uint32_t hard_free_blocks)
    : shape_(shape),
      hard_free_blocks_(hard_free_blocks),
      blocks_(shape.superblocks()),
      groups_(shape.groups()) {
    for (std::uint32_t b = 0; b < shape.superblocks(); ++b) push_free(shape.group_of(SuperblockId{b}), SuperblockId{b});
}

void BlockManager::push_free(GroupId group, SuperblockId b) {
    Group& g = groups_[idx(group)];
    blocks_[idx(b)].next_free = kNoSuperblock;
    (g.free_last == kNoSuperblock ? g.free_first : blocks_[idx(g.free_last)].next_free) = b;
    g.free_last = b;
    ++g.free_count;
}

SuperblockId BlockManager::open(GroupId group, BlockState state) {
    Group& g = groups_[idx(group)];
    if (g.free_count == 0)
        panic("BlockManager", "group " + std::to_string(idx(group)) + " has no free block left for a page " +
                                  (state == BlockState::open_gc ? "moved by GC: more victims at once than the hard "
                                                                  "threshold (" +
                                                                      std::to_string(hard_free_blocks_) + ")"
                                                                : std::string("of the host")));
    const SuperblockId b = g.free_first;
    g.free_first = blocks_[idx(b)].next_free;
    if (g.free_first == kNoSuperblock) g.free_last = kNoSuperblock;
    --g.free_count;
    blocks_[idx(b)].next_free = kNoSuperblock;
    blocks_[idx(b)].state = state;
    return b;
}

void BlockManager::make_victim(SuperblockId b) {
    if (blocks_[idx(b)].state != BlockState::sealed) refuse(b, "chosen as victim");
    blocks_[idx(b)].state = BlockState::victim;
}

void BlockManager::erased(SuperblockId b) {
    BlockRecord& r = blocks_[idx(b)];
    if (r.state != BlockState::victim || r.valid != 0 || reads(b) != 0 || r.programs != 0) refuse(b, "erased");
    r.write_pointer = 0;
    r.state = BlockState::free;
    push_free(shape_.group_of(b), b);
}

void BlockManager::fill_host(GroupId group, std::uint64_t pages) {
    Group& g = groups_[idx(group)];
    while (pages != 0) {
        SSDTLM_CHECK(g.open_host == kNoSuperblock && g.free_count > hard_free_blocks_,
                     "group cannot take so many host pages");
        g.open_host = open(group, BlockState::open_host);
        BlockRecord& r = blocks_[idx(g.open_host)];
        if (pages < shape_.pages()) {
            r.write_pointer = static_cast<std::uint32_t>(pages);
            return;
        }
        r.write_pointer = shape_.pages();
        r.state = BlockState::sealed;
        g.open_host = kNoSuperblock;
        pages -= shape_.pages();
    }
}

void BlockManager::refuse(SuperblockId b, const char* what) const {
    const BlockRecord& r = blocks_[idx(b)];
    panic("BlockManager", "superblock " + std::to_string(idx(b)) + " " + what + " while it is " + name_of(r.state) +
                              " with " + std::to_string(r.valid) + " valid units, " + std::to_string(r.programs) +
                              " programs and " + std::to_string(reads(b)) + " reads in flight");
}

}  // namespace ssdtlm
