// SPDX-License-Identifier: Apache-2.0
// How many of the drive's tags a context has over time, and what it asks for. The figures are sums since the start. The
// difference over a window, divided by its length, is a mean. Kernel-free.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

struct ContextUse {
    // The following members count requests of the workload when they arrive.
    std::uint64_t arrivals = 0;
    std::uint64_t arrived_bytes = 0;
    std::uint64_t reads = 0;       ///< arrivals that are reads
    std::uint64_t sequential = 0;  ///< arrivals that begin where the job's last request ended
    std::uint64_t completions = 0;
    // The following members count commands when the drive completes them.
    std::uint64_t merged = 0;  ///< parts that joined a waiting request; counted when they join
    std::uint64_t commands = 0;
    std::uint64_t command_bytes = 0;
    std::int64_t latency_ps = 0;  ///< from dispatch to completion
    // The following members are integrals over time.
    std::int64_t requests_ps = 0;  ///< requests in the block layer and below, times time
    std::int64_t tags_ps = 0;      ///< commands in the drive, times time
    std::int64_t limit_ps = 0;     ///< the limit of NASS, times time; 0 without NASS
    std::int64_t starved_ps = 0;   ///< time in which a request waits, and none of its commands is in the drive

    ContextUse operator-(const ContextUse& b) const {
        return {arrivals - b.arrivals,
                arrived_bytes - b.arrived_bytes,
                reads - b.reads,
                sequential - b.sequential,
                completions - b.completions,
                merged - b.merged,
                commands - b.commands,
                command_bytes - b.command_bytes,
                latency_ps - b.latency_ps,
                requests_ps - b.requests_ps,
                tags_ps - b.tags_ps,
                limit_ps - b.limit_ps,
                starved_ps - b.starved_ps};
    }
};

/// Keeps a ContextUse, and counts what the context has at this instant.
class ContextMeter {
public:
    /// Adds the time since the last call to the integrals. Times must not decrease.
    void advance(SimTime now) {
        const std::int64_t ps = (now - at_).count();
        at_ = now;
        use_.requests_ps += ps * requests_;
        use_.tags_ps += ps * tags_;
        if (requests_ != 0 && tags_ == 0) use_.starved_ps += ps;
    }
    void request_comes(SimTime now) {
        advance(now);
        ++requests_;
    }
    void request_ends(SimTime now) {
        advance(now);
        --requests_;
        ++use_.completions;
    }
    void command_goes(SimTime now) {
        advance(now);
        ++tags_;
    }
    void command_returns(SimTime now) {
        advance(now);
        --tags_;
    }
    ContextUse& use() { return use_; }
    const ContextUse& use() const { return use_; }
    std::uint32_t requests() const { return static_cast<std::uint32_t>(requests_); }
    std::uint32_t tags() const { return static_cast<std::uint32_t>(tags_); }

private:
    ContextUse use_;
    SimTime at_{};
    std::int64_t requests_ = 0;
    std::int64_t tags_ = 0;
};

}  // namespace ssdtlm
