// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/dirty_limit.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "controller/map/cached/pages/translation_sizes.h"

namespace ssdtlm {

DirtyLimit::DirtyLimit(const CachedMapPeers& peers, CachedMap& map)
    : peers_(peers),
      map_(map),
      entries_(peers.pages.entries_each()),
      most_(most_dirty_pages(peers.ftl.config(), peers.ftl.geometry())),
      until_programmed_(peers.ftl.config().map.dirty_until == DirtyUntil::programmed),
      pages_(peers.pages.count()) {
    map_.write_backs().on_page([this](std::uint32_t page) { page_changed(page); });
}

// --- Who asks --------------------------------------------------------------------------------------------------------

/// How many pages these units would add to the count.
std::uint32_t DirtyLimit::more_for(const Lpa* units, std::uint32_t count) {
    seen_.clear();
    for (std::uint32_t i = 0; i < count; ++i)
        if (!pages_[page_of(units[i])].counted) seen_.push_back(page_of(units[i]));
    std::sort(seen_.begin(), seen_.end());
    return static_cast<std::uint32_t>(std::unique(seen_.begin(), seen_.end()) - seen_.begin());
}

void DirtyLimit::hold(const Lpa* units, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        ++pages_[page_of(units[i])].held;
        update(page_of(units[i]));
    }
    most_counted_ = std::max(most_counted_, counted_);
}

bool DirtyLimit::bring_in(const Lpa* units, const WorkTag* whose, std::uint32_t count, const Then& then) {
    if (!at_work_) take_over();
    if (rows_.empty() && fits(more_for(units, count))) {
        hold(units, count);
        return map_.bring_in(units, whose, count, then);
    }
    ++waits_;
    rows_.push_back({then, {units, units + count}, {whose, whose + count}});
    write_oldest();
    return false;
}

/// Pages that were dirty before the drive was at work: a start has found them so.
void DirtyLimit::take_over() {
    at_work_ = true;
    for (std::uint32_t page = 0; page < pages_.size(); ++page)
        if (!pages_[page].joined && map_.table().dirty_in(page) != 0) join(page);
}

void DirtyLimit::go_on() {
    while (!rows_.empty() &&
           fits(more_for(rows_.front().units.data(), static_cast<std::uint32_t>(rows_.front().units.size())))) {
        Row row = std::move(rows_.front());
        rows_.pop_front();
        const auto count = static_cast<std::uint32_t>(row.units.size());
        hold(row.units.data(), count);
        if (!map_.bring_in(row.units.data(), row.whose.data(), count, row.then)) continue;
        if (free_answers_.empty()) {
            answers_.emplace_back();
            free_answers_.push_back(static_cast<std::uint32_t>(answers_.size() - 1));
        }
        const std::uint32_t number = free_answers_.back();
        free_answers_.pop_back();
        answers_[number] = std::move(row);
        peers_.agenda.post(peers_.agenda.now(), Then::to<&DirtyLimit::answer>(this, number));
    }
    write_oldest();
}

void DirtyLimit::answer(std::uint64_t number) {
    const Row row = std::move(answers_[number]);
    free_answers_.push_back(static_cast<std::uint32_t>(number));
    row.then();
}

// --- Pages -----------------------------------------------------------------------------------------------------------

void DirtyLimit::link(std::uint32_t page) {
    Page& p = pages_[page];
    p.newer = kNone;
    p.older = newest_;
    (newest_ != kNone ? pages_[newest_].newer : oldest_) = page;
    newest_ = page;
    p.may_leave = true;
    ++may_leave_;
}

void DirtyLimit::unlink(std::uint32_t page) {
    Page& p = pages_[page];
    (p.older != kNone ? pages_[p.older].newer : oldest_) = p.newer;
    (p.newer != kNone ? pages_[p.newer].older : newest_) = p.older;
    p.may_leave = false;
    --may_leave_;
}

void DirtyLimit::update(std::uint32_t page) {
    Page& p = pages_[page];
    const bool begun = map_.write_backs().waits_for_place(page), counted = p.held != 0 || p.joined || p.flying;
    if (counted != p.counted) counted_ += counted ? 1u : ~0u;
    p.counted = counted;
    const bool may_leave = p.joined && p.held == 0 && !begun && !p.flying;
    if (may_leave && !p.may_leave)
        link(page);
    else if (!may_leave && p.may_leave)
        unlink(page);
    const bool leaving = counted && p.held == 0 && !may_leave;
    if (leaving != p.leaving) leaving_ += leaving ? 1u : ~0u;
    p.leaving = leaving;
}

void DirtyLimit::join(std::uint32_t page) {
    Page& p = pages_[page];
    p.joined = true;
    if (p.may_leave) unlink(page);  // the newest now
    update(page);
}

/// Its write-back has its place, has ended or was given up.
void DirtyLimit::page_changed(std::uint32_t page) {
    Page& p = pages_[page];
    const WriteBacks& w = map_.write_backs();
    const bool dirty = map_.table().dirty_in(page) != 0;
    p.flying = until_programmed_ && w.in_dram(page) && (p.flying || (p.joined && !dirty));
    p.joined = p.joined && dirty;
    update(page);
    go_on();
}

