// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/interrupts.h"

namespace ssdtlm {

using namespace nvme;

std::uint32_t MsixTable::read_table(std::uint32_t offset) const {
    const std::uint32_t vector = offset / kMsixEntryBytes;
    if (vector >= entries_.size()) return 0;
    const Entry& e = entries_[vector];
    switch (offset % kMsixEntryBytes) {
        case kMsixAddressLow:
            return static_cast<std::uint32_t>(e.address);
        case kMsixAddressHigh:
            return static_cast<std::uint32_t>(e.address >> 32);
        case kMsixData:
            return e.data;
        case kMsixControl:
            return e.control;
        default:
            return 0;
    }
}

std::uint32_t MsixTable::read_pba(std::uint32_t offset) const {
    const std::uint32_t word = offset / 8;
    if (word >= pending_.size()) return 0;
    return static_cast<std::uint32_t>(offset % 8 == 0 ? pending_[word] : pending_[word] >> 32);
}

int MsixTable::write_table(std::uint32_t offset, std::uint32_t value) {
    const std::uint32_t vector = offset / kMsixEntryBytes;
    if (vector >= entries_.size()) return -1;
    Entry& e = entries_[vector];
    switch (offset % kMsixEntryBytes) {
        case kMsixAddressLow:
            e.address = (e.address & ~0xFFFFFFFFull) | (value & ~3u);
            break;
        case kMsixAddressHigh:
            e.address = (e.address & 0xFFFFFFFFull) | std::uint64_t{value} << 32;
            break;
        case kMsixData:
            e.data = value;
            break;
        case kMsixControl: {
            e.control = value & 1;
            const std::uint64_t bit = 1ull << (vector % 64);
            if (e.control != 0 || (pending_[vector / 64] & bit) == 0) break;
            pending_[vector / 64] &= ~bit;
            return static_cast<int>(vector);
        }
        default:
            break;
    }
    return -1;
}

}  // namespace ssdtlm
