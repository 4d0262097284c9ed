// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/prp_builder.h"

#include <algorithm>

#include "common/report/error.h"
#include "protocol/nvme.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kSmallBytes = 256;  // Linux drivers/nvme/host/pci.c: prp_small_pool
constexpr std::uint32_t kSmallEntries = kSmallBytes / nvme::kPrpEntryBytes;

std::uint64_t page_of(HostMemory& memory, PrpListMemory& lists, std::size_t i, std::uint32_t page_bytes) {
    while (lists.pages.size() <= i) lists.pages.push_back(memory.allocate(page_bytes, page_bytes));
    return lists.pages[i];
}

}  // namespace

PrpPair build_prp(HostMemory& memory, std::uint32_t page_bytes, std::uint64_t address, std::uint64_t bytes,
                  PrpListMemory& lists) {
    SSDTLM_CHECK(address % 4 == 0 && bytes > 0, "PRP1 must be dword aligned and the buffer not empty");
    PrpPair prp{address, 0};
    const std::uint64_t in_first = page_bytes - address % page_bytes;
    if (bytes <= in_first) return prp;
    std::uint64_t page = address + in_first;
    std::uint64_t left = div_ceil(bytes - in_first, page_bytes);
    if (left == 1) {
        prp.prp2 = page;
        return prp;
    }
    std::uint64_t list;
    std::uint64_t room;
    if (left <= kSmallEntries) {
        if (lists.small == 0) lists.small = memory.allocate(kSmallBytes, kSmallBytes);
        list = lists.small;
        room = kSmallEntries;
    } else {
        list = page_of(memory, lists, 0, page_bytes);
        room = page_bytes / nvme::kPrpEntryBytes;
    }
    prp.prp2 = list;
    for (std::size_t i = 1;; ++i) {
        // The last slot of a full page is a data entry if the data end with it. Else it points to the next page.
        const std::uint64_t entries = left <= room ? left : room - 1;
        std::uint8_t* to = memory.at(list, (left <= room ? entries : room) * nvme::kPrpEntryBytes);
        for (std::uint64_t e = 0; e < entries; ++e, page += page_bytes, to += nvme::kPrpEntryBytes)
            nvme::store(to, page);
        left -= entries;
        if (left == 0) return prp;
        list = page_of(memory, lists, i, page_bytes);
        nvme::store(to, list);
    }
}

PrpPair build_sgl(HostMemory& memory, std::uint32_t page_bytes, std::uint64_t address, std::uint64_t bytes,
                  PrpListMemory& lists) {
    if (address % page_bytes + bytes <= 2 * std::uint64_t{page_bytes})
        return build_prp(memory, page_bytes, address, bytes, lists);
    nvme::Sqe sqe;
    nvme::set_sgl(sqe,
                  nvme::SglDescriptor::of(nvme::SglDescriptor::kDataBlock, address, static_cast<std::uint32_t>(bytes)));
    return {sqe.prp1, sqe.prp2, sqe.flags};
}

void SlotBuffer::reserve(HostMemory& memory, std::uint32_t bytes, std::uint32_t page_bytes, std::uint32_t offset) {
    if (bytes <= capacity) return;
    SSDTLM_CHECK(bytes <= kMaxBytes && offset < page_bytes, "data buffer too large");
    // The size doubles, so all buffers that are left behind are together smaller than the final one.
    std::uint32_t size = std::max(capacity, page_bytes);
    while (size < bytes) size *= 2;
    address = memory.allocate(std::uint64_t{size} + (offset != 0 ? page_bytes : 0), page_bytes) + offset;
    data = memory.at(address, size);
    capacity = size;
}

}  // namespace ssdtlm
