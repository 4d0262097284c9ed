// SPDX-License-Identifier: Apache-2.0
// Turns PRP1, PRP2 and PRP lists into host addresses (NVMe 1.4 §4.3). It does not read host memory: it names the piece
// of the list that it needs next, and the caller feeds it. The page size is 4 KiB (CC.MPS = 0).
#pragma once

#include <cstdint>

#include "controller/dma/host_data.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// Result of a step that looks for the places of data.
enum class WalkStep : std::uint8_t {
    done,       ///< all places are known
    need_list,  ///< read list_bytes() at list_address() and feed() them
    refused     ///< an entry is invalid; a PRP has an offset where none is allowed (status 0/13h)
};

class PrpWalk {
public:
    /// Begins the walk for `bytes` (> 0) of data. Their places are added to `data`.
    WalkStep start(std::uint64_t prp1, std::uint64_t prp2, std::uint64_t bytes, HostData& data) {
        if ((prp1 & 3) != 0) return WalkStep::refused;
        const std::uint64_t first = nvme::kPageBytes - (prp1 & nvme::kPageMask);
        if (bytes <= first) {
            data.add(prp1, bytes);
            return WalkStep::done;
        }
        data.add(prp1, first);
        remaining_ = bytes - first;
        if (remaining_ > nvme::kPageBytes) return at_list(prp2);
        if ((prp2 & nvme::kPageMask) != 0) return WalkStep::refused;
        data.add(prp2, remaining_);
        return WalkStep::done;
    }
    /// `entries` is the content of list_address(), list_bytes() long.
    WalkStep feed(const std::uint8_t* entries, HostData& data);

    std::uint64_t list_address() const { return list_; }
    std::uint32_t list_bytes() const { return count_ * nvme::kPrpEntryBytes; }

private:
    WalkStep at_list(std::uint64_t address);

    std::uint64_t list_ = 0;
    std::uint64_t remaining_ = 0;  // bytes whose place is not known yet
    std::uint32_t count_ = 0;      // entries to read from this list page
};

}  // namespace ssdtlm
