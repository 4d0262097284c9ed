// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/checkpoint/checkpoint_capture.h"

#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

CheckpointCapture::CheckpointCapture(Ftl& ftl)
    : ftl_(ftl), checkpoints_(*ftl.checkpoints_), number_of_(ftl.journal_.ids()) {
    if (ftl_.parity_ != nullptr) ftl_.parity_->draw_numbers();
    for (Journal::Id id = 1; id < ftl_.journal_.ids(); ++id) {
        const Journal::Page& p = ftl_.journal_.page(id);
        if ((p.state != Journal::State::in_flight && p.state != Journal::State::durable) || p.live == 0) continue;
        journal_.push_back(p.at);
        number_of_[id] = static_cast<std::uint32_t>(journal_.size());
    }
    checkpoints_.in_flight().for_each_move([this](const ProgramsInFlight::Move& m) {
        if (ftl_.map_.lookup(m.lpa) == m.from) moved_.emplace_back(m.lpa, m.to);
    });
    std::sort(moved_.begin(), moved_.end());
}

CheckpointBooks CheckpointCapture::books(bool clean) const {
    const SuperblockShape& shape = ftl_.shape_;
    const NandGeometry& g = ftl_.geometry_;
    CheckpointBooks c;
    c.number = ftl_.last_number_;
    c.clean = clean;
    c.read_only = ftl_.media_.read_only;
    c.superblocks.resize(shape.superblocks());
    c.blocks.resize(g.blocks());
    for (std::uint32_t n = 0; n < shape.superblocks(); ++n) {
        const SuperblockId b{n};
        const BlockRecord& r = ftl_.blocks_[b];
        c.superblocks[n] = {r.state, r.stream, r.cut, r.bad, r.write_pointer, checkpoints_.in_flight().last_of(b), 0};
        const bool is_open =
            r.state != BlockState::sealed && r.state != BlockState::victim && r.state != BlockState::retired;
        for (std::uint32_t i = 0; i < shape.planes(); ++i) {
            const BlockId block = shape.block(b, i);
            const std::uint32_t programmed = ftl_.spare_.next_page(block);
            // Of the pages handed out, every planes()-th is this plane's.
            const std::uint32_t handed_out = is_open ? (r.write_pointer + shape.planes() - 1 - i) / shape.planes() : 0;
            c.blocks[idx(block)] = {std::max(programmed, handed_out), ftl_.blocks_.erases(b)};
        }
    }
    for (std::uint32_t group = 0; group < shape.groups(); ++group) {
        std::uint32_t turn = 0;
        const auto number = [&](SuperblockId b) { c.superblocks[idx(b)].free_turn = turn++; };
        ftl_.blocks_.for_each_free(GroupId{group}, number);
        if (ftl_.slc_ != nullptr) ftl_.slc_->for_each_free(GroupId{group}, number);
        c.groups.push_back({ftl_.begun_.of(GroupId{group}), remembered(ftl_.features_, GroupId{group})});
    }
    c.dirty.resize(div_ceil(ftl_.translation_pages_, 64u));
    for (std::uint32_t page = 0; page < ftl_.translation_pages_; ++page)
        if (checkpoints_.is_dirty(page)) c.set_dirty(page);
    for (const auto& [lpa, to] : moved_)
        if (ftl_.translation_pages_ != 0 && !ftl_.is_translation(lpa))
            c.set_dirty(idx(lpa) / ftl_.entries_per_translation_page_);
    c.journal = journal_;
    for (const auto& [b, page] : ftl_.failed_in_) c.failed.emplace_back(SuperblockId{b}, number_of_[page]);
    std::sort(c.failed.begin(), c.failed.end());
    return c;
}

/// False: a unit is nowhere, until what a failed program was to hold has another place.
bool CheckpointCapture::map_page(std::uint32_t page, std::vector<std::uint32_t>& entries) const {
    const std::uint64_t first = std::uint64_t{page} * checkpoints_.layout().entries_per_page();
    const std::uint64_t end =
        std::min(ftl_.logical_units_ + ftl_.translation_pages_, first + checkpoints_.layout().entries_per_page());
    entries.clear();
    for (std::uint64_t l = first; l < end; ++l) {
        Ppa p = ftl_.map_.lookup(Lpa{static_cast<std::uint32_t>(l)});
        if (!ftl_.is_copy(p) && p != kUnmapped) {
            const Journal::Id id = ftl_.page_of_note(p);
            if (id == Journal::kDetached) return false;
            p = ftl_.note_in(number_of_[id], ftl_.is_lost_note(p));
        }
        entries.push_back(idx(p));
    }
    const auto from = std::lower_bound(moved_.begin(), moved_.end(),
                                       std::pair<Lpa, Ppa>{Lpa{static_cast<std::uint32_t>(first)}, Ppa{0}});
    for (auto m = from; m != moved_.end() && idx(m->first) < end; ++m) entries[idx(m->first) - first] = idx(m->second);
    return true;
}

PageContent CheckpointCapture::content(std::uint32_t page, const std::vector<std::uint32_t>& entries) const {
    PageContent words = checkpoint_page(CheckpointPage::map, page, checkpoints_.next_sequence());
    for (std::size_t i = 0; i < entries.size(); i += 2)
        words.push_back(std::uint64_t{i + 1 < entries.size() ? entries[i + 1] : idx(kUnmapped)} << 32 | entries[i]);
    return words;
}

/// Since it was written last; firmware keeps a bit for it.
bool CheckpointCapture::has_changed(std::uint32_t page, const PageContent& now) const {
    const PageContent* before = ftl_.spare_.content(checkpoints_.latest()->map[page]);
    if (before == nullptr || before->size() != now.size()) return true;
    return !std::equal(before->begin() + CheckpointLayout::kHeaderWords, before->end(),
                       now.begin() + CheckpointLayout::kHeaderWords);
}

CheckpointCapture::Result CheckpointCapture::begin(Ftl& ftl, bool clean) {
    Checkpoints& checkpoints = *ftl.checkpoints_;
    SSDTLM_CHECK(!clean || checkpoints.in_flight().none(), "a checkpoint at a shutdown while programs are under way");
    const CheckpointCapture now(ftl);
    CheckpointBooks books = now.books(clean);
    books.map.resize(checkpoints.map_pages());
    const std::uint64_t words = books.encode().size();
    std::vector<MapPage> pages;
    std::vector<std::uint32_t> entries;
    const auto collect = [&](bool all) {
        pages.clear();
        for (std::uint32_t i = 0; i < checkpoints.map_pages(); ++i) {
            if (!now.map_page(i, entries)) return false;
            PageContent content = now.content(i, entries);
            if (all || !checkpoints.latest() || now.has_changed(i, content)) pages.push_back({i, std::move(content)});
        }
        return true;
    };
    if (!collect(false)) return Result::not_now;
    const Checkpoints::Room room = checkpoints.room(pages.size(), words);
    if (room == Checkpoints::Room::none) return Result::no_room;
    if (room == Checkpoints::Room::for_all && pages.size() != checkpoints.map_pages()) collect(true);
    checkpoints.in_flight().await();
    checkpoints.begin(std::move(books), std::move(pages));
    return Result::begun;
}

}  // namespace ssdtlm
