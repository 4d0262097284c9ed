// SPDX-License-Identifier: Apache-2.0
// How full the write buffer is, for organs that need to know nothing else of it. The figures lie in this class, so that
// reading them costs no virtual call.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ports/quotas.h"

namespace ssdtlm {

class BufferLevels {
public:
    /// All figures are in units.
    struct Levels {
        std::uint32_t capacity = 0;
        std::uint32_t used = 0;  ///< reserved and occupied
        std::uint32_t held = 0;  ///< in the buffer; the others of `used` are reserved for data on its way
        std::uint32_t dirty = 0;
        std::uint32_t queued = 0;    ///< dirty, and may be programmed now: the others wait for their older copy
        std::uint32_t demanded = 0;  ///< of those queued: a command or a flush waits for them
        std::uint32_t merging = 0;   ///< units that wait for the rest of their old copy
        bool wanted =
            false;  ///< what was read would stay, if there were room, and none of the buffer was on its way to flash
    };
    /// Counts of units since the start of the simulation.
    struct Counters {
        std::uint64_t inserted = 0;
        std::uint64_t coalesced = 0;      ///< replaced by a newer write before they left
        std::uint64_t dropped_dirty = 0;  ///< deallocated before they left for flash
        std::uint64_t deallocated = 0;    ///< these, and those marked dropped
        std::uint64_t merges_failed = 0;  ///< vanished because the rest of the unit cannot be read
        std::uint64_t given_up = 0;       ///< vanished because the flash takes no more pages
    };

    std::uint32_t capacity() const { return levels_.capacity; }
    /// Units of the buffer that this tenant may take.
    std::uint32_t capacity_of(std::uint16_t tenant) const {
        return quotas_.shared() ? levels_.capacity : static_cast<std::uint32_t>(quotas_.units(quotas_.part_of(tenant)));
    }
    const Quotas& quotas() const { return quotas_; }
    std::uint32_t used() const { return levels_.used; }
    std::uint32_t held() const { return levels_.held; }
    bool empty() const { return levels_.held == 0; }
    std::uint32_t dirty() const { return levels_.dirty; }
    std::uint32_t queued() const { return levels_.queued; }
    /// A unit that must become durable (waiter, or under a flush) is queued: pages need not be full.
    bool demanded() const { return levels_.demanded != 0; }
    /// Queued units of one write partition (ftl/allocation/write_partitions.h).
    std::uint32_t queued(std::uint32_t partition) const {
        return of_partition_.empty() ? levels_.queued : of_partition_[partition].queued;
    }
    bool demanded(std::uint32_t partition) const {
        return (of_partition_.empty() ? levels_.demanded : of_partition_[partition].demanded) != 0;
    }
    std::uint32_t merging() const { return levels_.merging; }
    bool is_wanted() const { return levels_.wanted; }
    /// The read cache found no room for data that were read (shared_cache/). This holds until a unit is taken to be
    /// programmed.
    void want_room() { levels_.wanted = levels_.wanted || levels_.held == levels_.dirty + levels_.merging; }
    std::uint64_t inserted() const { return counters_.inserted; }
    std::uint64_t coalesced() const { return counters_.coalesced; }
    std::uint64_t dropped_dirty() const { return counters_.dropped_dirty; }
    std::uint64_t deallocated() const { return counters_.deallocated; }
    std::uint64_t merges_failed() const { return counters_.merges_failed; }
    std::uint64_t given_up() const { return counters_.given_up; }

protected:
    struct OfPartition {
        std::uint32_t queued = 0, demanded = 0;
    };
    Levels levels_;
    Quotas quotas_;
    std::vector<OfPartition> of_partition_;  // empty when there is one
    Counters counters_;
};

}  // namespace ssdtlm