/// Until there will be room for the row whose turn is next. A page counts while it is programmed, or not: then all rows
/// that wait are looked at, so that more than one is.
void DirtyLimit::write_oldest() {
    if (rows_.empty() || peers_.ftl.media().read_only) return;
    std::uint64_t wanted = counted_;
    for (const Row& row : rows_) {
        wanted += more_for(row.units.data(), static_cast<std::uint32_t>(row.units.size()));
        if (!until_programmed_ || wanted > std::uint64_t{most_} + leaving_ + may_leave_) break;
    }
    const TranslationRoom& room = peers_.pages.room();
    bool dropped = false;
    while (oldest_ != kNone && wanted > most_ + leaving_ && !dropped) {
        std::vector<std::uint32_t> pages;
        while (oldest_ != kNone && pages.size() < peers_.ftl.geometry().units_per_page() &&
               wanted > most_ + leaving_ + pages.size() && !dropped) {
            const std::uint32_t page = oldest_;
            if (map_.write_backs().waits_for_place(page)) {  // the cache wanted room
                update(page);
                continue;
            }
            if (map_.table().dirty_in(page) != 0) {
                if (!pages.empty() && room.pool_of(page) != room.pool_of(pages.front())) break;
                pages.push_back(page);
                unlink(page);
                continue;
            }
            pages_[page].joined = false;  // all of it was deallocated meanwhile
            update(page);
            dropped = true;  // rows may fit now, or want it
        }
        if (pages.empty()) break;
        map_.write_backs().begin(pages);
        for (const std::uint32_t page : pages) update(page);
    }
    if (dropped) go_on();
}

// --- What changes ----------------------------------------------------------------------------------------------------

void DirtyLimit::done(Lpa lpa, bool has_changed) {
    map_.done(lpa, has_changed);
    const std::uint32_t page = page_of(lpa);
    SSDTLM_CHECK(pages_[page].held != 0, "a unit that no row holds is done");
    --pages_[page].held;
    if (has_changed)
        join(page);
    else
        update(page);
    if (!rows_.empty()) go_on();
}

void DirtyLimit::changed(Lpa lpa) {
    map_.changed(lpa);
    if (map_.table().dirty_in(page_of(lpa)) == 0) return;
    join(page_of(lpa));
    if (!rows_.empty()) write_oldest();  // it takes the room that a row waits for
}

void DirtyLimit::moved(Lpa lpa) {
    map_.moved(lpa);
}

void DirtyLimit::write_in_no_time(Lpa lpa) {
    map_.write_in_no_time(lpa);
    const std::uint32_t page = page_of(lpa);
    join(page);
    for (std::uint32_t p = oldest_; counted_ > most_; p = oldest_) {
        map_.write_backs().write_in_no_time(p);
        pages_[p].joined = false;
        update(p);
    }
}

void DirtyLimit::check_waiters() const {
    std::uint32_t counted = 0, held = 0;
    for (std::uint32_t page = 0; page < pages_.size(); ++page) {
        const Page& p = pages_[page];
        counted += p.counted;
        if (p.counted != (p.held != 0 || p.joined || p.flying))
            throw CheckFailed("dirty limit: translation page " + std::to_string(page) + " is counted wrongly");
        if (p.joined && p.held == 0 && !p.flying && !p.may_leave && !map_.write_backs().waits_for_place(page))
            throw CheckFailed("dirty limit: nobody writes translation page " + std::to_string(page) +
                              ", and nobody may");
        held += p.held;
    }
    if (counted != counted_)
        throw CheckFailed("dirty limit: " + std::to_string(counted_) + " translation pages are counted, " +
                          std::to_string(counted) + " are dirty or will be");
    if (rows_.empty() || map_.write_backs().any()) return;
    if (may_leave_ != 0 || held == 0)
        throw CheckFailed("dirty limit: " + std::to_string(rows_.size()) +
                          " rows wait for their turn, and no translation page is written");
}

std::string DirtyLimit::dump() const {
    return "dirty limit: " + std::to_string(counted_) + " of " + std::to_string(most_) +
           " translation pages may be dirty, " + std::to_string(rows_.size()) + " rows wait\n";
}

void DirtyLimit::state(Snapshot& s) {
    SSDTLM_CHECK(rows_.empty(), "a snapshot of a map for which rows wait");
    std::vector<std::uint32_t> order;
    for (std::uint32_t page = oldest_; page != kNone; page = pages_[page].newer) order.push_back(page);
    s(order, most_counted_, waits_, at_work_);
    if (!s.reads()) return;
    for (const std::uint32_t page : order) {
        s.require(page < pages_.size() && !pages_[page].joined && map_.table().dirty_in(page) != 0,
                  "a dirty translation page that is not dirty");
        join(page);
    }
}

}  // namespace ssdtlm
