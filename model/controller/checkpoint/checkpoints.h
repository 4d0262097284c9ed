// SPDX-License-Identifier: Apache-2.0
// The checkpoints of the map: which is the newest complete one, where the next one goes, and what is in it. This class
// keeps the tables. CheckpointWriter decides when a checkpoint is written and how its pages get to the flash. The
// superblocks set apart are written one after the other. A checkpoint has the pages of the map that have changed, and
// its books. Pages of older checkpoints stay in use as long as they are true. When the room left would soon be too
// small for all pages at once, all pages are written, and older ones go out of use. A page of the newest complete
// checkpoint is never erased.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/checkpoint/checkpoint_books.h"
#include "controller/checkpoint/checkpoint_layout.h"
#include "controller/checkpoint/programs_in_flight.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

/// A page of the map as it is to be written.
struct MapPage {
    std::uint32_t index = 0;
    PageContent content;
};

class Checkpoints {
public:
    /// `units`: units of the map, with its translation pages.
    Checkpoints(const CheckpointLayout& layout, const NandGeometry& geometry, std::uint64_t units);

    const CheckpointLayout& layout() const { return layout_; }
    /// As CheckpointLayout::replace(). Call it before anything is written.
    void replace(SuperblockId bad, SuperblockId by) { layout_.replace(bad, by); }
    ProgramsInFlight& in_flight() { return in_flight_; }
    const ProgramsInFlight& in_flight() const { return in_flight_; }
    /// Number of pages of the map.
    std::uint32_t map_pages() const { return map_pages_; }
    std::uint64_t next_sequence() const { return sequence_ + 1; }

    // --- The newest complete one ---
    const std::optional<CheckpointBooks>& latest() const { return latest_; }
    /// True: the newest root record says that nothing was written since.
    bool clean() const { return root_.clean; }
    /// Called after a loss of power with what the search has found. `pages`: pages in use of that anchor.
    void found(const CheckpointBooks& books, const CheckpointRoot& root, std::uint32_t anchor, std::uint32_t pages);
    /// Number of the page that holds the newest root record.
    std::uint64_t root_number() const { return root_number_; }
    void set_root_number(std::uint64_t number) { root_number_ = number; }

    // --- The next one ---
    /// Sets the function that tells whether a translation page has newer entries in the map. Until then, every page
    /// counts as dirty.
    void set_dirty(std::function<bool(std::uint32_t)> is_dirty) { is_dirty_ = std::move(is_dirty); }
    bool is_dirty(std::uint32_t page) const { return !is_dirty_ || is_dirty_(page); }
    struct Page {
        PageAddress at;
        PageContent content;
    };
    struct Attempt {
        std::vector<SuperblockId> erases;  ///< of these, all before the first program
        std::vector<Page> pages;           ///< in this order
        std::vector<std::uint32_t> map;    ///< those of the map among them, by number
        CheckpointBooks books;
        CheckpointRoot root;
    };
    enum class Room : std::uint8_t { for_changes, for_all, none };
    /// Whether there is room for `changed` pages of the map and for the books of `book_words` words.
    Room room(std::size_t changed, std::uint64_t book_words) const;
    /// Begins an attempt with these pages. Its books get the places of the pages. Precondition: room() has said that
    /// they fit.
    Attempt& begin(CheckpointBooks books, std::vector<MapPage> pages);
    Attempt* attempt() { return attempt_ ? &*attempt_ : nullptr; }
    /// The attempt will not be completed.
    void give_up();
    /// A program or the erase of this superblock has failed. It is not used any more in this life of the drive.
    void fail(SuperblockId b);

    // --- Root records ---
    /// Where the next root record goes. If `erase` is not kNoSuperblock, that superblock must be erased first. False:
    /// no anchor is left.
    bool root_place(PageAddress& at, SuperblockId& erase) const;
    /// root_erased(): the erase of root_place()'s superblock has ended; `ok`: without an error. root_taken(): the page
    /// at root_place() is used.
    void root_erased(bool ok);
    void root_taken() { ++root_pages_; }
    /// The attempt's root record is in flash. The attempt is now the newest complete checkpoint.
    void complete();
    /// The newest root record again, with the statement that the drive works again.
    PageContent working_root() const;
    void works() { root_.clean = false; }
    /// Reads or writes the state. Precondition (checked): no checkpoint is being written.
    void state(Snapshot& s);

private:
    struct Part {
        std::uint32_t used = 0;  ///< pages
        std::uint32_t live = 0;  ///< of the newest complete checkpoint
        bool bad = false;
    };
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::uint32_t pages_each() const { return layout_.shape().pages(); }
    bool is_free(std::uint32_t part) const { return part != open_ && parts_[part].live == 0 && !parts_[part].bad; }
    std::uint32_t free_parts() const;
    std::uint32_t room_in_open() const { return open_ == kNone ? 0 : pages_each() - parts_[open_].used; }
    std::uint32_t part_of(const PageAddress& a) const;
    void check_read(Snapshot& s);
    void count_live();

    CheckpointLayout layout_;
    const NandGeometry geometry_;
    const std::uint32_t map_pages_;
    ProgramsInFlight in_flight_;
    std::function<bool(std::uint32_t)> is_dirty_;
    std::optional<CheckpointBooks> latest_;
    CheckpointRoot root_;
    std::uint64_t root_number_ = 0;
    std::optional<Attempt> attempt_;
    std::uint64_t sequence_ = 0;
    std::vector<Part> parts_;       // of the superblocks behind the anchors
    std::uint32_t open_ = kNone;    // is written
    std::uint32_t next_part_ = 0;   // and this one after it, if it is free
    std::uint32_t anchor_ = kNone;  // takes root records
    std::uint32_t root_pages_ = 0;  // of it, in use
    bool anchor_bad_[CheckpointLayout::kAnchors] = {};
};

}  // namespace ssdtlm
