// SPDX-License-Identifier: Apache-2.0
// The read of a unit's old copy for a write of part of it. The unit waits in the buffer and may be programmed when the
// rest is there. If that cannot be read, the unit is lost, and with it what leans on it: those who wait for it end with
// an unrecovered read.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/commands/command_services.h"

namespace ssdtlm {

class MergeReader final : private FlashClient, private DramClient {
public:
    explicit MergeReader(const CommandServices& services) : s_(services) {}

    /// `place` is held by the map; it is let go when it has been read.
    void start(Ppa place, BufferPort::Index entry, const WorkTag& whose);
    std::uint32_t under_way() const { return under_way_; }
    std::uint64_t reads() const { return reads_; }
    void check_waiters() const;

private:
    void flash_done(FlashTransaction& txn) override;
    void dram_done(std::uint64_t job) override;
    void end(FlashJob& job, bool readable);
    void lose(BufferPort::Index entry);

    const CommandServices s_;
    std::uint32_t under_way_ = 0;
    std::uint64_t reads_ = 0;
    std::vector<std::uint32_t> waiters_;  // of the lose() at hand
};

}  // namespace ssdtlm
