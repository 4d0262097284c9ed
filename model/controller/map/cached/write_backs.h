// SPDX-License-Identifier: Apache-2.0
// Dirty entries on their way to their translation pages. Each of these pages is read, unless all of it is in the table,
// then changed, and programmed elsewhere. Several go into one flash page. When it gets its place, the page says what
// the table says at that instant. Until it is programmed its contents are in the DRAM. If its program fails it is
// placed again, with what the table says by then.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/map/cached/cached_map_peers.h"
#include "controller/map/cached/cached_mapping_table.h"
#include "controller/map/cached/entry_check.h"

namespace ssdtlm {

class WriteBacks final {
public:
    struct Counters {
        std::uint64_t reads = 0;    ///< of translation pages that are written in part
        std::uint64_t written = 0;  ///< translation pages
        std::uint64_t entries = 0;  ///< dirty ones, or whole pages, in them
        Counters& operator+=(const Counters& o) {
            reads += o.reads;
            written += o.written;
            entries += o.entries;
            return *this;
        }
    };
    /// All arguments must outlive it.
    WriteBacks(const CachedMapPeers& peers, CachedMappingTable& table, EntryCheck& check);

    /// `callback` is called when entries have become clean, or may be written that could not be before.
    void on_progress(std::function<void()> callback) { progress_ = std::move(callback); }
    /// `callback` is called when the program of a translation page has failed in a drive that has no other page for it.
    /// No copy of the page counts any more, and its contents are still in the DRAM.
    void on_given_back(std::function<void(std::uint32_t)> callback) { given_back_ = std::move(callback); }
    /// `callback` is called when a page's write-back has its place, when its program has ended, and when it is given up
    /// because nothing of it is dirty any more.
    void on_page(std::function<void(std::uint32_t)> callback) { page_changed_ = std::move(callback); }
    /// Begins with these pages of one pool, at most as many as one flash page takes. Precondition: none of them waits
    /// for its place.
    void begin(std::vector<std::uint32_t> pages) {
        for (const std::uint32_t page : pages) pages_[page].begun = true;
        start(std::move(pages));
    }
    /// Begins with dirty entries among this many coldest ones: as many translation pages of a pool as one flash page
    /// takes. False: all are being written.
    bool begin(std::uint64_t coldest);
    /// The page now says what the map says, and its entries are clean. Use it before the drive is at work.
    void write_in_no_time(std::uint32_t page) {
        const std::uint64_t n = by_page_ ? peers_.pages.entries_each() : 1;
        table_.clean(page, [&](CachedMappingTable::Slot s) { check_.written(table_.key(s) * n, n); });
    }
    /// Begins with all translation pages that have dirty entries, a few at a time. `done` is called when they are
    /// written, or wait for a free block and nothing is collected. It is called at once if there are none.
    /// Precondition: an earlier call has been done.
    void write_all(std::function<void()> done);
    /// Least number of entries that will be clean when what was begun has its place.
    std::uint64_t leaving() const { return leaving_; }
    /// True: the translation page has its place, and is not on the flash yet.
    bool in_dram(std::uint32_t page) const {
        const auto found = pages_.find(page);
        return found != pages_.end() && found->second.programs != 0;
    }
    /// True: the page's write-back has begun, and it has no place yet.
    bool waits_for_place(std::uint32_t page) const {
        const auto found = pages_.find(page);
        return found != pages_.end() && found->second.begun;
    }
    /// A block came free: a page that found none may find one now.
    void block_freed() {
        if (__builtin_expect(waiting_ == 0, 1)) return;
        place_waiting();
        sweep();
    }
    /// Units have moved or gone. For a page that waits for a free block, another block may now be worth collecting.
    void units_changed() {
        if (__builtin_expect(waiting_ != 0, 0)) peers_.gc.check_all();
    }
    const Counters& counters() const { return counters_; }
    bool any() const { return !pages_.empty(); }
    /// True: nothing is being read or written, and no core works on it. What waits for a free block does not count.
    bool idle() const { return reads_ + programs_ == 0 && batches_.size() == free_.size() + waiting_; }
    bool waits_for_block() const { return waiting_ != 0; }
    std::string dump() const;

private:
    struct Batch {
        std::vector<std::uint32_t> pages;
        std::uint32_t reads = 0;  ///< of these, that are under way
        std::uint64_t dram = 0;
        std::uint32_t leaving = 0;
    };
    struct State {
        bool begun = false;          ///< waits for its place
        std::uint32_t programs = 0;  ///< under way, the last of which says most
    };
    /// A program of a flash page with translation pages.
    struct Program : ProgramJob {
        bool again = false;                                       ///< an earlier program of these pages has failed
        std::array<std::uint32_t, kMaxUnitsPerPage> page{};       ///< translation page of unit i
        std::array<std::uint32_t, kMaxUnitsPerPage> dram_unit{};  ///< where unit i is in the DRAM, in units
        std::array<Ppa, kMaxUnitsPerPage> old{};  ///< copy of unit i that must stay until the program has ended
        PageContent content;                      ///< what the pages say, if the flash keeps that
    };
    bool claim(std::uint32_t page) { return pages_.try_emplace(page, State{true, 0}).second; }
    void tell(std::uint32_t page) const {
        if (__builtin_expect(page_changed_ != nullptr, 0)) page_changed_(page);
    }
    void choose(std::vector<std::uint32_t>& pages, std::uint64_t coldest);
    void start(std::vector<std::uint32_t> pages);
    void sweep();
    bool goes_with(const std::vector<std::uint32_t>& pages, std::uint32_t page) const;
    bool is_whole(std::uint32_t page) const;
    void read(std::uint64_t what);
    void ready(std::uint32_t batch);
    void put(std::uint64_t batch);
    void place_waiting();
    bool place(std::uint32_t batch);
    void program(const std::vector<std::uint32_t>& pages, GroupId group, std::uint64_t dram);
    void submit(Program& job, const PageAddress& a);
    void capture(std::uint32_t page);
    void program_done(Program& job);
    void program_failed(Program& job);
    bool place_failed(Program& job, GroupId group);
    void leave(const Program& job, std::uint32_t unit);
    void read_done(TranslationRead& job);
    void page_read(TranslationRead& job);

    const CachedMapPeers peers_;
    const NandGeometry geometry_;
    const bool by_page_;
    CachedMappingTable& table_;
    EntryCheck& check_;
    JobPool<TranslationRead> read_jobs_;
    JobPool<Program> program_jobs_;
    std::function<void()> progress_;
    std::function<void(std::uint32_t)> given_back_;
    std::function<void(std::uint32_t)> page_changed_;
    std::vector<Batch> batches_;
    std::vector<std::uint32_t> free_;
    std::unordered_map<std::uint32_t, State> pages_;       ///< that are being written
    std::vector<std::deque<std::uint32_t>> without_page_;  ///< by pool: batches
    std::size_t waiting_ = 0;                              ///< of them
    std::function<void()> swept_;                          ///< of write_all(); empty: none is under way
    std::uint32_t sweep_ = 0;                              ///< translation page that it looks at next
    std::uint64_t leaving_ = 0;
    std::uint32_t reads_ = 0;
    std::uint32_t programs_ = 0;
    Counters counters_;
};

}  // namespace ssdtlm
