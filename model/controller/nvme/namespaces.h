// SPDX-License-Identifier: Apache-2.0
// The namespaces of the drive: parts of its blocks under numbers of their own. They lie one behind the other, and all
// have the same logical block. Firmware and flash know only the blocks of the drive.
#pragma once

#include <cstdint>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

struct Namespace {
    std::uint32_t id = 1;           ///< NSID
    std::uint64_t first_block = 0;  ///< of the drive
    std::uint64_t blocks = 0;
    std::uint32_t lba_bytes = 4096;

    std::uint64_t bytes() const { return blocks * lba_bytes; }
    bool has(std::uint64_t slba, std::uint64_t count) const { return slba <= blocks && count <= blocks - slba; }
};

/// Numbered from 1 on.
class Namespaces {
public:
    /// `sizes`: bytes of all but the last, which has the rest of the drive. Preconditions (checked): whole logical
    /// blocks, and the last has one at least.
    Namespaces(std::uint64_t drive_bytes, std::uint32_t lba_bytes, const std::vector<std::uint64_t>& sizes = {}) {
        Namespace next{1, 0, 0, lba_bytes};
        for (const std::uint64_t bytes : sizes) {
            SSDTLM_CHECK(bytes != 0 && bytes % lba_bytes == 0, "a namespace is not a whole number of logical blocks");
            next.blocks = bytes / lba_bytes;
            all_.push_back(next);
            ++next.id;
            next.first_block += next.blocks;
        }
        SSDTLM_CHECK(drive_bytes % lba_bytes == 0 && next.first_block < drive_bytes / lba_bytes,
                     "the last namespace has no blocks, or no whole ones");
        next.blocks = drive_bytes / lba_bytes - next.first_block;
        all_.push_back(next);
    }

    /// Null: there is none of that number.
    const Namespace* find(std::uint32_t id) const { return id - 1 < all_.size() ? &all_[id - 1] : nullptr; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(all_.size()); }

private:
    std::vector<Namespace> all_;
};

}  // namespace ssdtlm
