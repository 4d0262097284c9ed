// SPDX-License-Identifier: Apache-2.0
// The SLC cache among the other superblocks: when the host's pages go into it.
#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

std::uint32_t Ftl::take_slc_pages(GroupId group, std::uint32_t most, PageAddress* out) {
    const std::uint32_t from = slc_->write_pointer(group), left = row_left(from), n = std::min(most, left);
    for (std::uint32_t i = 0; i < n; ++i) out[i] = slc_->allocate(group);
    if (from + n == slc_->pages()) update_able(group);
    if (shape_.planes() != 1) lanes_.cursor(group, 0).set_ragged(group, n != left);
    counters_.host_pages_allocated += n;
    return n;
}

std::uint32_t Ftl::units_of(SuperblockId b) const {
    return blocks_[b].stream == kSlcStream ? slc_->pages() * geometry_.units_per_page() : shape_.data_units();
}

}  // namespace ssdtlm
