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

BlockManager::BlockManager(const NandGeometry& geometry, std::uint32_t hard_free_blocks)
    : geometry_(geometry),
      hard_free_blocks_(hard_free_blocks),
      blocks_(geometry.blocks()),
      planes_(geometry.planes()) {
    for (std::uint32_t b = 0; b < geometry.blocks(); ++b) push_free(geometry.plane_of(BlockId{b}), BlockId{b});
}

void BlockManager::push_free(PlaneId plane, BlockId b) {
    Plane& p = planes_[idx(plane)];
    blocks_[idx(b)].next_free = kNoBlock;
    (p.free_last == kNoBlock ? p.free_first : blocks_[idx(p.free_last)].next_free) = b;
    p.free_last = b;
    ++p.free_count;
}

BlockId BlockManager::open(PlaneId plane, BlockState state) {
    Plane& p = planes_[idx(plane)];
    if (p.free_count == 0)
        panic("BlockManager", "plane " + std::to_string(idx(plane)) + " has no free block left for a page " +
                                  (state == BlockState::open_gc ? "moved by GC: more victims at once than the hard "
                                                                  "threshold (" +
                                                                      std::to_string(hard_free_blocks_) + ")"
                                                                : std::string("of the host")));
    const BlockId b = p.free_first;
    p.free_first = blocks_[idx(b)].next_free;
    if (p.free_first == kNoBlock) p.free_last = kNoBlock;
    --p.free_count;
    blocks_[idx(b)].next_free = kNoBlock;
    blocks_[idx(b)].state = state;
    return b;
}

void BlockManager::make_victim(BlockId b) {
    if (blocks_[idx(b)].state != BlockState::sealed) refuse(b, "chosen as victim");
    blocks_[idx(b)].state = BlockState::victim;
}

void BlockManager::erased(BlockId b) {
    BlockRecord& r = blocks_[idx(b)];
    if (r.state != BlockState::victim || r.valid != 0 || reads(b) != 0 || r.programs != 0) refuse(b, "erased");
    r.write_pointer = 0;
    r.state = BlockState::free;
    push_free(geometry_.plane_of(b), b);
}

void BlockManager::fill_host(PlaneId plane, std::uint64_t pages) {
    Plane& p = planes_[idx(plane)];
    while (pages != 0) {
        SSDTLM_CHECK(p.open_host == kNoBlock && p.free_count > hard_free_blocks_,
                     "plane cannot take so many host pages");
        p.open_host = open(plane, BlockState::open_host);
        BlockRecord& r = blocks_[idx(p.open_host)];
        if (pages < geometry_.pages_per_block) {
            r.write_pointer = static_cast<std::uint32_t>(pages);
            return;
        }
        r.write_pointer = geometry_.pages_per_block;
        r.state = BlockState::sealed;
        p.open_host = kNoBlock;
        pages -= geometry_.pages_per_block;
    }
}

void BlockManager::refuse(BlockId b, const char* what) const {
    const BlockRecord& r = blocks_[idx(b)];
    panic("BlockManager", "block " + std::to_string(idx(b)) + " " + what + " while it is " + name_of(r.state) +
                              " with " + std::to_string(r.valid) + " valid units, " + std::to_string(r.programs) +
                              " programs and " + std::to_string(reads(b)) + " reads in flight");
}

}  // namespace ssdtlm
