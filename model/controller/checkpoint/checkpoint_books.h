// SPDX-License-Identifier: Apache-2.0
// What a checkpoint says, and how it is stored in flash pages. Pages of the map hold its entries in order; where the
// map is on the flash, the entries that locate its translation pages come last. Pages of the books hold the
// superblocks, the blocks that have failed, the journal's pages, and where the pages of the map are. A root record says
// where the books are and makes the checkpoint complete. All are in words of 8 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/address/geometry.h"
#include "controller/checkpoint/checkpoint_layout.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

enum class CheckpointPage : std::uint8_t { map = 1, books, root };

struct CheckpointBooks {
    struct Superblock {
        BlockState state = BlockState::free;
        std::uint8_t stream = 0;
        bool cut = false;
        bool bad = false;
        std::uint32_t write_pointer = 0;
        std::uint64_t last = 0;       ///< number of the page in it that took its place last
        std::uint32_t free_turn = 0;  ///< of the free ones of its group, from 0
    };
    struct Block {
        std::uint32_t next_page = 0;  ///< pages from here on took their places later
        std::uint32_t erases = 0;
    };
    struct Group {
        SuperblockId begun = kNoSuperblock;           ///< a victim that preconditioning left half emptied
        std::vector<std::uint32_t> remembered = {0};  ///< by features that do (../ftl/feature.h); one at least
    };
    std::uint64_t sequence = 0;  ///< of checkpoints, from 1
    std::uint64_t number = 0;    ///< all pages and entries of the journal up to it are in what the checkpoint says
    bool clean = false;          ///< nothing was written since
    bool read_only = false;
    std::vector<Superblock> superblocks;
    std::vector<Block> blocks;
    std::vector<Group> groups;
    /// Pages of the journal that the map's entries name, from 1 on. Number 0 stands for a page that was not placed yet.
    std::vector<PageAddress> note_pages;
    std::vector<std::pair<SuperblockId, std::uint32_t>> failed;  ///< and the page of the journal that says so
    std::vector<PageAddress> map;                                ///< where its pages are
    /// One bit for each unit of a feature's own, as a translation page is one (Ftl::own_unit()). Set: it says other
    /// things than the checkpoint.
    std::vector<std::uint64_t> dirty;
    void set_dirty(std::uint32_t page) { dirty[page / 64] |= std::uint64_t{1} << page % 64; }
    bool is_dirty(std::uint32_t page) const { return (dirty[page / 64] >> page % 64 & 1) != 0; }

    static std::uint64_t words_of(const SuperblockShape& shape, const NandGeometry& g, std::uint64_t map_pages,
                                  std::uint64_t note_pages, std::uint64_t own_units);
    std::vector<std::uint64_t> encode() const;
    static std::optional<CheckpointBooks> decode(const std::vector<std::uint64_t>& words);
};

/// The root record of the newest complete checkpoint.
struct CheckpointRoot {
    std::uint64_t sequence = 0;
    std::uint64_t number = 0;
    bool clean = false;              ///< and the drive has not worked since
    std::uint64_t words = 0;         ///< of the books
    std::vector<PageAddress> books;  ///< where they are
    PageContent encode() const;
    /// Returns nothing if the content is not a root record.
    static std::optional<CheckpointRoot> decode(const PageContent* content);
};

/// An empty page of a checkpoint with its header. `index`: its number within its kind.
PageContent checkpoint_page(CheckpointPage kind, std::uint32_t index, std::uint64_t sequence);
/// Whether the content is that page, of a checkpoint up to `sequence`.
bool is_checkpoint_page(const PageContent* content, CheckpointPage kind, std::uint32_t index, std::uint64_t sequence);

std::uint64_t pack_place(const PageAddress& a);
PageAddress unpack_place(std::uint64_t word);

}  // namespace ssdtlm
