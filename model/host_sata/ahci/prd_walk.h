// SPDX-License-Identifier: Apache-2.0
// The physical region descriptor table (PRDT) of a command. It gives the pieces of host memory in order, from any byte
// of the data on. Entries are read in groups, by the caller. It needs no SystemC kernel. Source: AHCI 1.3.1, 4.2.3.3
// (address, even; count of bytes less one, odd) and 5.3 (DMA Setup's buffer offset).
#pragma once

#include <array>
#include <cstdint>

#include "protocol/ahci.h"

namespace ssdtlm {

class PrdWalk {
public:
    struct Piece {
        std::uint64_t address = 0;
        std::uint32_t bytes = 0;
    };
    /// Number of entries that are read at a time. assumed.
    static constexpr std::uint32_t kGroup = 64;

    /// `table`: address of the first entry.
    void begin(std::uint64_t table, std::uint32_t entries, std::uint64_t offset) {
        next_entry_ = table;
        left_ = entries;
        skip_ = offset;
        have_ = at_ = 0;
        within_ = 0;
    }
    /// True if entries must be read before take(). False when the table has ended.
    bool needs_entries() const { return at_ == have_ && left_ != 0; }
    /// True if the table has no room for another byte. Precondition: not needs_entries().
    bool at_end() const { return at_ == have_ && left_ == 0; }

    /// Address and length of the next entries, and the buffer for them. Call filled() when they are there.
    Piece next_group() const { return {next_entry_, (left_ < kGroup ? left_ : kGroup) * ahci::kPrdBytes}; }
    std::uint8_t* buffer() { return entries_.data(); }
    void filled();

    /// Returns the next piece, of at most `most` bytes. Preconditions: not needs_entries(), not at_end().
    Piece take(std::uint32_t most);

private:
    Piece entry(std::uint32_t index) const;
    void leave_what_is_skipped();

    std::uint64_t next_entry_ = 0;
    std::uint32_t left_ = 0;    // entries not read
    std::uint64_t skip_ = 0;    // bytes before the first wanted one
    std::uint32_t have_ = 0;    // entries read
    std::uint32_t at_ = 0;      // position among these
    std::uint32_t within_ = 0;  // bytes taken from the entry at at_
    std::array<std::uint8_t, std::size_t{kGroup} * ahci::kPrdBytes> entries_{};
};

}  // namespace ssdtlm
