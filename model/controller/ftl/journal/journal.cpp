// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/journal/journal.h"

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
    pages_.resize(static_cast<std::size_t>(pages));
    for (Page& p : pages_) {
        SSDTLM_CHECK(p.state != State::in_flight, "a snapshot while a page of the journal is being written");
        s(p.state, p.live, p.holds, p.turn, p.at, p.hurries, p.entries_known);
        std::uint64_t entries = p.entries.size();
        s(entries);
        p.entries.resize(static_cast<std::size_t>(entries));
        for (JournalEntry& e : p.entries) s(e.number, e.first, e.units, e.note);
        s(p.needs, p.needs_pages);
    }
    s(unused_, open_, is_needed_, all_needed_, full_, turns_);
    s.set(pending_);
    s.map(by_place_);
}

}  // namespace ssdtlm
