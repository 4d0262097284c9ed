// SPDX-License-Identifier: Apache-2.0
// The MSI-X table with its pending bits (PCIe Base §7.7.2) and the coalescing of NVMe 1.4 §7.5. It sends nothing, but
// says when a message is due. The function mask and enable bits of the PCI capability are taken as enabled and
// unmasked.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/nvme.h"

namespace ssdtlm {

struct MsixMessage {
    std::uint64_t address = 0;
    std::uint32_t data = 0;
};

class MsixTable {
public:
    explicit MsixTable(std::uint32_t vectors) : entries_(vectors), pending_((vectors + 63) / 64, 0) {}

    /// Accesses one dword at `offset` from the start of the table or of the PBA.
    std::uint32_t read_table(std::uint32_t offset) const;
    std::uint32_t read_pba(std::uint32_t offset) const;
    /// Returns the vector whose pending message the write unmasked, or -1 if there is none.
    int write_table(std::uint32_t offset, std::uint32_t value);

    /// Returns true if message(vector) must be sent now. A masked vector gets its pending bit instead.
    bool fire(std::uint32_t vector) {
        if ((entries_[vector].control & 1) == 0) return true;
        pending_[vector / 64] |= 1ull << (vector % 64);
        return false;
    }
    MsixMessage message(std::uint32_t vector) const { return {entries_[vector].address, entries_[vector].data}; }

private:
    struct Entry {
        std::uint64_t address = 0;
        std::uint32_t data = 0;
        std::uint32_t control = 1;  // masked after reset
    };
    std::vector<Entry> entries_;
    std::vector<std::uint64_t> pending_;
};

/// Counts the completions of each vector that no message has announced yet.
class InterruptCoalescer {
public:
    explicit InterruptCoalescer(std::uint32_t vectors) : waiting_(vectors) {}

    /// `now`: a message is due. `start_timer`: a timer must be started, and a message is due when it runs out. `later`:
    /// the timer runs already. The next message cancels it.
    enum class Due : std::uint8_t { now, start_timer, later };
    /// A completion was posted. A message is due when there are `threshold` completions (1-based).
    Due posted(std::uint32_t vector, std::uint32_t threshold) {
        const std::uint32_t waiting = ++waiting_[vector];
        if (waiting >= threshold) return Due::now;
        return waiting == 1 ? Due::start_timer : Due::later;
    }
    /// A message was sent, which announces everything posted so far.
    void sent(std::uint32_t vector) { waiting_[vector] = 0; }
    void reset() { waiting_.assign(waiting_.size(), 0); }

private:
    std::vector<std::uint32_t> waiting_;
};

}  // namespace ssdtlm
