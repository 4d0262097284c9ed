// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoint_capture.h"

#include <algorithm>

#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/allocation/host_partition.h"
#include "controller/ftl/ftl.h"

namespace ssdtlm {

CheckpointCapture::CheckpointCapture(Ftl& ftl)
    : ftl_(ftl),
      image_(ftl.image()),
      notes_(notes_of(ftl).image()),
      checkpoints_(*checkpoints_of(ftl)),
      number_of_(notes_.journal.ids()) {
    for (const auto& feature : image_.features) feature->number_due_pages();
    for (Journal::Id id = 1; id < notes_.journal.ids(); ++id) {
        const Journal::Page& p = notes_.journal.page(id);
        if ((p.state != Journal::State::in_flight && p.state != Journal::State::durable) || p.live == 0) continue;
        journal_.push_back(p.at);
        number_of_[id] = static_cast<std::uint32_t>(journal_.size());
    }
    checkpoints_.in_flight().for_each_move([this](const ProgramsInFlight::Move& m) {
        if (image_.map.lookup(m.lpa) == m.from) moved_.emplace_back(m.lpa, m.to);
    });
    std::sort(moved_.begin(), moved_.end());
}

CheckpointBooks CheckpointCapture::books(bool clean) const {
    const SuperblockShape& shape = ftl_.shape();
    const NandGeometry& g = ftl_.geometry();
    CheckpointBooks c;
    c.number = image_.last_number;
    c.clean = clean;
    c.read_only = image_.media.read_only;
    c.superblocks.resize(shape.superblocks());
    c.blocks.resize(g.blocks());
    for (std::uint32_t n = 0; n < shape.superblocks(); ++n) {
        const SuperblockId b{n};
        const BlockRecord& r = image_.blocks[b];
        c.superblocks[n] = {r.state, r.stream, r.cut, r.bad, r.write_pointer, checkpoints_.in_flight().last_of(b), 0};
        const bool is_open =
            r.state != BlockState::sealed && r.state != BlockState::victim && r.state != BlockState::retired;
        for (std::uint32_t i = 0; i < shape.planes(); ++i) {
            const BlockId block = shape.block(b, i);
            const std::uint32_t programmed = image_.flash.next_page(block);
            // Every planes()-th of the pages handed out is this plane's.
            const std::uint32_t handed_out = is_open ? (r.write_pointer + shape.planes() - 1 - i) / shape.planes() : 0;
            c.blocks[idx(block)] = {std::max(programmed, handed_out), image_.blocks.erases(b)};
        }
    }
    for (std::uint32_t group = 0; group < shape.groups(); ++group) {
        std::uint32_t turn = 0;
        const auto number = [&](SuperblockId b) { c.superblocks[idx(b)].free_turn = turn++; };
        image_.blocks.for_each_free(GroupId{group}, number);
        for (const HostPartition* const p : image_.host_partitions) p->for_each_free(GroupId{group}, number);
        c.groups.push_back({image_.begun.of(GroupId{group}), remembered(image_.features, GroupId{group})});
    }
    c.dirty.resize(div_ceil(ftl_.own_units(), 64u));
    for (std::uint32_t n = 0; n < ftl_.own_units(); ++n)
        if (checkpoints_.is_dirty(n)) c.set_dirty(n);
    for (const auto& [lpa, to] : moved_)
        if (ftl_.own_units() != 0 && !ftl_.is_own(lpa)) c.set_dirty(ftl_.own_number(lpa));
    c.note_pages = journal_;
    for (const auto& [b, page] : notes_.failed_in) c.failed.emplace_back(SuperblockId{b}, number_of_[page]);
    std::sort(c.failed.begin(), c.failed.end());
    return c;
}

/// False: a unit is nowhere, until what a failed program was to hold has another place.
bool CheckpointCapture::map_page(std::uint32_t page, std::vector<std::uint32_t>& entries) const {
    const std::uint64_t first = std::uint64_t{page} * checkpoints_.layout().entries_per_page();
    const std::uint64_t end = std::min(ftl_.units(), first + checkpoints_.layout().entries_per_page());
    entries.clear();
    for (std::uint64_t l = first; l < end; ++l) {
        Ppa p = image_.map.lookup(Lpa{static_cast<std::uint32_t>(l)});
        if (!image_.entries.is_copy(p) && p != kUnmapped) {
            const Journal::Id id = image_.entries.page_of(p);
            if (id == Journal::kDetached) return false;
            p = image_.entries.note(number_of_[id], image_.entries.says_lost(p));
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
    const PageContent* before = image_.flash.content(checkpoints_.latest()->map[page]);
    if (before == nullptr || before->size() != now.size()) return true;
    return !std::equal(before->begin() + CheckpointLayout::kHeaderWords, before->end(),
                       now.begin() + CheckpointLayout::kHeaderWords);
}

CheckpointCapture::Result CheckpointCapture::begin(Ftl& ftl, bool clean) {
    Checkpoints& checkpoints = *checkpoints_of(ftl);
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
