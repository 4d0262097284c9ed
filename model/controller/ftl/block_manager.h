// SPDX-License-Identifier: Apache-2.0
// The life of every flash block: free, open for host or for GC pages, full with programs still running, sealed (a GC
// candidate), victim, and free again. Free blocks are used first-in first-out per plane, which spreads erases evenly
// over the blocks in circulation. No static wear levelling and no bad blocks: data that never changes stays put.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
#include "common/containers/key_table.h"
#include "common/report/error.h"

namespace ssdtlm {

enum class BlockState : std::uint8_t {
    free,
    open_host,  ///< takes host pages
    open_gc,    ///< takes pages moved by GC
    full,       ///< all pages handed out, some still being programmed
    sealed,     ///< all pages programmed: a GC candidate
    victim      ///< being emptied, or waiting for its erase
};
const char* name_of(BlockState state);

struct BlockRecord {
    std::uint32_t valid = 0;          ///< units in use
    std::uint32_t write_pointer = 0;  ///< pages handed out
    std::uint32_t programs = 0;       ///< of those, still being programmed
    BlockId next_free = kNoBlock;
    BlockState state = BlockState::free;
};
static_assert(sizeof(BlockRecord) == 20);

class BlockManager {
public:
    /// All blocks free. `hard_free_blocks`: host pages may open a block only while a plane has more free ones.
    BlockManager(const NandGeometry& geometry, std::uint32_t hard_free_blocks);

    BlockRecord& operator[](BlockId b) { return blocks_[idx(b)]; }
    const BlockRecord& operator[](BlockId b) const { return blocks_[idx(b)]; }
    /// Reads in flight; they hold off the erase.
    std::uint32_t reads(BlockId b) const {
        const Reads* r = reads_.find(idx(b));
        return r == nullptr ? 0 : r->count;
    }
    void read_started(BlockId b) {
        bool fresh = false;
        ++reads_.insert(idx(b), fresh).count;
    }
    /// Precondition (checked): reads(b) > 0.
    void read_finished(BlockId b) {
        Reads* r = reads_.find(idx(b));
        SSDTLM_CHECK(r != nullptr, "read finished that never started");
        if (--r->count == 0) reads_.erase(*r);
    }
    void prefetch(BlockId b) const { __builtin_prefetch(blocks_.data() + idx(b), 1); }

    std::uint32_t free_blocks(PlaneId plane) const { return planes_[idx(plane)].free_count; }
    BlockId open_block(PlaneId plane, BlockState kind) const {
        return kind == BlockState::open_host ? planes_[idx(plane)].open_host : planes_[idx(plane)].open_gc;
    }
    bool can_take_host_page(PlaneId plane) const {
        const Plane& p = planes_[idx(plane)];
        return p.open_host != kNoBlock || p.free_count > hard_free_blocks_;
    }
    /// Hands out the next page of the plane's open host block. Precondition: can_take_host_page(plane).
    PageAddress allocate_host(PlaneId plane) {
        Plane& p = planes_[idx(plane)];
        if (p.open_host == kNoBlock) {
            SSDTLM_CHECK(p.free_count > hard_free_blocks_, "host page from a plane at its hard threshold");
            p.open_host = open(plane, BlockState::open_host);
        }
        return hand_out(plane, p.open_host);
    }
    /// Same for a GC page, which may use the last free block.
    PageAddress allocate_gc(PlaneId plane) {
        Plane& p = planes_[idx(plane)];
        if (p.open_gc == kNoBlock) p.open_gc = open(plane, BlockState::open_gc);
        return hand_out(plane, p.open_gc);
    }
    /// A page handed out has been programmed. true: that was the last of its block, which is sealed now.
    bool page_programmed(BlockId b) {
        BlockRecord& r = blocks_[idx(b)];
        SSDTLM_CHECK(r.programs > 0, "page programmed in block " + std::to_string(idx(b)) + ", where none was running");
        if (--r.programs != 0 || r.state != BlockState::full) return false;
        r.state = BlockState::sealed;
        return true;
    }
    void make_victim(BlockId b);
    /// Victim -> free, behind the other free blocks of its plane.
    void erased(BlockId b);
    /// Same end as `pages` times allocate_host() and page_programmed() on a plane of free blocks; valid counts are the
    /// caller's part.
    void fill_host(PlaneId plane, std::uint64_t pages);

private:
    struct Plane {
        BlockId free_first = kNoBlock, free_last = kNoBlock;
        BlockId open_host = kNoBlock, open_gc = kNoBlock;
        std::uint32_t free_count = 0;
    };
    BlockId open(PlaneId plane, BlockState state);
    void push_free(PlaneId plane, BlockId b);
    PageAddress hand_out(PlaneId plane, BlockId& open_block) {
        const BlockId b = open_block;
        BlockRecord& r = blocks_[idx(b)];
        const PageAddress page{plane, idx(b) - idx(plane) * geometry_.blocks_per_plane, r.write_pointer};
        ++r.programs;
        if (++r.write_pointer == geometry_.pages_per_block) {
            r.state = BlockState::full;
            open_block = kNoBlock;
        }
        return page;
    }
    [[noreturn]] void refuse(BlockId b, const char* what) const;

    const NandGeometry geometry_;
    const std::uint32_t hard_free_blocks_;
    std::vector<BlockRecord> blocks_;
    // Of the blocks that are being read only: a counter in each record would be a cache miss in every host read.
    struct Reads {
        std::uint32_t key = 0;  ///< the block
        std::uint32_t count = 0;
    };
    KeyTable<Reads, 256> reads_;
    std::vector<Plane> planes_;
};

}  // namespace ssdtlm
