// SPDX-License-Identifier: Apache-2.0
// Garbage collection in time: for each group of planes, one victim after the other is read into the DRAM, its valid
// units are programmed into the group's GC superblock, and it is erased. What belongs to one row of pages is handed to
// the flash at one instant, so that it can become one multi-plane operation. What to collect and where to put it is the
// Ftl's business. What a failed program was to move is programmed again; what cannot be read is marked as lost. A
// superblock in which a program or the erase failed is not used again. In a read-only drive nothing is collected: what
// was begun stays as it is.
//
// With gc.charge_time = false all this takes no time (gc_at_once.h): after each command of the host one victim at most
// in each group that wants collection, and as many as it takes where the host waits for a free superblock, or is idle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_at_once.h"
#include "controller/gc/gc_pacing.h"
#include "controller/gc/gc_probe.h"
#include "controller/gc/host_activity.h"
#include "controller/gc/merge_engine.h"
#include "controller/gc/victim_units.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/dram_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/map_port.h"
#include "controller/ports/map_updates.h"
#include "controller/ports/organ.h"
#include "controller/refresh/retention_watch.h"

namespace ssdtlm {

class GcEngine final : public EraseGate, public Organ, public ProgramOwner {
public:
    GcEngine(Agenda& agenda, const FirmwareConfig& firmware, const FtlConfig& config, const NandGeometry& geometry,
             CorePort& cores, Ftl& ftl, DramPort& dram, FlashPort& flash, PageWriter& writer, FlashJobs& jobs,
             HostActivity& host);

    /// Called after each erase, when a block came free.
    void on_block_freed(std::function<void()> callback) { block_freed_ = std::move(callback); }
    /// Called when a victim's erase waits: for reads, for newer copies of its units, or for the journal.
    void on_erase_waits(std::function<void(SuperblockId)> callback) { erase_waits_ = std::move(callback); }
    /// Called when the pace lets the host write again to a group in which it was held.
    void on_host_let_go(std::function<void()> callback) { pacing_.on_host_let_go(std::move(callback)); }
    void set_probe(GcProbe* probe) { probe_ = probe; }
    /// Sets who is told of each unit that was moved, where the map is not all in memory.
    void set_map(MapUpdates& map) {
        map_ = &map;
        if (at_once_) at_once_->set_map(map);
    }
    /// Sets the merges of a mapping by blocks, which are told of events that may concern them too.
    void set_merges(MergeEngine& merges) { merges_ = &merges; }
    /// Starts collecting in `group` if it wants collection and is not collecting yet. If it is paused and may go on, it
    /// goes on.
    void check(GroupId group);
    void check(PlaneId plane) { check(ftl_.shape().group_of(plane)); }
    void check_all() {
        for (std::uint32_t g = 0; g < ftl_.shape().groups(); ++g) check(GroupId{g});
    }
    /// Units of the host have been given a page of this plane.
    void host_wrote(PlaneId plane, std::uint32_t units) {
        pacing_.host_wrote(ftl_.shape().group_of(plane), units);
        check(plane);
    }
    /// A host read of `block` has ended; a victim that waited for it may now be erased.
    void read_finished(PlaneId plane, BlockId block) override {
        if (__builtin_expect(merges_ != nullptr, 0)) merges_->let_go(ftl_.shape().superblock_of(block));
        if (active_ == 0) return;
        const GroupId group = ftl_.shape().group_of(plane);
        const Group& g = groups_[idx(group)];
        if (g.victim == ftl_.shape().superblock_of(block) && g.erase_waits) try_erase(group);
    }
    /// The last newer copy of what this superblock held is programmed; a victim that waited for it may now be erased.
    void let_go(SuperblockId b) {
        if (__builtin_expect(merges_ != nullptr, 0)) merges_->let_go(b);
        const Group& g = groups_[idx(ftl_.shape().group_of(b))];
        if (g.victim == b && g.erase_waits) try_erase(ftl_.shape().group_of(b));
    }
    /// Throws CheckFailed if a victim waits and nothing will move it on: it must have something in flight, or wait for
    /// a read of its blocks. Call it between two events. It looks at every group.
    void check_waiters() const override;
    /// A block has failed, or the drive is read-only. Collections under way go on or are given up.
    void media_changed() override { pacing_.look_again(); }
    void give_up_erases();  ///< which wait, of a read-only drive whose journal finds no page any more
    void watch_ages() {
        if (ages_) ages_->go_on();
    }  ///< ages count from now on, where they are looked at
    /// `then` is called when a victim may begin to wait for programs that do not end by themselves.
    void on_wait(const Then& then) { on_wait_ = then; }
    /// True: exactly `n` programs of the group's victim are left, and nothing else.
    bool waits_for_programs(GroupId group, std::uint32_t n) const {
        return groups_[idx(group)].exhausted && groups_[idx(group)].moves.empty() && groups_[idx(group)].inflight == n;
    }
    /// Counts of victims: those that have more pages to read, those with as many pages under way as may be, and those
    /// that the pace stops. It looks at every group.
    struct Held {
        std::uint32_t collected = 0, by_depth = 0, by_pace = 0;
    };
    Held held() const;
    bool any_erase_waits() const {
        return active_ != 0 &&
               std::any_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.erase_waits; });
    }
    /// Begins no new victims from now on. Those under way are finished.
    void stop() {
        stopped_ = true;
        pacing_.stop();
        if (ages_) ages_->stop();
    }
    void stop_in_midst();  ///< as stop(), but victims that are collected for space are left half emptied for whoever
                           ///< goes on with this FTL
    void go_on() {
        stopped_ = false;
        pacing_.go_on();
        if (ages_) ages_->go_on();
        check_all();
    }
    /// Number of groups in which something is collected or merged, plus 1 for a look at ages under way.
    std::uint32_t active() const {
        return active_ + looks_ + (ages_ && ages_->under_way() ? 1 : 0) + (merges_ != nullptr ? merges_->active() : 0);
    }
    bool idle() const override { return active() == 0; }
    bool collects(GroupId group) const {
        return groups_[idx(group)].victim != kNoSuperblock || groups_[idx(group)].beginning ||
               groups_[idx(group)].looked_at || (merges_ != nullptr && merges_->busy(group));
    }
    std::uint64_t victims() const { return victims_; }
    const GcPacing& pacing() const { return pacing_; }
    /// Counts of pages and blocks that the dies do not see.
    GcAtOnce::Counters at_once() const { return at_once_ ? at_once_->counters() : GcAtOnce::Counters{}; }
    /// The superblock that was chosen last, as its block in the first plane; kNoBlock when there was none.
    BlockId last_victim() const { return last_victim_; }
    std::string dump() const override;
    /// Precondition: active() == 0.
    void state(Snapshot& s);

