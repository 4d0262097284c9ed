// SPDX-License-Identifier: Apache-2.0
// A map that is on the flash, with a part of it in memory (DFTL: Gupta et al., ASPLOS '09). Whoever asks for an entry
// that is not in the cached mapping table waits until its translation page has been read. The coldest entries leave to
// make room, dirty ones by way of WriteBacks.
//
// Entries of units that garbage collection moves or that are deallocated are taken into the table without a question,
// beyond its room if need be. Collection never waits for the map, because the map is written to its blocks. As many
// entries leave when a command of the host goes on. The same holds for entries that a start finds in no translation
// page, because they were dirty when the power went. In a read-only drive, which may have no page for them, dirty
// entries stay beyond the room.
//
// A question's entries are held from its turn until its answer, so that the answer is that of one instant. Entries of a
// row that is to be programmed are held until its units have their places. Turns are taken in the order of questions,
// and only while all entries held fit the table, so each turn ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/address/fast_divide.h"
#include "controller/map/cached/cached_map_peers.h"
#include "controller/map/cached/cached_mapping_table.h"
#include "controller/map/cached/entry_check.h"
#include "controller/map/cached/page_reads.h"
#include "controller/map/cached/write_backs.h"
#include "controller/ports/map_updates.h"
#include "controller/ports/organ.h"

namespace ssdtlm {

class CachedMap final : public MapPort, public MapUpdates, public Organ {
public:
    struct Asked {
        std::uint64_t hits = 0, misses = 0;
    };
    struct Counters {
        std::uint64_t hits = 0;  ///< entries (or whole pages) that were asked for and in the table
        std::uint64_t misses = 0;
        std::uint64_t reads = 0;             ///< of translation pages, for these
        std::uint64_t most_entries = 0;      ///< in memory at a time, or whole pages
        std::uint64_t checkpoint_reads = 0;  ///< of translation pages, for checkpoints
        std::vector<Asked> of_tenant;        ///< by tenant; as many as have asked
        std::uint64_t prefetched = 0;        ///< entries that nobody had asked for
        std::uint64_t prefetch_hits = 0;     ///< of these, that were asked for then
        std::uint64_t prefetch_dropped = 0;  ///< that left before anybody did
        Counters& operator+=(const Counters& o);
    };
    explicit CachedMap(const CachedMapPeers& peers);

    bool translate(const MapExtent& extent, MapUse use, Ppa* places, const MapThen& then) override;
    /// The entries of a question are held together, so it would wait for ever with more than there is room for. An
    /// extent may begin with the last unit of a page.
    std::uint32_t most_units() const override {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>((table_.room() - 1) * units_per_key_ + 1, ~0u));
    }
    void let_go(PlaneId plane, BlockId block, std::uint32_t units) override {
        peers_.resident.let_go(plane, block, units);
    }
    void unmap(const MapExtent& extent) override;
    void lose(Lpa lpa) override;

    bool bring_in(const Lpa* units, const WorkTag* whose, std::uint32_t count, const Then& then) override;
    void done(Lpa lpa, bool has_changed) override;
    void changed(Lpa lpa) override;
    void moved(Lpa lpa) override;

    /// Writes dirty entries to their translation pages. `done` is called when all are written, except those that have
    /// become dirty meanwhile, and those that wait for a free block when nothing is collected. It is called at once if
    /// there are none. Precondition: an earlier call has been done.
    void write_all(std::function<void()> done) { write_backs_.write_all(std::move(done)); }
    /// Reads those of these translation pages that are on the flash; `done` is called later. Precondition: an earlier
    /// call has been done, and `pages` is not empty.
    void read_pages(std::vector<std::uint32_t> pages, std::function<void()> done) {
        page_reads_.start(std::move(pages), std::move(done));
    }
    /// True: nothing is being read or written, except what waits for a free block.
    bool idle() const override { return reads_under_way_ == 0 && write_backs_.idle() && page_reads_.idle(); }
    /// `callback` is called when it may have become idle().
    void on_idle(std::function<void()> callback) { on_idle_ = std::move(callback); }

