// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/prp.h"

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

PrpWalk::Step PrpWalk::at_list(std::uint64_t address) {
    if (address % kPrpEntryBytes != 0) return Step::bad_offset;
    list_ = address;
    const std::uint64_t fit = (kPageBytes - (address & kPageMask)) / kPrpEntryBytes;
    count_ = static_cast<std::uint32_t>(std::min(remaining_, fit));
    return Step::need_list;
}

PrpWalk::Step PrpWalk::feed(const std::uint64_t* entries, std::vector<std::uint64_t>& pages) {
    // When more entries are needed than the list page holds, its last slot points to the next list page.
    const bool chained = remaining_ > count_;
    const std::uint32_t data = chained ? count_ - 1 : count_;
    for (std::uint32_t i = 0; i < data; ++i) {
        if ((entries[i] & kPageMask) != 0) return Step::bad_offset;
        pages.push_back(entries[i]);
    }
    remaining_ -= data;
    if (!chained) return Step::done;
    const std::uint64_t next = entries[data];
    return (next & kPageMask) != 0 ? Step::bad_offset : at_list(next);
}

}  // namespace ssdtlm
