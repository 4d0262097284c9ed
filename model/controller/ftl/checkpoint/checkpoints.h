// SPDX-License-Identifier: Apache-2.0
// The checkpoints of the map: what the newest complete one is, where the next one goes, what is in it. It keeps the
// tables; when a checkpoint is written, and how its pages get to the flash, is for others to decide (CheckpointWriter).
// The superblocks set apart are written one after the other. A checkpoint has those pages of the map that have changed,
// and its books; pages of older ones stay in use as long as they say what is true. When the room behind would not do
// any more for all pages at once, all are written, and what was in use before is not any more. A page of the newest
// complete checkpoint is never erased.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/checkpoint/checkpoint_books.h"
#include "controller/ftl/checkpoint/checkpoint_layout.h"
#include "controller/ftl/checkpoint/programs_in_flight.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

/// A page of the map as it is to be written.
struct MapPage {
    std::uint32_t index = 0;
    PageContent content;
};

class Checkpoints {
public:
    /// `units`: that the map has, with its translation pages.
    Checkpoints(const CheckpointLayout& layout, const NandGeometry& geometry, std::uint64_t units);

    const CheckpointLayout& layout() const { return layout_; }
    /// Before anything is written: as CheckpointLayout::replace().
    void replace(SuperblockId bad, SuperblockId by) { layout_.replace(bad, by); }
    ProgramsInFlight& in_flight() { return in_flight_; }
    const ProgramsInFlight& in_flight() const { return in_flight_; }
    /// Pages of the map.
    std::uint32_t map_pages() const { return map_pages_; }
    std::uint64_t next_sequence() const { return sequence_ + 1; }

    // --- The newest complete one ---
    const std::optional<CheckpointBooks>& latest() const { return latest_; }
    /// The newest root record says that nothing was written since.
    bool clean() const { return root_.clean; }
    /// After the power was off: what the search has found. `pages`: of that anchor, in use.
    void found(const CheckpointBooks& books, const CheckpointRoot& root, std::uint32_t anchor, std::uint32_t pages);
    /// Number of the page of its root record.
    std::uint64_t root_number() const { return root_number_; }
    void set_root_number(std::uint64_t number) { root_number_ = number; }

    // --- The next one ---
    /// Which translation pages have entries that are newer in the map; before it is said, all may.
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
    /// Whether there is room for so many changed pages of the map besides the books, `book_words` of them.
    Room room(std::size_t changed, std::uint64_t book_words) const;
    /// Precondition: room() has said so of these pages. Its books get the places of the pages.
    Attempt& begin(CheckpointBooks books, std::vector<MapPage> pages);
    Attempt* attempt() { return attempt_ ? &*attempt_ : nullptr; }
    /// It will not be completed.
    void give_up();
    /// A program or the erase of this superblock has failed: it is not used any more in this life of the drive.
    void fail(SuperblockId b);

    // --- Root records ---
    /// Where the next one goes. When `erase` is not kNoSuperblock that one has to be erased first. False: no anchor is
    /// left.
    bool root_place(PageAddress& at, SuperblockId& erase) const;
    /// root_place() is being erased, or taken.
    void root_erased(bool ok);
    void root_taken() { ++root_pages_; }
    /// The attempt's root record is in flash: that is the newest complete checkpoint.
    void complete();
    /// The newest one's, which says that the drive works again.
    PageContent working_root() const;
    void works() { root_.clean = false; }
    /// Precondition (checked): none is being written.
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