    /// Called after a loss of power: the flash differs from the map in these units of a translation page, and the map
    /// is right. For the other units the flash is right.
    void found_stale(std::uint32_t page, const std::vector<Lpa>& units);
    /// Number of units for which there is room.
    std::uint64_t room_in_units() const { return table_.room() * units_per_key_; }
    /// Asks for the unit's entry and changes it. What has to leave for it leaves in no time. Use it before the drive is
    /// at work.
    void write_in_no_time(Lpa lpa);
    /// The drive may be read-only now.
    void media_changed() override { make_room(); }
    /// A block came free: a translation page that found none may find one now.
    void block_freed() override { write_backs_.block_freed(); }
    const Counters& counters() const { return counters_; }
    const WriteBacks& write_backs() const { return write_backs_; }
    WriteBacks& write_backs() { return write_backs_; }
    const CachedMappingTable& table() const { return table_; }
    void check_waiters() const override;
    std::string dump() const override;
    /// Precondition: idle().
    void state(Snapshot& s) {
        s(table_, check_);
        // Entries of units that collection has moved may wait until somebody finds them (map.gc_updates).
        if (s.reads() && peers_.ftl.config().map.gc_updates == GcMapUpdates::written)
            check_.for_each_stale([&](std::uint64_t unit) {
                const Slot slot = table_.find(static_cast<std::uint32_t>(unit / units_per_key_));
                s.require(slot != kNone && table_.is_dirty(slot),
                          "an entry that is newer than the flash, and that nobody will write");
            });
        uses_.resize(table_.slots());
        if (s.reads())  // counts begin anew
            for (Use& use : uses_) use.prefetched = false;
        occupied_ = table_.size();
    }

private:
    using Slot = CachedMappingTable::Slot;
    static constexpr Slot kNone = CachedMappingTable::kNone;
    enum class Loading : std::uint8_t { no, yes, known };  ///< known: the entry has changed meanwhile
    struct Question {
        MapThen answered;            ///< read
        Then brought;                ///< bring_in
        MapExtent extent;            ///< read: what is asked for
        std::vector<Lpa> units;      ///< bring_in: instead of it
        std::vector<Slot> held;      ///< read: until the answer
        std::uint32_t missing = 0;   ///< entries that are not there yet
        std::vector<WorkTag> whose;  ///< of the units
    };
    /// Stands in an entry's list of questions for the map itself, which waits for a page that it changes.
    static constexpr std::uint32_t kOwn = 0xFFFFFFFFu;
    /// An entry that is to be read, and for whom.
    struct Wanted {
        Slot slot;
        WorkTag whose;
    };
    /// A translation page that is being read: who waits for it, and for whom it is read.
    struct Reading {
        std::vector<Slot> slots;
        WorkTag whose;
    };
    /// The state of an entry in use.
    struct Use {
        Loading loading = Loading::no;
        bool prefetched = false;             ///< and not asked for since
        std::uint32_t holders = 0;           ///< questions that hold it; the map itself is none
        std::vector<std::uint32_t> waiting;  ///< questions
    };

    std::uint32_t key_of(Lpa lpa) const { return by_page_ ? page_of_(idx(lpa)) : idx(lpa); }
    template <class Visit>
    void for_each_key(const Question& q, Visit&& visit) const;
    bool is_loading(Slot s) const { return uses_[s].loading != Loading::no; }
    bool at_hand(const Question& q) const;
    void ask(Question&& question);
    void admit();
    bool fits(const Question& q) const;
    void hold(Slot s);
    void let_go(Slot s);
    void begin(std::uint32_t question);
    void answer(std::uint64_t question);
    Asked& asked_by(std::uint16_t tenant) {
        if (__builtin_expect(tenant >= counters_.of_tenant.size(), 0))
            counters_.of_tenant.resize(tenant + std::size_t{1});
        return counters_.of_tenant[tenant];
    }
    void count_hit(Slot s, std::uint16_t tenant) {
        ++counters_.hits;
        ++asked_by(tenant).hits;
        if (__builtin_expect(uses_[s].prefetched, 0)) {
            uses_[s].prefetched = false;
            ++counters_.prefetch_hits;
        }
    }
    Slot take_in(std::uint32_t key, std::uint16_t tenant = 0);
    Slot take_in_known(std::uint32_t key);
    void want(const Wanted& entry);
    void load(const Wanted& entry);
    void read_page(std::uint64_t page);
    void page_at_hand(std::uint64_t page);
    void drop(Slot s);
    // These are in map_prefetch.cpp.
    void page_was_at_hand(std::uint64_t page);
    void prefetch(std::uint32_t page, const TranslationRead* read);
    bool prefetch_behind(std::uint32_t wanted, std::uint32_t end, std::uint16_t tenant, const TranslationRead* read);
    bool has_room_behind(std::uint32_t wanted, std::uint32_t key);
    enum class Cause : std::uint8_t { host, other };
    void make_room(Cause cause = Cause::other);
    void mark(Lpa lpa, Slot s);
    void keep(std::uint32_t page);
    void compare(const TranslationRead& read) const;
    void flash_done(TranslationRead& read);
    void page_read(TranslationRead& job);

    const CachedMapPeers peers_;
    const FastDivide page_of_;
    const bool by_page_;
    const std::uint32_t units_per_key_;
    const std::uint32_t prefetch_;  ///< 1: nothing but what is wanted
    CachedMappingTable table_;
    EntryCheck check_;
    JobPool<TranslationRead> jobs_;
    WriteBacks write_backs_;
    Counters counters_;
    PageReads page_reads_;
    std::function<void()> on_idle_;
    std::uint64_t occupied_ = 0;       ///< slots with an entry, or with one on its way
    std::vector<Use> uses_;            ///< by slot
    std::uint64_t held_ = 0;           ///< slots with holders
    std::uint64_t look_again_at_ = 0;  ///< so many that are to leave; until then the coldest are all being written
    std::vector<Question> questions_;
    std::vector<std::uint32_t> free_questions_;
    std::deque<std::uint32_t> queue_;                     ///< questions whose turn has not come
    std::deque<Wanted> wanted_;                           ///< need room before their page is read
    std::unordered_map<std::uint32_t, Reading> reading_;  ///< by translation page
    std::uint32_t reads_under_way_ = 0;
    std::vector<Ppa> places_;
};

}  // namespace ssdtlm
