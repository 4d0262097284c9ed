// SPDX-License-Identifier: Apache-2.0
// Cells lose charge, so the data of a superblock are moved when its oldest page has reached an age. Ages are counted in
// looks, which come at regular intervals (retention_watch.h), so that this class needs no time. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"

namespace ssdtlm {

class Retention {
public:
    /// Data written after a look are due `most_looks` looks later. They are then older than `most_looks` - 1 intervals
    /// and no older than `most_looks`. `most_looks` is 1 or more.
    Retention(std::uint32_t most_looks, std::uint32_t superblocks);

    /// A page of the superblock takes data.
    void written(SuperblockId b) {
        if (__builtin_expect(written_[idx(b)] == kNothing, 0)) note(b, looks_);
    }
    void erased(SuperblockId b) { written_[idx(b)] = kNothing; }
    /// Sets the ages of superblocks whose ages nobody knows. `in_order`: all that hold data, the one written first in
    /// front. They count as written at an even rate in the last `most_looks`, as in a drive that was at work.
    /// Precondition: no look yet.
    void spread(const std::vector<SuperblockId>& in_order);
    /// Sets the ages of these superblocks as if all were written now.
    void begin_anew(const std::vector<SuperblockId>& held);
    /// Does one look. Adds to `due` the sealed superblocks that are due, in the order in which they were begun. One
    /// that still takes pages becomes due at the first look after it is full. Superblocks of the SLC cache are left
    /// out, as they are emptied anyhow.
    void look(const BlockManager& blocks, std::vector<SuperblockId>& due);

    /// Looks since the superblock's first page was written, at least; 0 if it holds nothing.
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
