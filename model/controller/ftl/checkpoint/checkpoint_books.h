// SPDX-License-Identifier: Apache-2.0
// What a checkpoint says, and how it stands in flash pages: pages of the map (its entries in order; where it is on the
// flash, those that say where its translation pages are come last), pages of the books (the superblocks, the blocks
// that have failed, the journal's pages, where the pages of the map are), and a root record that says where the books
// are and makes the checkpoint a complete one. All in words of 8 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/checkpoint/checkpoint_layout.h"
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
        std::vector<std::uint32_t> remembered = {0};  ///< by features that do (feature.h); one at least
    };
    std::uint64_t sequence = 0;  ///< of checkpoints, from 1
    std::uint64_t number = 0;    ///< all pages and entries of the journal up to it are in what the checkpoint says
    bool clean = false;          ///< nothing was written since
    bool read_only = false;
    std::vector<Superblock> superblocks;
    std::vector<Block> blocks;
    std::vector<Group> groups;
    std::vector<PageAddress>
        journal;  ///< pages that the map's entries name: 1 is the first, 0 one that was not placed yet
    std::vector<std::pair<SuperblockId, std::uint32_t>> failed;  ///< and the page of the journal that says so
    std::vector<PageAddress> map;                                ///< where its pages are
    /// A bit for each translation page, where the map is on the flash: it says other things than the checkpoint.
    std::vector<std::uint64_t> dirty;
    void set_dirty(std::uint32_t page) { dirty[page / 64] |= std::uint64_t{1} << page % 64; }
    bool is_dirty(std::uint32_t page) const { return (dirty[page / 64] >> page % 64 & 1) != 0; }

    static std::uint64_t words_of(const SuperblockShape& shape, const NandGeometry& g, std::uint64_t map_pages,
                                  std::uint64_t journal_pages, std::uint64_t translation_pages);
    std::vector<std::uint64_t> encode() const;
    static std::optional<CheckpointBooks> decode(const std::vector<std::uint64_t>& words);
};

/// Of the newest complete checkpoint.
struct CheckpointRoot {
    std::uint64_t sequence = 0;
    std::uint64_t number = 0;
    bool clean = false;              ///< and the drive has not worked since
    std::uint64_t words = 0;         ///< of the books
    std::vector<PageAddress> books;  ///< where they are
    PageContent encode() const;
    /// None: it is not a root record.
    static std::optional<CheckpointRoot> decode(const PageContent* content);
};

/// A page with its header; `first` and `count`: the words that go into it.
PageContent checkpoint_page(CheckpointPage kind, std::uint32_t index, std::uint64_t sequence);
/// Whether it is that page, of a checkpoint up to `sequence`.
bool is_checkpoint_page(const PageContent* content, CheckpointPage kind, std::uint32_t index, std::uint64_t sequence);

std::uint64_t pack_place(const PageAddress& a);
PageAddress unpack_place(std::uint64_t word);

}  // namespace ssdtlm
