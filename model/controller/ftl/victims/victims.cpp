// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/victims/victims.h"

#include <algorithm>

namespace ssdtlm {

Victims::Victims(const SuperblockShape& shape, BlockManager& blocks, FtlCounters& counters)
    : shape_(shape), blocks_(blocks), counters_(counters), by_(shape.groups()), moves_cold_(shape.groups()) {}

void Victims::add(VictimSource& source, VictimTurn turn) {
    const auto behind = std::upper_bound(sources_.begin(), sources_.end(), turn,
                                         [](VictimTurn t, const Entry& e) { return t < e.turn; });
    sources_.insert(behind, {turn, &source});
    if (turn == VictimTurn::out_of_turn) out_of_turn_.push_back(&source);
}

SuperblockId Victims::ask(GroupId group, bool idle, VictimSource*& by) {
    for (const Entry& e : sources_) {
        by = e.source;
        const bool is_last = e.source->decides_alone(group);
        const SuperblockId victim = e.source->take(group, idle);
        if (victim != kNoSuperblock || is_last) return victim;
    }
    return kNoSuperblock;
}

SuperblockId Victims::select(GroupId group, bool idle) {
    VictimSource* by = nullptr;
    const SuperblockId victim = ask(group, idle, by);
    moves_cold_[idx(group)] = victim != kNoSuperblock && by->moves_cold();
    if (victim == kNoSuperblock) return victim;
    by_[idx(group)] = by;
    if (by->is_counted()) {
        blocks_.make_victim(victim);
        counters_.victims += shape_.planes();
        counters_.victim_valid_units += blocks_[victim].valid;
    }
    for (const Entry& e : sources_) e.source->chosen(group, victim, *by);
    return victim;
}

/// Returns the source that gave the victim, if it had a reason of its own; else the source that owns it. Null: there is
/// none.
VictimSource* Victims::source_of(SuperblockId victim) const {
    VictimSource* const by = by_[idx(shape_.group_of(victim))];
    if (by != nullptr && by->reason() != VictimReason::space) return by;
    for (const Entry& e : sources_)
        if (e.source->owns(victim)) return e.source;
    return nullptr;
}

VictimReason Victims::reason(SuperblockId victim) const {
    if (blocks_[victim].bad) return VictimReason::failed;
    const VictimSource* const source = source_of(victim);
    return source == nullptr ? VictimReason::space : source->reason();
}

SourcePace* Victims::pace(SuperblockId victim) const {
    VictimSource* const source = source_of(victim);
    return source == nullptr ? nullptr : source->pace();
}

std::vector<SourcePace*> Victims::paces() const {
    std::vector<SourcePace*> paces;
    for (const Entry& e : sources_)
        if (SourcePace* const pace = e.source->pace()) paces.push_back(pace);
    return paces;
}

SuperblockId Victims::emptiest(GroupId group, VictimSource*& of) const {
    SuperblockId found = kNoSuperblock;
    for (const Entry& e : sources_) {
        const SuperblockId b = e.source->emptiest(group);
        if (b == kNoSuperblock || (found != kNoSuperblock && blocks_[b].valid >= blocks_[found].valid)) continue;
        found = b;
        of = e.source;
    }
    return found;
}

void Victims::state(Snapshot& s) {
    s.fixed(moves_cold_);
    for (const std::uint8_t cold : moves_cold_) s.require(cold <= 1, "neither yes nor no");
}

}  // namespace ssdtlm
