// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoints.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

Checkpoints::Checkpoints(const CheckpointLayout& layout, const NandGeometry& geometry, std::uint64_t units)
    : layout_(layout),
      geometry_(geometry),
      map_pages_(layout.map_pages(units)),
      in_flight_(geometry, layout.shape().superblocks(), SpareCodec(units)),
      parts_(layout.superblocks() - CheckpointLayout::kAnchors) {}

void Checkpoints::found(const CheckpointBooks& books, const CheckpointRoot& root, std::uint32_t anchor,
                        std::uint32_t pages) {
    latest_ = books;
    root_ = root;
    sequence_ = root.sequence;
    anchor_ = anchor;
    root_pages_ = pages;
    count_live();
}

std::uint32_t Checkpoints::part_of(const PageAddress& a) const {
    const SuperblockId b = layout_.shape().superblock_of(geometry_.block_of(a));
    for (std::uint32_t i = 0; i < parts_.size(); ++i)
        if (layout_.superblock(CheckpointLayout::kAnchors + i) == b) return i;
    panic("Checkpoints",
          "a page of a checkpoint in superblock " + std::to_string(idx(b)) + ", which is not set apart for that");
}

void Checkpoints::count_live() {
    for (Part& p : parts_) p.live = 0;
    for (const PageAddress& a : latest_->map) ++parts_[part_of(a)].live;
    for (const PageAddress& a : root_.books) ++parts_[part_of(a)].live;
}

std::uint32_t Checkpoints::free_parts() const {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < parts_.size(); ++i) n += is_free(i);
    return n;
}

Checkpoints::Room Checkpoints::room(std::size_t changed, std::uint64_t book_words) const {
    const std::uint32_t books = layout_.pages_of_words(book_words);
    if (CheckpointLayout::kRootWords + books > layout_.words_per_page()) return Room::none;
    const auto parts_for = [this](std::uint64_t pages) {
        const std::uint64_t in_open = room_in_open();
        return static_cast<std::uint32_t>(div_ceil(pages - std::min(pages, in_open), pages_each()));
    };
    const std::uint32_t free = free_parts(), all = parts_for(std::uint64_t{map_pages_} + books);
    const auto whole = static_cast<std::uint32_t>(div_ceil(std::uint64_t{map_pages_} + books, pages_each()));
    if (latest_ && parts_for(changed + books) + whole <= free) return Room::for_changes;
    return all <= free ? Room::for_all : Room::none;
}

Checkpoints::Attempt& Checkpoints::begin(CheckpointBooks books, std::vector<MapPage> map) {
    SSDTLM_CHECK(!attempt_, "a checkpoint is begun while another is being written");
    attempt_.emplace();
    Attempt& a = *attempt_;
    books.sequence = ++sequence_;
    if (latest_) books.map = latest_->map;
    books.map.resize(map_pages_);
    const auto place = [&] {
        if (open_ != kNone && parts_[open_].used == pages_each()) open_ = kNone;
        if (open_ == kNone) {
            while (!is_free(next_part_)) next_part_ = (next_part_ + 1) % static_cast<std::uint32_t>(parts_.size());
            open_ = next_part_;
            next_part_ = (next_part_ + 1) % static_cast<std::uint32_t>(parts_.size());
            parts_[open_].used = 0;
            a.erases.push_back(layout_.superblock(CheckpointLayout::kAnchors + open_));
        }
        return layout_.shape().page(layout_.superblock(CheckpointLayout::kAnchors + open_), parts_[open_].used++);
    };
    for (MapPage& page : map) {
        const PageAddress at = place();
        books.map[page.index] = at;
        a.map.push_back(page.index);
        a.pages.push_back({at, std::move(page.content)});
    }
    const std::vector<std::uint64_t> words = books.encode();
    a.root = {books.sequence, books.number, books.clean, words.size(), {}};
    for (std::size_t first = 0; first < words.size(); first += layout_.payload_words()) {
        const std::size_t end = std::min(words.size(), first + layout_.payload_words());
        PageContent content =
            checkpoint_page(CheckpointPage::books, static_cast<std::uint32_t>(a.root.books.size()), books.sequence);
        content.insert(content.end(), words.begin() + static_cast<std::ptrdiff_t>(first),
                       words.begin() + static_cast<std::ptrdiff_t>(end));
        a.root.books.push_back(place());
        a.pages.push_back({a.root.books.back(), std::move(content)});
    }
    a.books = std::move(books);
    return a;
}

