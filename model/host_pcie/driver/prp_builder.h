// SPDX-License-Identifier: Apache-2.0
// PRP entries and lists for a contiguous buffer, as Linux drivers/nvme/host/pci.c lays them out: a list of at most
// 32 entries lives in a 256-byte piece, a longer one in whole pages whose last slot points to the next page.
// Or an SGL, which is one descriptor. Source: NVMe 1.4 §4.3, §4.4.
#pragma once

#include <cstdint>
#include <vector>

#include "host_pcie/driver/host_memory.h"

namespace ssdtlm {

/// Memory for the PRP lists of one command slot; taken when first needed, kept for the next command.
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

/// Describes `bytes` bytes at `address` (dword aligned) for pages of `page_bytes`; writes the list if one is needed.
PrpPair build_prp(HostMemory& memory, std::uint32_t page_bytes, std::uint64_t address, std::uint64_t bytes,
                  PrpListMemory& lists);

/// As build_prp(), but with an SGL where PRPs would need a list. The controller has to take SGLs. Linux nvme_map_data()
/// does so with data in one piece if its sgl_threshold is not 0.
PrpPair build_sgl(HostMemory& memory, std::uint32_t page_bytes, std::uint64_t address, std::uint64_t bytes,
                  PrpListMemory& lists);

/// The data buffer of one command slot: contiguous, grown to the largest transfer the slot has carried.
struct SlotBuffer {
    static constexpr std::uint32_t kMaxBytes =
        32u << 20;  ///< largest transfer: 65,536 blocks (NLB) of 512 bytes; stays inside one chunk of HostMemory

    std::uint64_t address = 0;  ///< first byte: page aligned plus the configured offset
    std::uint8_t* data = nullptr;
    std::uint32_t capacity = 0;
    PrpListMemory lists;

    /// Makes room for `bytes` (at most kMaxBytes). Old contents are lost when it grows.
    void reserve(HostMemory& memory, std::uint32_t bytes, std::uint32_t page_bytes, std::uint32_t offset);
};

}  // namespace ssdtlm
