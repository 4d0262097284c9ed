// SPDX-License-Identifier: Apache-2.0
// Cells lose charge: what a superblock holds is moved when its oldest page has reached an age. Ages are counted in
// looks, which come at regular intervals (../../gc/retention_watch.h), so that nothing here knows time. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"

namespace ssdtlm {

class Retention {
public:
    /// What was written since a look is due at the look `most_looks` later: it is then older than one look less, and no
    /// older than `most_looks`. >= 1.
    Retention(std::uint32_t most_looks, std::uint32_t superblocks);

    /// A page of the superblock takes data.
    void written(SuperblockId b) {
        if (__builtin_expect(written_[idx(b)] == kNothing, 0)) note(b, looks_);
    }
    void erased(SuperblockId b) { written_[idx(b)] = kNothing; }
    /// All that hold data, whose ages nobody knows, the one that was written first in front: as if they had been
    /// written at an even rate in the last `most_looks`, which is how a drive that was at work looks. Precondition: no
    /// look yet.
    void spread(const std::vector<SuperblockId>& in_order);
    /// Or as if they were all written now.
    void begin_anew(const std::vector<SuperblockId>& held);
    /// One look. Adds the sealed superblocks that are due, in the order in which they were begun. One that still takes
    /// pages is due with the first look when it is full. Not those of the SLC cache, which is emptied anyhow.
    void look(const BlockManager& blocks, std::vector<SuperblockId>& due);

    /// Looks since the superblock's first page was written, at least; 0 of one that holds nothing.
    std::uint32_t age(SuperblockId b) const { return written_[idx(b)] == kNothing ? 0 : looks_ - written_[idx(b)]; }
    void state(Snapshot& s);

private:
    static constexpr std::uint32_t kNothing = 0;
    void note(SuperblockId b, std::uint32_t look) {
        written_[idx(b)] = look;
        begun_[look % begun_.size()].push_back(b);
    }

    const std::uint32_t most_;
    std::uint32_t looks_;                 // from most_ + 1 on: so much may have been before
    std::vector<std::uint32_t> written_;  // by superblock: the last look before its first page
    std::vector<std::vector<SuperblockId>>
        begun_;                           // by look, modulo: in order; those that were erased since are among them
    std::vector<SuperblockId> not_full_;  // due, but for that
};

}  // namespace ssdtlm
