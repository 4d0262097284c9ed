// SPDX-License-Identifier: Apache-2.0
// Units of each block whose read is planned or under way. They hold off its erase. The table has only the blocks that
// are being read: a counter in each block's record would be a cache miss in every host read.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "common/containers/key_table.h"
#include "common/report/error.h"

namespace ssdtlm {

class ReadsUnderWay {
public:
    std::uint32_t of(BlockId b) const {
        const Reads* r = reads_.find(idx(b));
        return r == nullptr ? 0 : r->count;
    }
    void started(BlockId b, std::uint32_t units) {
        bool fresh = false;
        reads_.insert(idx(b), fresh).count += units;
    }
    /// Precondition (checked): of(b) >= units.
    void finished(BlockId b, std::uint32_t units) {
        Reads* r = reads_.find(idx(b));
        SSDTLM_CHECK(r != nullptr && r->count >= units, "read finished that never started");
        if ((r->count -= units) == 0) reads_.erase(*r);
    }
    bool any() const { return reads_.size() != 0; }

private:
    struct Reads {
        std::uint32_t key = 0;  ///< the block
        std::uint32_t count = 0;
    };
    KeyTable<Reads, 256> reads_;
};

}  // namespace ssdtlm
