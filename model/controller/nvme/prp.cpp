// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/prp.h"

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

WalkStep PrpWalk::at_list(std::uint64_t address) {
    if (address % kPrpEntryBytes != 0) return WalkStep::refused;
    list_ = address;
    const std::uint64_t fit = (kPageBytes - (address & kPageMask)) / kPrpEntryBytes;
    count_ = static_cast<std::uint32_t>(std::min((remaining_ + kPageMask) / kPageBytes, fit));
    return WalkStep::need_list;
}

WalkStep PrpWalk::feed(const std::uint8_t* entries, HostData& data) {
    // If the list page does not hold all entries, its last slot points to the next list page.
    const bool chained = remaining_ > std::uint64_t{count_} * kPageBytes;
    const std::uint32_t pages = chained ? count_ - 1 : count_;
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto page = load<std::uint64_t>(entries + i * kPrpEntryBytes);
        if ((page & kPageMask) != 0) return WalkStep::refused;
        const std::uint64_t bytes = std::min<std::uint64_t>(remaining_, kPageBytes);
        data.add(page, bytes);
        remaining_ -= bytes;
    }
    if (!chained) return WalkStep::done;
    const auto next = load<std::uint64_t>(entries + pages * kPrpEntryBytes);
    return (next & kPageMask) != 0 ? WalkStep::refused : at_list(next);
}

}  // namespace ssdtlm
