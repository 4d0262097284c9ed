// SPDX-License-Identifier: Apache-2.0
#include "controller/gc/gc_pacing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "controller/gc/paces.h"

namespace ssdtlm {

namespace {
/// A drive that collects in no time has no paces.
std::vector<SourcePace*> paces_that_limit(const Ftl& ftl, bool takes_time) {
    std::vector<SourcePace*> paces;
    if (!takes_time) return paces;
    for (SourcePace* const pace : ftl.victims().paces())
        if (pace->limits()) paces.push_back(pace);
    return paces;
}
}  // namespace

GcPacing::GcPacing(Agenda& agenda, const FtlConfig& config, Ftl& ftl, const HostActivity& host)
    : agenda_(agenda),
      ftl_(ftl),
      host_(host),
      pace_(make_gc_pace(config, ftl.shape())),
      own_paces_(paces_that_limit(ftl, config.gc_charge_time)),
      any_pace_(pace_ != nullptr || !own_paces_.empty()),
      soft_(config.gc_soft_free_blocks),
      hard_(config.gc_hard_free_blocks),
      groups_(ftl.shape().groups()) {}

void GcPacing::begin(GroupId group, SuperblockId victim) {
    Group& g = groups_[idx(group)];
    SSDTLM_CHECK(g.pace == nullptr && !g.held && !g.paused, "a victim begun before the one before it has ended");
    g.started = g.finished = 0;
    g.exhausted = false;
    // What has been read too often wins no room for the host to pay with, and cannot wait for its writes.
    const VictimReason reason = ftl_.victim_reason(victim);
    if (ftl_.is_bad(victim) || reason == VictimReason::refresh) return;
    const std::uint32_t valid = ftl_.superblock(victim).valid, units = ftl_.units_of(victim);
    SourcePace* const own = ftl_.victims().pace(victim);
    if (std::find(own_paces_.begin(), own_paces_.end(), own) != own_paces_.end()) {
        g.pace = g.own = own;
        own->begun(group, valid, units);
        return consider_holding(group);
    }
    g.pace = pace_.get();
    if (g.pace == nullptr) return;
    // Folding wins a whole superblock of the cache, whatever was valid in it.
    g.pace->begun(group, valid, reason == VictimReason::fold ? valid + units : units);
    if (g.unpaid != 0) count_host(group, std::exchange(g.unpaid, 0));
}

void GcPacing::finish(GroupId group, std::uint32_t units) {
    Group& g = groups_[idx(group)];
    g.finished += units;
    if (g.held && !g.pace->holds_host(group, g.finished)) let_go(group);
    if (g.exhausted && g.finished >= g.started) end(group);
}

/// The host's programs go before those of the collection. Where the source has a pace, the host waits for these too, or
/// the last ones would be late.
void GcPacing::exhaust(GroupId group) {
    Group& g = groups_[idx(group)];
    g.exhausted = g.own != nullptr && g.finished < g.started && !ftl_.media().read_only;
    if (!g.exhausted) end(group);
}

void GcPacing::end(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.own != nullptr) g.own->ended(group);
    g.pace = g.own = nullptr;
    g.exhausted = false;
    if (g.paused) unpause(g);
    if (g.held) let_go(group);
}

void GcPacing::let_go(GroupId group) {
    groups_[idx(group)].held = false;
    ftl_.hold_host(group, false);
    host_let_go_();
}

void GcPacing::count_host(GroupId group, std::uint32_t units) {
    Group& g = groups_[idx(group)];
    for (SourcePace* const pace : own_paces_) pace->host_wrote(group, units, {});
    if (g.pace == nullptr) {  // before the first victim, or while one is being erased
        if (pace_ != nullptr) g.unpaid = ftl_.gc_soft(group) ? g.unpaid + units : 0;  // a source counts its own debts
        return;
    }
    if (g.own == nullptr) g.pace->host_wrote(group, units, {ftl_.free_blocks(group), soft_, hard_});
    consider_holding(group);
}

void GcPacing::consider_holding(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.held || !g.pace->holds_host(group, g.finished)) return;
    g.held = true;
    ftl_.hold_host(group, true);
}

bool GcPacing::may_go_on(GroupId group) const {
    const Group& g = groups_[idx(group)];
    return g.pace == nullptr || stopped_ || host_.idle() || ftl_.media().read_only || ftl_.gc_hard(group) ||
           !ftl_.takes_all_streams(group) || !ftl_.takes_own_units(group) ||
           g.pace->may_move(group, g.started, host_.commands());
}

bool GcPacing::pause(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.paused) return false;
    g.paused = true;
    ++paused_;
    ++pauses_;
    return false;
}

void GcPacing::unpause(Group& g) {
    g.paused = g.coming = false;
    --paused_;
}

// It goes on in an agenda entry of its own, because the caller may be in the midst of its work.
void GcPacing::try_to_go_on(GroupId group) {
    Group& g = groups_[idx(group)];
    if (!g.paused || g.coming || !may_go_on(group)) return;
    g.coming = true;
    agenda_.post(agenda_.now(), Then::to<&GcPacing::goes_on>(this, idx(group)));
}

void GcPacing::goes_on(std::uint64_t group) {
    Group& g = groups_[group];
    if (!g.coming) return;  // given up meanwhile
    unpause(g);
    go_on_(GroupId{static_cast<std::uint32_t>(group)});
}

void GcPacing::look_again() {
    for (std::uint32_t i = 0; paused_ != 0 && i < groups_.size(); ++i) try_to_go_on(GroupId{i});
}

void GcPacing::stop() {
    stopped_ = true;
    look_again();
}

void GcPacing::check_waiters() const {
    for (std::uint32_t i = 0; i < groups_.size() && any_pace_; ++i) {
        const Group& g = groups_[i];
        const auto fail = [i](const char* what) { throw CheckFailed("gc: group " + std::to_string(i) + " " + what); };
        if (g.paused && !g.coming && may_go_on(GroupId{i})) fail("is paused, and may go on");
        if (g.held && g.pace == nullptr) fail("holds the host's pages back, and has no victim being emptied");
        if (g.held && g.pace != nullptr && !g.pace->holds_host(GroupId{i}, g.finished))
            fail("holds the host's pages back, and the pace does not want it");
    }
}

}  // namespace ssdtlm
