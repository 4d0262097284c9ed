// SPDX-License-Identifier: Apache-2.0
// A part of a host read, and the pool of these parts. Its data come from one flash page, from the DRAM, or are zeros.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "controller/ports/command.h"
#include "controller/ports/flash_job.h"

namespace ssdtlm {

struct AheadRead;

struct HostRead : FlashJob {
    enum class Source : std::uint8_t { flash, buffer, zeros, lost, ahead };  ///< where the data come from

    // A job has 64 bytes from FlashJob::next to `data`: the size of a cache line.
    Source source = Source::flash;
    std::uint16_t newer = 0;        ///< bit per unit: the DRAM holds newer bytes, of version[i]
    std::uint32_t byte_offset = 0;  ///< first byte in the command's data; txn.data_bytes of them
    std::uint32_t first_unit = 0;   ///< first Lpa
    Command* command = nullptr;
    std::unique_ptr<std::uint8_t[]> data;  ///< one page of host data on its way out
    SimTime free_at{};                     ///< in the pool: the link reads the data until then

    std::array<std::uint32_t, kMaxUnitsPerPage> version{};
    std::array<std::uint32_t, kMaxUnitsPerPage> dram_unit{};  ///< where newer bytes are in the DRAM, in units
    std::array<std::uint32_t, kMaxUnitsPerPage> fill{};       ///< what ReadCache::begin_fill() has returned for unit i
    AheadRead* ahead = nullptr;                               ///< the read ahead that brings the units
    HostRead* waits_behind = nullptr;                         ///< next part that waits for `ahead`
};
static_assert(kMaxUnitsPerPage <= 16, "HostRead::newer has a bit per unit");

class HostReadPool : private JobPool<HostRead> {
public:
    using JobPool::JobPool;

    HostRead& acquire(SimTime now) {
        HostRead& job = parked_ != nullptr && parked_->free_at < now ? unpark(now) : take();
        begin(job);
        return job;
    }
    using JobPool::release;
    /// Releases the job when `until` has passed: its data are still being read by the link.
    void release_at(HostRead& job, SimTime until) {
        end(job);
        job.free_at = until;
        job.next = nullptr;
        if (parked_ == nullptr)
            parked_ = &job;
        else
            last_parked_->next = &job;
        last_parked_ = &job;
    }
    void provide_data(HostRead& job) const {
        if (__builtin_expect(job.data == nullptr, 0)) job.data = std::make_unique<std::uint8_t[]>(all().page_bytes());
    }

private:
    /// Returns the newest parked job whose time has passed. Older ones become free.
    HostRead& unpark(SimTime now) {
        HostRead* job = parked_;
        while ((parked_ = next_of(*job)) != nullptr && parked_->free_at < now) {
            make_free(*job);
            job = parked_;
        }
        return *job;
    }

    HostRead* parked_ = nullptr;       // in order of release_at()
    HostRead* last_parked_ = nullptr;  // valid while something is parked
};

}  // namespace ssdtlm
