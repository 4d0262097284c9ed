// SPDX-License-Identifier: Apache-2.0
// Which superblock of a group is collected next: an ordered list of sources (victim_source.h), each asked in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/ftl_counters.h"
#include "controller/ftl/victims/victim_source.h"

namespace ssdtlm {

class Victims {
public:
    Victims(const SuperblockShape& shape, BlockManager& blocks, FtlCounters& counters);

    /// Sources of one turn are asked in the order in which they were added. The source must outlive this.
    void add(VictimSource& source, VictimTurn turn);

    /// A source newly wants a superblock of the group collected. Whoever collects is told at once.
    void due(GroupId group) const {
        if (due_) due_(group);
    }
    void on_due(std::function<void(GroupId)> callback) { due_ = std::move(callback); }

    /// True: a source has a reason of its own to collect in the group.
    bool wanted(GroupId group, bool idle) const {
        for (const VictimSource* const s : out_of_turn_)
            if (s->wants(group, idle)) return true;
        return false;
    }
    /// Chooses and counts the group's next victim. kNoSuperblock: no source has one.
    SuperblockId select(GroupId group, bool idle);
    /// Why this victim was chosen. Precondition: it is its group's last victim.
    VictimReason reason(SuperblockId victim) const;
    /// The pace of the source that has a reason to collect this victim. Null: it has none. Same precondition.
    SourcePace* pace(SuperblockId victim) const;
    /// The paces of all sources that have one.
    std::vector<SourcePace*> paces() const;
    /// True: the data of the group's victim are moved to where data lie that hardly change.
    bool moves_cold(GroupId group) const { return moves_cold_[idx(group)] != 0; }

    /// The emptiest superblock that sources own, by VictimSource::emptiest(). `of`: the source that owns it.
    SuperblockId emptiest(GroupId group, VictimSource*& of) const;

    void state(Snapshot& s);

private:
    struct Entry {
        VictimTurn turn;
        VictimSource* source;
    };
    SuperblockId ask(GroupId group, bool idle, VictimSource*& by);
    VictimSource* source_of(SuperblockId victim) const;

    const SuperblockShape& shape_;
    BlockManager& blocks_;
    FtlCounters& counters_;
    std::vector<Entry> sources_;
    std::function<void(GroupId)> due_;  // empty: nobody collects yet
    std::vector<VictimSource*> out_of_turn_;
    std::vector<VictimSource*> by_;         // by group: who gave its last victim
    std::vector<std::uint8_t> moves_cold_;  // by group, of its last victim
};

}  // namespace ssdtlm
