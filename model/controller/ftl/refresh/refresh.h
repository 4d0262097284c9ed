// SPDX-License-Identifier: Apache-2.0
// What is moved although that wins no room: superblocks that have been read too often, or whose data are old.
// Kernel-free.
#pragma once

#include <cstdint>
#include <optional>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/refresh/read_disturb.h"
#include "controller/ftl/refresh/refresh_queue.h"
#include "controller/ftl/refresh/retention.h"

namespace ssdtlm {

struct Refresh {
    /// 0: reads are not counted, or there are no looks at ages.
    Refresh(std::uint32_t most_reads, std::uint32_t most_looks, const SuperblockShape& shape,
            const BlockManager& blocks)
        : queue(shape, blocks) {
        if (most_reads != 0) reads.emplace(most_reads, shape);
        if (most_looks != 0) ages.emplace(most_looks, shape.superblocks());
    }

    void erased(SuperblockId b) {
        if (reads) reads->erased(b);
        if (ages) ages->erased(b);
    }
    void state(Snapshot& s) {
        queue.state(s);
        if (reads) reads->state(s);
        if (ages) ages->state(s);
    }

    RefreshQueue queue;
    std::optional<ReadDisturb> reads;
    std::optional<Retention> ages;
};

/// Of an FTL: null if it refreshes nothing.
inline bool counts_reads(const Refresh* refresh) {
    return refresh != nullptr && refresh->reads;
}
inline bool looks_at_ages(const Refresh* refresh) {
    return refresh != nullptr && refresh->ages;
}

}  // namespace ssdtlm
