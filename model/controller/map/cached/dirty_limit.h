// SPDX-License-Identifier: Apache-2.0
// Limits the dirty translation pages to as many as capacitors can write when the power goes (map.power_protected). It
// stands before CachedMap, for those who change the map. A row of units whose entries would make one more page dirty
// waits until the page that was changed longest ago is written. A row counts with all of its pages from its turn until
// its units are done, and turns are taken in order. A row waits for no flash page before its turn, so the writes for it
// make its turn come.
//
// Units that garbage collection has moved or that are deallocated do not count: out-of-band areas and the journal say
// the same. Pages written for them would have to be moved in turn, for ever. Some pages may be dirty beyond the limit
// until a row wants room: pages that a start finds dirty, and those of units that are lost, or placed again because a
// program has failed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/map/cached/cached_map.h"
#include "controller/ports/dirty_pages.h"
#include "controller/ports/organ.h"

namespace ssdtlm {

class DirtyLimit final : public MapUpdates, public DirtyPages, public Organ {
public:
    /// Both arguments must outlive it.
    DirtyLimit(const CachedMapPeers& peers, CachedMap& map);

    bool bring_in(const Lpa* units, const WorkTag* whose, std::uint32_t count, const Then& then) override;
    void done(Lpa lpa, bool has_changed) override;
    void changed(Lpa lpa) override;
    void moved(Lpa lpa) override;

    /// Only pages that no row holds and nobody writes are in this order.
    std::uint32_t newest() const override { return newest_; }
    std::uint32_t before(std::uint32_t page) const override { return pages_[page].older; }

    /// Most translation pages that may be dirty.
    std::uint32_t most() const { return most_; }
    /// Pages that are dirty, or will be when the rows under way have their places.
    std::uint32_t dirty() const { return counted_; }
    /// Most pages that the writes of the host have made dirty at a time.
    std::uint32_t most_dirty() const { return most_counted_; }
    /// Rows that had to wait.
    std::uint64_t waits() const { return waits_; }
    bool anybody_waits() const { return !rows_.empty(); }
    /// True: the page may be dirty.
    bool counts(std::uint32_t page) const { return pages_[page].counted; }
    void media_changed() override { go_on(); }
    /// Changes the unit's entry. Pages that are then dirty beyond the limit are written in no time. Use it before the
    /// drive is at work.
    void write_in_no_time(Lpa lpa);
    /// Throws CheckFailed if somebody waits for an event that will never come, or a dirty page of the host is not
    /// counted. Call it between two events.
    void check_waiters() const override;
    std::string dump() const override;
    /// Precondition: the map is idle and nobody waits.
    void state(Snapshot& s);

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    struct Page {
        std::uint32_t held = 0;  ///< units of rows under way
        bool joined = false;     ///< has changed since its write-back had its place
        bool flying = false;     ///< is being programmed, and counts until that has ended
        bool counted = false;
        bool may_leave = false;  ///< in the list of those that may be written
        bool leaving = false;    ///< counted, but not for long
        std::uint32_t older = kNone, newer = kNone;
    };
    struct Row {
        Then then;
        std::vector<Lpa> units;
        std::vector<WorkTag> whose;
    };
    std::uint32_t page_of(Lpa lpa) const { return idx(lpa) / entries_; }
    std::uint32_t more_for(const Lpa* units, std::uint32_t count);
    bool fits(std::uint32_t more) const { return counted_ + more <= most_ || peers_.ftl.media().read_only; }
    void hold(const Lpa* units, std::uint32_t count);
    void join(std::uint32_t page);
    void page_changed(std::uint32_t page);
    void update(std::uint32_t page);
    void link(std::uint32_t page);
    void unlink(std::uint32_t page);
    void take_over();
    void go_on();
    void write_oldest();
    void answer(std::uint64_t row);

    const CachedMapPeers peers_;
    CachedMap& map_;
    const std::uint32_t entries_;  // of a translation page
    const std::uint32_t most_;
    const bool until_programmed_;
    std::vector<Page> pages_;
    std::uint32_t oldest_ = kNone, newest_ = kNone;  // of those that may be written
    std::uint32_t counted_ = 0;
    std::uint32_t may_leave_ = 0, leaving_ = 0;
    std::uint32_t most_counted_ = 0;
    std::uint64_t waits_ = 0;
    bool at_work_ = false;
    std::deque<Row> rows_;      // wait for their turn
    std::vector<Row> answers_;  // on their way
    std::vector<std::uint32_t> free_answers_;
    std::vector<std::uint32_t> seen_;  // of the more_for() at hand
};

}  // namespace ssdtlm
