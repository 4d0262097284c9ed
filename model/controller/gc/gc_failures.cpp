// SPDX-License-Identifier: Apache-2.0
// What garbage collection does about pages that cannot be read, programs that fail, and a drive that becomes read-only.
#include "controller/gc/gc_engine.h"

namespace ssdtlm {

__attribute__((noinline, cold)) void GcEngine::abandon(GroupId group) {
    Group& g = groups_[idx(group)];
    exhaust(group);
    g.moves.clear();
    if (on_wait_) on_wait_();
    if (g.inflight == 0) end_victim(group);
}

void GcEngine::stop_in_midst() {
    stop();
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        Group& g = groups_[i];
        if (g.victim == kNoSuperblock || g.exhausted || g.cause != FlashCause::of_class) continue;
        g.left = true;
        if (!g.beginning) leave(GroupId{i});
    }
}

/// What has been read and has no program yet stays where it is.
__attribute__((noinline, cold)) void GcEngine::leave(GroupId group) {
    Group& g = groups_[idx(group)];
    g.moves.clear();
    if (g.inflight != 0) return;
    exhaust(group);
    ftl_.leave_victim(g.victim);
    g.victim = kNoSuperblock;
    g.left = false;
    pacing_.ended(group);
    --active_;
}

__attribute__((noinline, cold)) void GcEngine::give_up_erases() {
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        const Group& g = groups_[i];
        if (g.victim != kNoSuperblock && g.erase_waits && g.inflight == 0) end_victim(GroupId{i});
    }
}

/// Gives up programs that have no page yet.
__attribute__((noinline, cold)) void GcEngine::drop_programs(MoveProgram& first) {
    const GroupId group = group_of(first);
    for (MoveProgram* next = &first; next != nullptr;) {
        MoveProgram& job = *next;
        next = next_of(job);
        --groups_[idx(group)].inflight;
        --groups_[idx(group)].unplaced;
        programs_.release(job);
    }
    pump(group);
}

/// What translation pages say can be read in any case.
__attribute__((noinline, cold)) bool GcEngine::holds_own_units(const MoveRead& read) const {
    bool any = false;
    for (std::uint32_t i = 0; i < read.units; ++i) {
        const Spare unit = ftl_.flash().at(geometry_.ppa_of(read.txn.address, read.slot[i]));
        any = any || (unit != kPadding && ftl_.is_own(codec_.lpa(unit)));
    }
    return any;
}

/// Reads whose unit it is from the flash's record, as the block's directory has it too. The unit is lost unless it is a
/// translation page. True: it is one, and is kept.
__attribute__((noinline, cold)) bool GcEngine::keeps(Ppa from, Spare& unit) const {
    unit = ftl_.flash().at(from);
    if (ftl_.is_own(codec_.lpa(unit))) return true;
    if (ftl_.lose_copy(from) && map_ != nullptr) map_->changed(codec_.lpa(unit));
    return false;
}

// The victim still holds what it held.
__attribute__((noinline, cold)) void GcEngine::program_failed(MoveProgram& job) {
    const GroupId group = group_of(job);
    Group& g = groups_[idx(group)];
    for (std::uint32_t i = 0; i < job.units; ++i)
        if (job.txn.spare[i] != kPadding) g.moves.add(job.txn.spare[i], job.from[i], job.dram_unit[i], job, i);
    ftl_.gc_page_failed(job.txn.address);
    programs_.release(job);
    --g.inflight;
    form_full_rows(group);
    pump(group);
    if (block_freed_) block_freed_();  // a spare one, or the reserve of a drive that is read-only now
}

}  // namespace ssdtlm
