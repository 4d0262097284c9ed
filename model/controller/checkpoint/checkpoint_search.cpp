// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoint_search.h"

#include <algorithm>
#include <utility>

namespace ssdtlm {

CheckpointSearch::CheckpointSearch(const MountPeers& peers, const CheckpointLayout& layout, std::uint32_t clean_from)
    : peers_(peers),
      layout_(layout),
      clean_from_(clean_from),
      readers_(std::size_t{peers.geometry.dies()} * peers.reads_per_die),
      left_(peers.geometry.dies()) {
    for (FlashTransaction& reader : readers_) reader.then = Then::to<&CheckpointSearch::page_read>(this, reader);
    for (std::uint32_t i = 0; i < CheckpointLayout::kAnchors; ++i) {
        anchors_[i].high = layout_.anchor_pages();
        anchors_[i].txn.then = Then::to<&CheckpointSearch::anchor_read>(this, anchors_[i]);
    }
}

void CheckpointSearch::start(std::function<void()> done) {
    done_ = std::move(done);
    at_work_ = 1;
    step(anchors_[0]);
}

void CheckpointSearch::read(FlashTransaction& txn, bool whole) {
    const NandGeometry& g = peers_.geometry;
    txn.op = FlashOp::read;
    txn.cls = FlashClass::mapping_read;
    txn.die = g.die_of(txn.address.plane);
    txn.path = nullptr;
    txn.spare_only = !whole;
    txn.data_bytes = whole ? g.page_bytes : std::clamp<std::uint32_t>(g.spare_bytes, 1, g.page_bytes);
    peers_.flash.submit(txn);
}

void CheckpointSearch::anchor_read(Anchor& a) {
    ++reads_;
    ++on_core_;
    peers_.cores.run(idx(a.txn.die), peers_.page_cycles, CoreStep::mount,
                     Then::to<&CheckpointSearch::look_at_anchor>(this, a));
}

// --- The root record -------------------------------------------------------------------------------------------------

/// Pages are in use up to some page, torn ones among them.
void CheckpointSearch::step(Anchor& a) {
    const auto of = static_cast<std::uint32_t>(&a - anchors_);
    if (a.low != a.high) {
        a.txn.address = layout_.anchor_page(of, a.low + (a.high - a.low) / 2);
        return read(a.txn, false);
    }
    if (!a.whole) {
        a.whole = true;
        a.used = a.low;
    }
    if (a.low == 0) return anchor_done(a);
    a.txn.address = layout_.anchor_page(of, a.low - 1);
    read(a.txn, true);
}

void CheckpointSearch::look_at_anchor(Anchor& a) {
    --on_core_;
    if (a.whole) {
        a.root = CheckpointRoot::decode(peers_.spare.content(a.txn.address));
        if (a.root) {
            a.number = peers_.spare.record(a.txn.address).number;
            return anchor_done(a);
        }
        a.high = --a.low;
        return step(a);
    }
    const std::uint32_t middle = a.low + (a.high - a.low) / 2;
    const bool erased = a.txn.status.result == FlashResult::ok && a.txn.spare[0] == kErased;
    (erased ? a.high : a.low) = erased ? middle : middle + 1;
    step(a);
}

void CheckpointSearch::anchor_done(const Anchor& anchor) {
    const std::ptrdiff_t next = &anchor - anchors_ + 1;
    if (next != CheckpointLayout::kAnchors) return step(anchors_[next]);
    at_work_ = 0;
    const Anchor* newest = nullptr;
    for (const Anchor& a : anchors_)
        if (a.root && (newest == nullptr || a.number > newest->number)) newest = &a;
    if (newest == nullptr) return end();
    found_.emplace();
    found_->root = *newest->root;
    root_number_ = newest->number;
    found_->anchor = static_cast<std::uint32_t>(newest - anchors_);
    found_->anchor_pages = newest->used;
    read_all(found_->root.books);
}

// --- Its pages -------------------------------------------------------------------------------------------------------

void CheckpointSearch::read_all(const std::vector<PageAddress>& pages) {
    for (auto p = pages.rbegin(); p != pages.rend(); ++p) left_[idx(peers_.geometry.die_of(p->plane))].push_back(*p);
    std::vector<FlashTransaction*> first;
    for (std::size_t i = 0; i < readers_.size(); ++i) {
        readers_[i].die = DieId{static_cast<std::uint32_t>(i / peers_.reads_per_die)};
        if (next_page(readers_[i])) first.push_back(&readers_[i]);
    }
    at_work_ = static_cast<std::uint32_t>(first.size());
    for (FlashTransaction* txn : first) read(*txn, true);
}

bool CheckpointSearch::next_page(FlashTransaction& txn) {
    std::vector<PageAddress>& left = left_[idx(txn.die)];
    if (left.empty()) return false;
    txn.address = left.back();
    left.pop_back();
    return true;
}

void CheckpointSearch::page_read(FlashTransaction& reader) {
    ++reads_;
    ++on_core_;
    peers_.cores.run(idx(reader.die), peers_.page_cycles, CoreStep::mount,
                     Then::to<&CheckpointSearch::go_on>(this, reader));
}

void CheckpointSearch::go_on(FlashTransaction& reader) {
    --on_core_;
    if (next_page(reader)) return read(reader, true);
    if (--at_work_ == 0) pages_done();
}

void CheckpointSearch::pages_done() {
    if (!std::exchange(books_known_, true)) {
        if (decode_books()) return read_all(map_pages());
        found_.reset();
    } else if (!has_map()) {
        found_.reset();
    }
    end();
}

/// That have to be read.
std::vector<PageAddress> CheckpointSearch::map_pages() const {
    const CheckpointBooks& books = found_->books;
    const bool all = !found_->root.clean ||
                     std::any_of(books.dirty.begin(), books.dirty.end(), [](std::uint64_t word) { return word != 0; });
    return {books.map.begin() + (all ? 0 : clean_from_), books.map.end()};
}

bool CheckpointSearch::decode_books() {
    std::vector<std::uint64_t> words;
    const std::vector<PageAddress>& pages = found_->root.books;
    for (std::uint32_t i = 0; i < pages.size(); ++i) {
        const PageContent* content = peers_.spare.content(pages[i]);
        if (!is_checkpoint_page(content, CheckpointPage::books, i, found_->root.sequence)) return false;
        words.insert(words.end(), content->begin() + CheckpointLayout::kHeaderWords, content->end());
    }
    std::optional<CheckpointBooks> books = CheckpointBooks::decode(words);
    if (!books || words.size() != found_->root.words || books->sequence != found_->root.sequence) return false;
    found_->books = std::move(*books);
    return true;
}

bool CheckpointSearch::has_map() const {
    for (std::uint32_t i = 0; i < found_->books.map.size(); ++i)
        if (!is_checkpoint_page(peers_.spare.content(found_->books.map[i]), CheckpointPage::map, i,
                                found_->root.sequence))
            return false;
    return true;
}

void CheckpointSearch::end() {
    const std::function<void()> done = std::move(done_);
    done();
}

std::string CheckpointSearch::dump() const {
    return over() ? ""
                  : "search for a checkpoint: " + std::to_string(reads_) + " pages read, " + std::to_string(at_work_) +
                        " being read\n";
}

}  // namespace ssdtlm
