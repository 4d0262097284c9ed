// SPDX-License-Identifier: Apache-2.0
// The write buffer as commands and destaging see it: room, which units it holds, in what order they go to flash, and
// which command waits for each. How full it is lies here, so that asking costs nothing; what to do about it is the
// implementation's.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ports/quotas.h"
#include "controller/ports/work_tag.h"

namespace ssdtlm {

/// Contract. Two writes of one unit are never under way to flash at once, and they go there in the order of insert().
/// Every unit inserted leaves exactly once: by programmed() after pop_dirty(), by drop(), by merged() when it was
/// dropped before, or replaced by a newer write of the same unit that no command and no flush told apart.
class BufferPort {
public:
    using Index = std::uint32_t;
    static constexpr Index kNone = 0xFFFFFFFFu;
    static constexpr std::uint32_t kNoWaiter = 0xFFFFFFFFu;

    struct Unit {
        Lpa lpa{};
        std::uint32_t version = 0;
        bool merging =
            false;  ///< the rest of its bytes, or of those of the write that it leans on, is still in flash only
        bool dropped = false;         ///< deallocated while merging or on its way to flash: its data no longer matters
        std::uint8_t stream = 0;      ///< of its newest write
        std::uint8_t priority = 0;    ///< of the write that came last, as in WorkTag
        std::uint16_t tenant = 0;     ///< that wrote it last
        std::uint32_t dram_unit = 0;  ///< where its newest write is in the DRAM, in units
        SimTime submitted = kNever;   ///< the write that came last

        /// Of a program of it.
        WorkTag whose() const { return {tenant, priority, 0, kNever, submitted}; }
    };
    /// In units.
    struct Levels {
        std::uint32_t capacity = 0;
        std::uint32_t used = 0;  ///< reserved and occupied
        std::uint32_t held = 0;  ///< in the buffer; the others of `used` are reserved for data on its way
        std::uint32_t dirty = 0;
        std::uint32_t queued = 0;    ///< dirty, and may be programmed now: the others wait for their older copy
        std::uint32_t demanded = 0;  ///< of those queued: a command or a flush waits for them
        std::uint32_t merging = 0;   ///< wait for the rest of their old copy
        bool wanted =
            false;  ///< what was read would stay, if there were room, and none of the buffer was on its way to flash
    };
    /// In units, since the start.
    struct Counters {
        std::uint64_t inserted = 0;
        std::uint64_t coalesced = 0;      ///< replaced by a newer write before they left
        std::uint64_t dropped_dirty = 0;  ///< deallocated before they left for flash
        std::uint64_t deallocated = 0;    ///< these, and those marked dropped
        std::uint64_t merges_failed = 0;  ///< vanished because the rest of the unit cannot be read
        std::uint64_t given_up = 0;       ///< vanished because the flash takes no more pages
    };
    /// What a write has of its unit.
    enum class Bytes : std::uint8_t {
        whole,   ///< all
        part,    ///< some; the others are in the buffer, or were never written
        merging  ///< some; the others have to be read from flash
    };
    virtual ~BufferPort() = default;

    std::uint32_t capacity() const { return levels_.capacity; }
    /// What this tenant may take of it.
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
    /// The same of the units of one lane (lane_port.h).
    std::uint32_t queued(std::uint32_t lane) const { return of_lane_.empty() ? levels_.queued : of_lane_[lane].queued; }
    bool demanded(std::uint32_t lane) const {
        return (of_lane_.empty() ? levels_.demanded : of_lane_[lane].demanded) != 0;
    }
    std::uint32_t merging() const { return levels_.merging; }
    bool is_wanted() const { return levels_.wanted; }
    /// What was read found no room (cache_room/). Holds until a unit is taken to be programmed.
    void want_room() { levels_.wanted = levels_.wanted || levels_.held == levels_.dirty + levels_.merging; }
    std::uint64_t inserted() const { return counters_.inserted; }
    std::uint64_t coalesced() const { return counters_.coalesced; }
    std::uint64_t dropped_dirty() const { return counters_.dropped_dirty; }
    std::uint64_t deallocated() const { return counters_.deallocated; }
    std::uint64_t merges_failed() const { return counters_.merges_failed; }
    std::uint64_t given_up() const { return counters_.given_up; }