private:
    struct Group {
        SuperblockId victim = kNoSuperblock;
        std::uint64_t number = 0;                 ///< of this collection, from 1: the owner of its flash work
        FlashCause cause = FlashCause::of_class;  ///< of that work
        std::uint32_t cursor = 0;                 ///< page of the victim to look at next
        std::uint32_t inflight = 0;               ///< reads, programs and erases
        std::uint32_t reads = 0;
        std::uint32_t unplaced = 0;  ///< pages of programs that have no flash page yet
        bool beginning = false;      ///< a core is still choosing
        bool exhausted = false;
        bool erase_waits = false;
        bool erase_failed = false;
        WorkTag whose;           ///< the flow whose write had the victim collected
        bool looked_at = false;  ///< at once: in an entry that is to come
        bool left = false;       ///< stop_in_midst(): when nothing is under way it is given back
        VictimUnits moves;       ///< read, not yet given to a program
    };

    bool choose(GroupId group);
    bool collect_at_once(GroupId group);
    void look_at_once(GroupId group);
    void collect_while_needed(std::uint64_t group);
    void after_command();
    void erase_at_once(std::uint64_t group);
    void begin(std::uint64_t group);
    bool wants_collection(GroupId group) const;
    void pump(GroupId group);
    void exhaust(GroupId group);
    /// Hands the work that begins with this job, and all that is chained to it, to the flash.
    void issue(FlashJob& first) { submit_all(flash_, first); }
    void issue_programs(MoveProgram& first);
    bool has_wanted(MoveProgram& program);
    MoveRead& start_read(GroupId group, std::uint32_t mask);
    void page_read(MoveRead& job);
    void take_in(MoveRead& job);
    void read_done(MoveRead& job);
    bool holds_own_units(const MoveRead& read) const;
    bool keeps(Ppa from, Spare& unit) const;
    void programmed(MoveProgram& job);
    void program_done(MoveProgram& job);
    void tell_map(const MoveProgram& job) const;
    void program_failed(MoveProgram& job);
    void drop_programs(MoveProgram& first);
    void abandon(GroupId group);
    void leave(GroupId group);
    void end_victim(GroupId group);
    void erased(FlashJob& job);
    void erase_done(FlashJob& job);
    std::uint32_t row_room(GroupId group) const;
    void form_full_rows(GroupId group);
    void form_row(GroupId group);
    void try_erase(GroupId group);
    GroupId group_of(const FlashJob& job) const { return ftl_.shape().group_of(job.txn.address.plane); }
    void step(GroupId group, std::uint64_t cycles, CoreStep what, const Then& next, Ps waits = {}) {
        cores_.run(idx(group), cycles, what, next, waits);
    }
    void prepare(FlashJob& job, FlashOp op, FlashClass cls, PageAddress address, const Then& then);

    Agenda& agenda_;
    const FirmwareConfig& firmware_;
    const NandGeometry geometry_;
    CorePort& cores_;
    Ftl& ftl_;
    DramPort& dram_;
    FlashPort& flash_;
    PageWriter& writer_;
    FlashJobs& jobs_;
    JobPool<MoveRead> reads_;
    JobPool<MoveProgram> programs_;
    JobPool<FlashJob> erases_;
    const SpareCodec codec_;
    const HostActivity& host_;
    GcPacing pacing_;
    const std::unique_ptr<GcAtOnce> at_once_;  // null: it takes its time
    std::unique_ptr<RetentionWatch> ages_;     // null: nobody looks at them
    const std::uint32_t most_inflight_;        // of a group
    const std::uint32_t idle_free_blocks_;
    std::vector<Group> groups_;
    std::function<void()> block_freed_;
    std::function<void(SuperblockId)> erase_waits_;
    GcProbe* probe_ = nullptr;
    MapUpdates* map_ = nullptr;
    MergeEngine* merges_ = nullptr;  // null: there are none
    Then on_wait_;                   // empty: each program ends by itself
    bool stopped_ = false;
    std::uint32_t active_ = 0, looks_ = 0;  // groups that are collected; that are looked at in an entry to come
    std::uint64_t collections_ = 0;
    std::uint64_t victims_ = 0;
    BlockId last_victim_ = kNoBlock;
};

}  // namespace ssdtlm
