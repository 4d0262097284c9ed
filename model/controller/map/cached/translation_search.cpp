// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/translation_search.h"

#include <algorithm>
#include <utility>

#include "controller/map/cached/pages/translation_contents.h"

namespace ssdtlm {

TranslationSearch::TranslationSearch(const MountPeers& peers, Ftl& ftl, std::uint32_t entry_cycles,
                                     std::vector<bool> suspects, Found found)
    : peers_(peers),
      ftl_(ftl),
      pages_(*TranslationPages::of(ftl)),
      entry_cycles_(entry_cycles),
      suspects_(std::move(suspects)),
      found_(std::move(found)),
      readers_(std::size_t{peers.geometry.dies()} * peers.reads_per_die),
      left_(peers.geometry.dies()) {}

void TranslationSearch::start(std::function<void()> done) {
    for (std::uint32_t page = pages_.count(); page-- != 0;) {
        if (!suspects_[page]) continue;
        const Ppa at = pages_.place(page);
        if (is_place(at))
            left_[idx(peers_.geometry.die_of(peers_.geometry.page_of(at).plane))].push_back(page);
        else
            look(page, at);
    }
    std::vector<Reader*> first;
    for (std::size_t i = 0; i < readers_.size(); ++i) {
        readers_[i].txn.op = FlashOp::read;
        readers_[i].txn.cls = FlashClass::mapping_read;
        readers_[i].txn.die = DieId{static_cast<std::uint32_t>(i / peers_.reads_per_die)};
        readers_[i].txn.then = Then::to<&TranslationSearch::page_read>(this, readers_[i]);
        readers_[i].txn.data_bytes = peers_.geometry.unit_bytes;
        if (next_page(readers_[i])) first.push_back(&readers_[i]);
    }
    if (first.empty()) return done();
    done_ = std::move(done);
    at_work_ = static_cast<std::uint32_t>(first.size());
    for (Reader* r : first) read(*r);
}

bool TranslationSearch::next_page(Reader& r) {
    std::vector<std::uint32_t>& left = left_[idx(r.txn.die)];
    if (left.empty()) return false;
    r.page = left.back();
    left.pop_back();
    return true;
}

void TranslationSearch::read(Reader& r) {
    r.txn.path = nullptr;
    r.txn.address = peers_.geometry.page_of(pages_.place(r.page));
    peers_.flash.submit(r.txn);
}

void TranslationSearch::page_read(Reader& r) {
    ++reads_;
    ++on_core_;
    const std::uint64_t entries = entries_of(r.page);
    peers_.cores.run(idx(r.txn.die), peers_.page_cycles + entries * entry_cycles_, CoreStep::mount,
                     Then::to<&TranslationSearch::compare>(this, r));
}

void TranslationSearch::compare(Reader& r) {
    --on_core_;
    entries_ += entries_of(r.page);
    look(r.page, pages_.place(r.page));
    if (next_page(r)) return read(r);
    if (--at_work_ != 0) return;
    const std::function<void()> done = std::move(done_);
    done();
}

/// A page that is not on the flash says that nothing is mapped. A page that has more wrong entries than that counts as
/// such a page: its units were deallocated as a whole, and the page with them. The flash does not know this, so a copy
/// of long ago was found.
void TranslationSearch::look(std::uint32_t page, Ppa place) {
    std::vector<Lpa> mapped, differ;
    const std::uint32_t first = page * pages_.entries_each();
    for (std::uint32_t i = 0; i < entries_of(page); ++i) {
        const Ppa now = ftl_.lookup(Lpa{first + i});
        if (now != kUnmapped) mapped.push_back(Lpa{first + i});
        if (now != (is_place(place) ? entry_at(ftl_, place, i) : kUnmapped)) differ.push_back(Lpa{first + i});
    }
    if (differ.size() > mapped.size()) {
        pages_.drop(page);
        differ = std::move(mapped);
    }
    dirty_ += differ.size();
    if (!differ.empty()) found_(page, differ);
}

std::uint64_t TranslationSearch::entries_of(std::uint32_t page) const {
    const std::uint64_t n = pages_.entries_each();
    return std::min(n, ftl_.logical_units() - page * n);
}

std::string TranslationSearch::dump() const {
    return over() ? ""
                  : "search for what translation pages do not say: " + std::to_string(reads_) + " read, " +
                        std::to_string(at_work_) + " being read\n";
}

}  // namespace ssdtlm
