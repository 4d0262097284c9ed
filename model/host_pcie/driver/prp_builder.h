// SPDX-License-Identifier: Apache-2.0
// Makes PRP entries and lists for a contiguous buffer, as Linux drivers/nvme/host/pci.c does. A list of at most 32
// entries lies in a piece of 256 bytes. A longer one lies in whole pages, whose last slot points to the next page. It
// can also make an SGL, which is one descriptor. Source: NVMe 1.4 §4.3, §4.4.
#pragma once

#include <cstdint>
#include <vector>

#include "host_pcie/driver/host_memory.h"

namespace ssdtlm {

/// The memory for the PRP lists of a command slot. It is allocated when it is first needed, and kept for later
/// commands.
struct PrpListMemory {
    std::uint64_t small = 0;  ///< 256 bytes; 0: not yet allocated
    std::vector<std::uint64_t> pages;
};

/// The data pointer of an entry.
struct PrpPair {
    std::uint64_t prp1 = 0;
    std::uint64_t prp2 = 0;  ///< 0, the second page, or the address of a list
    std::uint8_t flags = 0;  ///< PSDT: 0, or nvme::kFlagsSgl, and the two are an SGL descriptor
};

/// Describes `bytes` bytes at `address` (dword aligned) for pages of `page_bytes`, and writes the list if one is
/// needed.
PrpPair build_prp(HostMemory& memory, std::uint32_t page_bytes, std::uint64_t address, std::uint64_t bytes,
                  PrpListMemory& lists);

/// Makes an SGL if PRPs would need a list, and else does what build_prp() does. The controller must support SGLs. Linux
/// nvme_map_data() does so for data in one piece if its sgl_threshold is not 0.
PrpPair build_sgl(HostMemory& memory, std::uint32_t page_bytes, std::uint64_t address, std::uint64_t bytes,
                  PrpListMemory& lists);

/// The data buffer of a command slot. It is contiguous, and as large as the largest transfer of the slot.
struct SlotBuffer {
    static constexpr std::uint32_t kMaxBytes =
        32u << 20;  ///< largest transfer: 65,536 blocks (NLB) of 512 bytes; stays inside one chunk of HostMemory

    std::uint64_t address = 0;  ///< first byte: page aligned plus the configured offset
    std::uint8_t* data = nullptr;
    std::uint32_t capacity = 0;
    PrpListMemory lists;

    /// Makes room for `bytes` (at most kMaxBytes). If the buffer grows, its contents are lost.
    void reserve(HostMemory& memory, std::uint32_t bytes, std::uint32_t page_bytes, std::uint32_t offset);
};

}  // namespace ssdtlm
