// SPDX-License-Identifier: Apache-2.0
// How far the victim of each group is, and what the pace makes of it: whether its next pages may be read, or the group
// is paused, and whether the host may write to the group. A source of victims may have a pace of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/gc/host_activity.h"
#include "controller/ports/gc_pace.h"

namespace ssdtlm {

class GcPacing {
public:
    GcPacing(Agenda& agenda, const FtlConfig& config, Ftl& ftl, const HostActivity& host);

    /// `callback` is called when a group that was paused goes on, in an entry of its own.
    void on_go_on(std::function<void(GroupId)> callback) { go_on_ = std::move(callback); }
    /// `callback` is called when the host may write again to a group in which it was held.
    void on_host_let_go(std::function<void()> callback) { host_let_go_ = std::move(callback); }

    // --- What the collection of a group's victim says ---
    void begun(GroupId group, SuperblockId victim) {
        if (__builtin_expect(any_pace_, 0)) begin(group, victim);
    }
    /// The next row of the victim may be read. False: the group is paused from now on.
    bool may_read(GroupId group) { return __builtin_expect(!any_pace_, 1) || may_go_on(group) || pause(group); }
    /// Reads of `units` units of the victim have begun.
    void started(GroupId group, std::uint32_t units) {
        if (__builtin_expect(any_pace_, 0)) groups_[idx(group)].started += units;
    }
    /// `units` units of the victim have another place, or need none any more.
    void finished(GroupId group, std::uint32_t units) {
        if (__builtin_expect(any_pace_, 0)) finish(group, units);
    }
    /// The victim has no more units to read, or it is given up.
    void exhausted(GroupId group) {
        if (__builtin_expect(any_pace_, 0)) exhaust(group);
    }
    /// The victim is exhausted and has nothing under way.
    void ended(GroupId group) {
        if (__builtin_expect(any_pace_, 0) && groups_[idx(group)].pace != nullptr) end(group);
    }

    // --- What may change whether a group may go on ---
    /// Units of the host have been given a place in the group. It may be held from now on.
    void host_wrote(GroupId group, std::uint32_t units) {
        if (__builtin_expect(any_pace_, 0)) count_host(group, units);
    }
    void look_again(GroupId group) {
        if (__builtin_expect(paused_ != 0, 0)) try_to_go_on(group);
    }
    void look_again();
    /// stop(): nothing is paused from now on. go_on() ends this.
    void stop();
    void go_on() { stopped_ = false; }

    bool paused(GroupId group) const { return groups_[idx(group)].paused; }
    /// The group is paused and not about to go on, and the host waits for it.
    bool host_waits(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return g.paused && !g.coming && g.held;
    }
    /// How often groups were paused.
    std::uint64_t pauses() const { return pauses_; }
    /// Throws CheckFailed if a paused group may go on, or the host is held where no victim is being emptied.
    void check_waiters() const;
    /// Precondition: no victim is being emptied.
    template <class Archive>
    void state(Archive& s) {
        for (Group& g : groups_) s(g.unpaid);
        for (SourcePace* const pace : ftl_.victims().paces()) pace->state(s);
    }

private:
    struct Group {
        GcPace* pace = nullptr;     // of the victim that is being emptied; null: none, or it has no pace
        SourcePace* own = nullptr;  // the same, if it is that of the victim's source
        bool exhausted = false;     // of a victim whose source has a pace
        bool paused = false;
        bool coming = false;  // goes on in a moment
        bool held = false;    // the host's pages wait
        std::uint64_t started = 0, finished = 0;
        std::uint32_t unpaid = 0;  // units that the host wrote while no victim was being emptied
    };
    void begin(GroupId group, SuperblockId victim);
    void finish(GroupId group, std::uint32_t units);
    void exhaust(GroupId group);
    void end(GroupId group);
    void consider_holding(GroupId group);
    void count_host(GroupId group, std::uint32_t units);
    bool may_go_on(GroupId group) const;
    bool pause(GroupId group);
    void try_to_go_on(GroupId group);
    void goes_on(std::uint64_t group);
    void unpause(Group& g);
    void let_go(GroupId group);

    Agenda& agenda_;
    Ftl& ftl_;
    const HostActivity& host_;
    const std::unique_ptr<GcPace> pace_;        // null: full speed
    const std::vector<SourcePace*> own_paces_;  // of victim sources; only those that limit
    const bool any_pace_;
    const std::uint32_t soft_, hard_;
    std::vector<Group> groups_;
    std::function<void(GroupId)> go_on_;
    std::function<void()> host_let_go_;
    bool stopped_ = false;
    std::uint32_t paused_ = 0;  // groups
    std::uint64_t pauses_ = 0;
};

}  // namespace ssdtlm
