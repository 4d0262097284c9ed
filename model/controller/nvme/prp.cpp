// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/prp.h"

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

PrpWalk::Step PrpWalk::at_list(std::uint64_t address) {
    if (address % kPrpEntryBytes != 0) return Step::bad_offset;
    list_ = address;
    const std::uint64_t fit = (kPageBytes - (address & kPageMask)) / kPrpEntryBytes;
    count_ = static_cast<std::uint32_t>(std::min((remaining_ + kPageMask) / kPageBytes, fit));
    return Step::need_list;
}

PrpWalk::Step PrpWalk::feed(const std::uint64_t* entries, HostData& data) {
    // When more entries are needed than the list page holds, its last slot points to the next list page.
    const bool chained = remaining_ > std::uint64_t{count_} * kPageBytes;
    const std::uint32_t pages = chained ? count_ - 1 : count_;
    for (std::uint32_t i = 0; i < pages; ++i) {
        if ((entries[i] & kPageMask) != 0) return Step::bad_offset;
        const std::uint64_t bytes = std::min<std::uint64_t>(remaining_, kPageBytes);
        data.add(entries[i], bytes);
        remaining_ -= bytes;
    }
    if (!chained) return Step::done;
    const std::uint64_t next = entries[pages];
    return (next & kPageMask) != 0 ? Step::bad_offset : at_list(next);
}

}  // namespace ssdtlm