/// Some of its places were not programmed: pages of a block are programmed in order.
void Checkpoints::give_up() {
    attempt_.reset();
    open_ = kNone;
}

void Checkpoints::fail(SuperblockId b) {
    for (std::uint32_t i = 0; i < parts_.size(); ++i)
        if (layout_.superblock(CheckpointLayout::kAnchors + i) == b) parts_[i].bad = true;
}

bool Checkpoints::root_place(PageAddress& at, SuperblockId& erase) const {
    erase = kNoSuperblock;
    if (anchor_ != kNone && root_pages_ < layout_.anchor_pages()) {
        at = layout_.anchor_page(anchor_, root_pages_);
        return true;
    }
    const std::uint32_t other = anchor_ == kNone ? anchor_bad_[0] : 1 - anchor_;
    if (anchor_bad_[other]) return false;
    erase = layout_.superblock(other);
    return true;
}

void Checkpoints::root_erased(bool ok) {
    const std::uint32_t other = anchor_ == kNone ? anchor_bad_[0] : 1 - anchor_;
    if (!ok) {
        anchor_bad_[other] = true;
        return;
    }
    anchor_ = other;
    root_pages_ = 0;
}

void Checkpoints::complete() {
    latest_ = std::move(attempt_->books);
    root_ = std::move(attempt_->root);
    attempt_.reset();
    count_live();
}

PageContent Checkpoints::working_root() const {
    CheckpointRoot root = root_;
    root.clean = false;
    return root.encode();
}

void Checkpoints::state(Snapshot& s) {
    SSDTLM_CHECK(!attempt_ && in_flight_.none(), "a snapshot while a checkpoint is being written");
    bool is_any = latest_.has_value();
    s(is_any);
    if (is_any) {
        std::vector<std::uint64_t> books = s.reads() ? std::vector<std::uint64_t>() : latest_->encode();
        s(books);
        if (s.reads() && !(latest_ = CheckpointBooks::decode(books)))
            s.refuse("books of a checkpoint that say nothing");
    }
    s(root_.sequence, root_.number, root_.clean, root_.words, root_.books, root_number_, sequence_);
    for (Part& p : parts_) s(p.used, p.live, p.bad);
    s(open_, next_part_, anchor_, root_pages_);
    for (bool& bad : anchor_bad_) s(bad);
    in_flight_.state(s);
    if (s.reads()) check_read(s);
}

void Checkpoints::check_read(Snapshot& s) {
    const auto exists = [&](const PageAddress& a) {
        s.require(idx(a.plane) < geometry_.planes() && a.block < geometry_.blocks_per_plane &&
                      a.page < geometry_.pages_per_block,
                  "a page of a checkpoint that there is not");
        part_of(a);
    };
    if (latest_) {
        const SuperblockShape& shape = layout_.shape();
        s.require(latest_->superblocks.size() == shape.superblocks() && latest_->blocks.size() == geometry_.blocks() &&
                      latest_->groups.size() == shape.groups() && latest_->map.size() == map_pages_,
                  "books of a checkpoint of another drive");
        for (const PageAddress& a : latest_->map) exists(a);
        for (const PageAddress& a : root_.books) exists(a);
        std::vector<Part> said = parts_;
        count_live();
        for (std::size_t i = 0; i < parts_.size(); ++i)
            s.require(said[i].live == parts_[i].live, "pages of a checkpoint that are not counted");
    }
    for (const Part& p : parts_) s.require(p.used <= pages_each(), "more pages than a superblock has");
    s.require((open_ == kNone || open_ < parts_.size()) && next_part_ < parts_.size() &&
                  (anchor_ == kNone || anchor_ < CheckpointLayout::kAnchors),
              "a superblock for checkpoints that there is not");
    s.require(root_pages_ <= layout_.anchor_pages() && root_.sequence <= sequence_, "a root record that there is not");
}

}  // namespace ssdtlm