    /// Takes room for n units of this tenant; false when there is none: somebody waits then for his part of it.
    virtual bool reserve(std::uint32_t n, std::uint16_t tenant = 0) = 0;
    /// Gives room reserved for n units back.
    virtual void cancel(std::uint32_t n, std::uint16_t tenant = 0) = 0;
    /// Programs of what is queued give room to somebody who waits for it. Only where tenants have parts of it.
    virtual bool programs_give_room() const { return true; }
    /// Puts a unit into reserved room. `waiter`: index of the command that waits for its durability, or kNoWaiter.
    /// Bytes::merging: not programmable until merged(). `whose`: of the command; its stream is said apart. Returns its
    /// index.
    virtual Index insert(Lpa lpa, std::uint32_t version, std::uint32_t waiter, Bytes bytes, std::uint8_t stream = 0,
                         std::uint32_t dram_unit = 0, const WorkTag& whose = WorkTag{}) = 0;
    /// A newer write of a unit of Bytes::merging, which nobody waits for and no write came behind, takes its place. It
    /// goes on to wait for its rest. Gives back room reserved for one unit.
    virtual void fill_up(Index i, std::uint32_t version, std::uint8_t stream, std::uint32_t dram_unit,
                         const WorkTag& whose) = 0;
    /// The rest of a partly written unit is there. It may be programmed, unless it was deallocated meanwhile: then it
    /// vanishes, and its waiter is returned.
    virtual std::uint32_t merged(Index i) = 0;
    /// The rest of a partly written unit, which was not deallocated meanwhile, cannot be read: it vanishes, and with it
    /// the later writes that need its bytes. Their waiters are appended to `waiters`. True: no write of the unit is
    /// left.
    virtual bool merge_failed(Index i, std::vector<std::uint32_t>& waiters) = 0;
    /// Newest buffered write of a unit, kNone when the buffer has none.
    virtual Index find(Lpa lpa) const = 0;
    virtual Unit unit(Index i) const = 0;
    /// A command waits for its durability, or for that of a newer write of the unit.
    virtual bool is_awaited(Index i) const = 0;
    /// A read found it there.
    virtual void touch(Index) {}
    /// The unit of this lane that is to be programmed next; kNone when there is none. It stays readable until
    /// programmed().
    virtual Index pop_dirty(std::uint32_t lane) = 0;
    /// Of the units of this lane that may be programmed now, the one that is next, and the one behind another; kNone:
    /// none.
    virtual Index first_dirty(std::uint32_t lane) const = 0;
    virtual Index dirty_behind(Index i) const = 0;
    /// All that are dirty, in the order in which they would be programmed if nothing else came; with lanes or buckets,
    /// of one after the other.
    virtual std::vector<Unit> dirty_units() const = 0;
    /// Is one of these.
    virtual bool may_be_programmed(Index i) const = 0;
    /// This one is to be programmed next, like pop_dirty().
    virtual void take_dirty(Index i) = 0;
    /// The unit is in flash: gives its room back. Returns its waiter.
    virtual std::uint32_t programmed(Index i) = 0;
    /// The unit will never be in flash: gives its room back. Returns its waiter.
    std::uint32_t give_up(Index i) {
        ++counters_.given_up;
        return programmed(i);
    }
    /// Deallocates: units of this lpa vanish, those merging or on their way to flash are marked dropped. Waiters of
    /// vanished units are appended to `released`.
    virtual void drop(Lpa lpa, std::vector<std::uint32_t>& released) = 0;
    /// Starts a new flush generation; everything inserted so far belongs to the one returned or earlier.
    virtual std::uint32_t begin_flush() = 0;
    /// True when nothing of `generation` or earlier is left.
    virtual bool flush_done(std::uint32_t generation) const = 0;
    /// Nobody waits for nothing, between two events. CheckFailed with a sentence.
    virtual void check_waiters() const = 0;

protected:
    struct OfLane {
        std::uint32_t queued = 0, demanded = 0;
    };
    Levels levels_;
    Quotas quotas_;
    std::vector<OfLane> of_lane_;  // empty when there is one
    Counters counters_;
};

}  // namespace ssdtlm
