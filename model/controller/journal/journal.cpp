// SPDX-License-Identifier: Apache-2.0
#include "controller/journal/journal.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
constexpr unsigned kNoteBits = 2;
}

Journal::Id Journal::take() {
    if (unused_.empty()) {
        pages_.emplace_back();
        return static_cast<Id>(pages_.size() - 1);
    }
    const Id id = unused_.back();
    unused_.pop_back();
    return id;
}

bool Journal::add(const JournalEntry& entry) {
    if (!open_is_open()) {
        open_ = take();
        for (const SuperblockId b : all_needed_) is_needed_[idx(b)] = false;
        all_needed_.clear();
        Page& fresh = pages_[open_];
        fresh.state = State::open;
        fresh.turn = ++turns_;
        pending_.insert(fresh.turn);
    }
    Page& p = pages_[open_];
    p.entries.push_back(entry);
    if (p.entries.size() != per_page_) return false;
    p.state = State::full;
    full_.push_back(open_);
    return true;
}

bool Journal::need(SuperblockId b) {
    if (is_needed_[idx(b)]) return false;
    is_needed_[idx(b)] = true;
    all_needed_.push_back(b);
    pages_[open_].needs.push_back(b);
    return true;
}

bool Journal::need(Id page) {
    std::vector<Id>& needs = pages_[open_].needs_pages;
    if (!needs.empty() && needs.back() == page) return false;
    needs.push_back(page);
    return true;
}

Journal::Id Journal::next(bool open_too) const {
    if (!full_.empty()) return full_.front();
    return open_is_open() && (open_too || pages_[open_].hurries) ? open_ : kDetached;
}

void Journal::place(Id id, const PageAddress& at) {
    if (!full_.empty() && full_.front() == id) full_.pop_front();
    Page& p = pages_[id];
    SSDTLM_CHECK(p.state == State::open || p.state == State::full, "journal page is written twice");
    p.state = State::in_flight;
    p.at = at;
    p.content = encode(p.entries);
}

void Journal::displace(Id id) {
    SSDTLM_CHECK(pages_[id].state == State::in_flight, "journal page is not being written");
    pages_[id].state = State::full;
    full_.push_front(id);
}

void Journal::durable(Id id) {
    Page& p = pages_[id];
    SSDTLM_CHECK(p.state == State::in_flight, "journal page is not being written");
    p.state = State::durable;
    p.needs.clear();
    p.needs_pages.clear();
    p.content = {};
    pending_.erase(p.turn);
    by_place_[key(p.at)] = id;
}

void Journal::forget_if_unused(Id id) {
    Page& p = pages_[id];
    if (p.state != State::durable || p.live != 0 || p.holds != 0) return;
    by_place_.erase(key(p.at));
    p = Page{};
    unused_.push_back(id);
}

Journal::Id Journal::at(const PageAddress& a) const {
    if (by_place_.empty()) return kDetached;
    const auto found = by_place_.find(key(a));
    return found == by_place_.end() ? kDetached : found->second;
}

PageContent Journal::encode(const std::vector<JournalEntry>& entries) {
    PageContent words;
    words.reserve(2 * entries.size());
    for (const JournalEntry& e : entries) {
        words.push_back(e.number << kNoteBits | static_cast<std::uint64_t>(e.note));
        words.push_back(std::uint64_t{e.units} << 32 | idx(e.first));
    }
    return words;
}

std::vector<JournalEntry> Journal::decode(const PageContent& content) {
    std::vector<JournalEntry> entries;
    entries.reserve(content.size() / 2);
    for (std::size_t i = 0; i + 1 < content.size(); i += 2)
        entries.push_back({content[i] >> kNoteBits, Lpa{static_cast<std::uint32_t>(content[i + 1])},
                           static_cast<std::uint32_t>(content[i + 1] >> 32),
                           static_cast<JournalNote>(content[i] & ((1u << kNoteBits) - 1))});
    return entries;
}

Journal::Id Journal::found(const PageAddress& at, std::vector<JournalEntry> entries) {
    const Id id = take();
    Page& p = pages_[id];
    p.state = State::durable;
    p.at = at;
    p.entries = std::move(entries);
    by_place_[key(at)] = id;
    return id;
}

