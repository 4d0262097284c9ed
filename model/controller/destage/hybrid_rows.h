// SPDX-License-Identifier: Apache-2.0
// Which units of the write buffer make the next row of pages with a hybrid map (ftl/hybrid): whole pages that go on in the sequential log
// block, as many as are there up to the end of a row, or any others for the random log blocks. Units whose page may soon be whole and go
// on there are left for later while there are enough others. This is a matter of how many merges there are: where a page goes is decided
// when it is placed, by what is in it.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/destage/row_choice.h"
#include "controller/ftl/ftl.h"
#include "controller/ports/buffer_port.h"
#include "controller/ports/flash_job.h"

namespace ssdtlm {

class HybridRows {
public:
    /// All must outlive it. The Ftl has a hybrid map.
    HybridRows(const Ftl& ftl, BufferPort& buffer, const RowChoice& choice);

    /// Takes them out of the queue of the lane: a full row of them, if it has as many and they are not of whole pages. In the order of pages.
    const std::vector<BufferPort::Index>& take(std::uint32_t lane);
    /// Pages for the first of these programs, which have units in use, `most` of them. Returns how many; 0: a merge comes first.
    std::uint32_t place(const FlashJob* jobs, std::uint32_t most, PageAddress* out) const;

private:
    bool is_whole(const LogicalPage& page) const;
    void take_run(LogicalPage page);
    bool is_soon_whole(const LogicalPage& page) const;
    bool page_of(const FlashJob& job, LogicalPage& page) const;
    void take_unit(BufferPort::Index i) {
        buffer_.take_dirty(i);
        taken_.push_back(i);
    }

    const Ftl& ftl_;
    BufferPort& buffer_;
    const RowChoice& choice_;
    HybridMap& hybrid_;
    const LogicalBlocks& logical_;
    const std::uint32_t per_page_;
    std::vector<LogicalPage> next_;  // by group: which goes on behind what was taken
    std::vector<BufferPort::Index> taken_, left_;  // of the take() at hand
};

}  // namespace ssdtlm
