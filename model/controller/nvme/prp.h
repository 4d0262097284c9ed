// SPDX-License-Identifier: Apache-2.0
// Turns PRP1, PRP2 and PRP lists into host page addresses (NVMe 1.4 §4.3). Does not read host memory: it says which
// list piece it needs next, and is fed with it. Page size 4 KiB (CC.MPS = 0).
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/nvme.h"

namespace ssdtlm {

class PrpWalk {
public:
    enum class Step : std::uint8_t {
        done,       ///< every page is known
        need_list,  ///< read list_bytes() at list_address() and feed() them
        bad_offset  ///< an entry has an offset where none is allowed: status 0/13h
    };

    /// Begins the walk for `bytes` (> 0) of data; appends to `pages`, whose first entry keeps PRP1's offset.
    Step start(std::uint64_t prp1, std::uint64_t prp2, std::uint64_t bytes, std::vector<std::uint64_t>& pages) {
        if ((prp1 & 3) != 0) return Step::bad_offset;
        const std::uint64_t total = nvme::prp_pages(prp1, bytes);
        pages.push_back(prp1);
        if (total == 1) return Step::done;
        if (total == 2) {
            if ((prp2 & nvme::kPageMask) != 0) return Step::bad_offset;
            pages.push_back(prp2);
            return Step::done;
        }
        remaining_ = total - 1;
        return at_list(prp2);
    }
    /// `entries`: what list_address() holds, list_bytes() long.
    Step feed(const std::uint64_t* entries, std::vector<std::uint64_t>& pages);

    std::uint64_t list_address() const { return list_; }
    std::uint32_t list_bytes() const { return count_ * nvme::kPrpEntryBytes; }

private:
    Step at_list(std::uint64_t address);

    std::uint64_t list_ = 0;
    std::uint64_t remaining_ = 0;  // data pages not known yet
    std::uint32_t count_ = 0;      // entries to read from this list page
};

}  // namespace ssdtlm