Journal::Id Journal::found(const PageAddress& at) {
    const Id id = found(at, {});
    pages_[id].entries_known = false;
    return id;
}

void Journal::state(Snapshot& s) {
    std::uint64_t pages = pages_.size();
    s(pages);
    s.require(pages >= 1, "a journal without its first page");
    if (s.reads()) pages_.clear();
    for (std::uint64_t id = 0; id < pages; ++id) {
        if (s.reads()) pages_.emplace_back();  // one by one: there may be fewer than it says
        Page& p = pages_[static_cast<std::size_t>(id)];
        SSDTLM_CHECK(p.state != State::in_flight, "a snapshot while a page of the journal is being written");
        s(p.state, p.live, p.holds, p.turn, p.at, p.hurries, p.entries_known);
        std::uint64_t entries = p.entries.size();
        s(entries);
        s.require(entries <= per_page_, "more entries than a page of the journal has");
        p.entries.resize(static_cast<std::size_t>(entries));
        for (JournalEntry& e : p.entries) s(e.number, e.first, e.units, e.note);
        s(p.needs, p.needs_pages);
    }
    s(unused_, open_);
    s.fixed(is_needed_);
    s(all_needed_, full_, turns_);
    s.set(pending_);
    s.map(by_place_);
    if (s.reads()) check_read(s);
}

/// Each page is in the lists that its state says, and in no others.
void Journal::check_read(Snapshot& s) const {
    const std::size_t superblocks = is_needed_.size();
    std::vector<std::uint32_t> holds(pages_.size());
    std::set<std::uint64_t> pending;
    std::size_t unused = 0, full = 0, durable = 0;
    for (Id id = 1; id < pages_.size(); ++id) {
        const Page& p = pages_[id];
        s.require(p.state <= State::durable && p.state != State::in_flight,
                  "a page of the journal in a state that cannot be");
        s.require(p.turn <= turns_ && (p.state != State::open || id == open_), "a page of the journal out of its turn");
        unused += p.state == State::unused;
        full += p.state == State::full;
        durable += p.state == State::durable;
        const auto at = by_place_.find(key(p.at));
        s.require(p.state != State::durable || (at != by_place_.end() && at->second == id),
                  "a page of the journal that is not where it is");
        if (p.state == State::open || p.state == State::full)
            s.require(pending.insert(p.turn).second, "two pages of the journal with one turn");
        for (const SuperblockId b : p.needs) s.require(idx(b) < superblocks, "a superblock that there is not");
        for (const Id needed : p.needs_pages) {
            s.require(needed < pages_.size(), "a page of the journal that there is not");
            ++holds[needed];
        }
        for (const JournalEntry& e : p.entries)
            s.require(e.note <= JournalNote::failed && (e.note != JournalNote::failed || idx(e.first) < superblocks),
                      "an entry of the journal about what there is not");
    }
    std::vector<bool> seen(pages_.size());
    for (const Id id : unused_) {
        s.require(id != kDetached && id < pages_.size() && pages_[id].state == State::unused && !seen[id],
                  "an unused page of the journal that is in use");
        seen[id] = true;
    }
    for (const Id id : full_) {
        s.require(id < pages_.size() && pages_[id].state == State::full && !seen[id],
                  "a full page of the journal that is not full");
        seen[id] = true;
    }
    for (Id id = 1; id < pages_.size(); ++id)
        s.require(pages_[id].holds == holds[id], "a page of the journal for which nobody waits");
    s.require(unused == unused_.size() && full == full_.size() && durable == by_place_.size() && pending == pending_,
              "pages of the journal that are nowhere");
    s.require(open_ < pages_.size(), "an open page of the journal that there is not");
    std::size_t needed = 0;
    for (const SuperblockId b : all_needed_) {
        s.require(idx(b) < superblocks && is_needed_[idx(b)], "a superblock that is not needed");
        ++needed;
    }
    s.require(needed == static_cast<std::size_t>(std::count(is_needed_.begin(), is_needed_.end(), true)),
              "a superblock that is needed twice");
}

}  // namespace ssdtlm
