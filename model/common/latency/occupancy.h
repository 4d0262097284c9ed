// SPDX-License-Identifier: Apache-2.0
// Records which operations held each die, bus and core lately, to tell what a command has waited for. Its rings are
// written at each operation, and are read for few commands only. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

/// The time of one operation on one resource.
struct Occupation {
    SimTime from{};
    SimTime to{};               ///< kNever: it has not ended
    std::uint64_t number : 56;  ///< of the flash transaction, or of the first of joined ones; cores: 0
    std::uint64_t flow : 8;     ///< flow that owns or has caused it; 0: none
    std::uint64_t owner : 48;   ///< command, or job of garbage collection, by kind; 0: several or none
    std::uint64_t kind : 8;     ///< meaning is the recorder's: flash_work() or CoreStep
    std::uint64_t planes : 7;   ///< number of joined planes
    std::uint64_t data : 1;     ///< bus: it transfers the data of a read
    Occupation() : number(0), flow(0), owner(0), kind(0), planes(1), data(0) {}
    Occupation(SimTime f, SimTime t, std::uint64_t n, std::uint64_t whose, std::uint8_t k, std::uint32_t p = 1,
               bool d = false, std::uint8_t whose_flow = 0)
        : from(f),
          to(t),
          number(n & ((std::uint64_t{1} << 56) - 1)),
          flow(whose_flow),
          owner(whose & ((std::uint64_t{1} << 48) - 1)),
          kind(k),
          planes(p & 127u),
          data(d) {}
};
static_assert(sizeof(Occupation) == 32);

/// The last operations of one resource, ordered by their ends.
class OccupancyLog {
public:
    /// `kept`: number of operations that it keeps, a power of two.
    explicit OccupancyLog(std::uint32_t kept) : ring_(kept), mask_(kept - 1) {}

    void add(const Occupation& o) { ring_[added_++ & mask_] = o; }
    /// Sets the end of the newest operation. Reads that are joined in one operation end one by one; the last call
    /// counts.
    void end(SimTime now) { ring_[(added_ - 1) & mask_].to = now; }
    /// Ends the operation under way, because the power is lost.
    void cut(SimTime now) {
        if (added_ != 0 && ring_[(added_ - 1) & mask_].to > now) end(now);
    }
    std::uint64_t added() const { return added_; }

    /// Calls visit(occupation) for operations that ended after `from` and began before `to`, the earliest first.
    /// Returns the time since which the log is complete: later than `from` if it has forgotten older operations.
    template <class Visit>
    SimTime between(SimTime from, SimTime to, Visit visit) const {
        const std::uint64_t oldest = added_ > ring_.size() ? added_ - ring_.size() : 0;
        for (std::uint64_t i = first_ending_after(from); i != added_ && at(i).from < to; ++i) visit(at(i));
        return oldest == 0 || at(oldest).from <= from ? from : at(oldest).from;
    }
    /// Calls visit(occupation) for operations that ended after `from` and not after `to`. Returns what between()
    /// returns.
    template <class Visit>
    SimTime ended_between(SimTime from, SimTime to, Visit visit) const {
        const std::uint64_t oldest = added_ > ring_.size() ? added_ - ring_.size() : 0;
        for (std::uint64_t i = first_ending_after(from); i != added_ && at(i).to <= to; ++i) visit(at(i));
        return oldest == 0 || at(oldest).to <= from ? from : at(oldest).to;
    }

private:
    const Occupation& at(std::uint64_t i) const { return ring_[i & mask_]; }
    std::uint64_t first_ending_after(SimTime t) const {
        std::uint64_t low = added_ > ring_.size() ? added_ - ring_.size() : 0, high = added_;
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (at(middle).to > t)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

    std::vector<Occupation> ring_;
    std::uint64_t mask_;
    std::uint64_t added_ = 0;
};

/// The logs of a device. If planes read independently, each plane has a log, and an operation of the whole die is in
/// the log of each of its planes. Else each die has one log.
class Occupancy {
public:
    struct Size {
        std::uint32_t channels = 1;
        std::uint32_t dies_per_channel = 1;
        std::uint32_t planes_per_die = 1;
        bool planes_apart = false;  ///< planes read independently
        std::uint32_t cores = 1;
        std::uint32_t logs_per_die() const { return planes_apart ? planes_per_die : 1; }
        std::uint32_t dies() const { return channels * dies_per_channel; }
    };
    explicit Occupancy(const Size& size)
        : size_(size), first_bus_(size.dies() * size.logs_per_die()), first_core_(first_bus_ + size.channels) {
        const std::uint32_t logs = first_core_ + size.cores + 1;
        std::uint32_t kept = kMost;
        while (kept > kLeast && std::uint64_t{logs} * kept * sizeof(Occupation) > kBytes) kept /= 2;
        logs_.assign(logs, OccupancyLog(kept));
    }
    /// The log of a die (global number). If planes have logs, it is that of the first plane, and the others follow it.
    OccupancyLog& die(std::uint32_t i) { return logs_[i * size_.logs_per_die()]; }
    OccupancyLog& bus(std::uint32_t channel) { return logs_[first_bus_ + channel]; }
    OccupancyLog& core(std::uint32_t i) { return logs_[first_core_ + i]; }
    /// The programs of host data, each of which makes room in the write buffer.
    OccupancyLog& programs() { return logs_.back(); }
    void power_lost(SimTime now) {
        for (OccupancyLog& log : logs_) log.cut(now);
    }
    const OccupancyLog& plane(std::uint32_t i) const {
        return logs_[size_.planes_apart ? i : i / size_.planes_per_die];
    }
    const OccupancyLog& bus(std::uint32_t channel) const { return logs_[first_bus_ + channel]; }
    const OccupancyLog& core(std::uint32_t i) const { return logs_[first_core_ + i]; }
    const OccupancyLog& programs() const { return logs_.back(); }
    const Size& size() const { return size_; }

private:
    // Assumed: this is enough for nearly all waits, and small enough for the cache. A wait behind more than kMost
    // operations names the last kMost of them.
    static constexpr std::uint32_t kMost = 512, kLeast = 16;
    static constexpr std::uint64_t kBytes = 8u << 20;

    Size size_;
    std::uint32_t first_bus_, first_core_;
    std::vector<OccupancyLog> logs_;
};

}  // namespace ssdtlm
