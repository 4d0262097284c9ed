// SPDX-License-Identifier: Apache-2.0
// The scheduler of one channel as a synchronous block with numbered clock edges. Edge k is at k clock periods, rounded
// up to a picosecond. An input that changes at an edge is seen at the next one. Not modelled: setup and hold.
#pragma once

#include <cstdint>
#include <string>

#include "controller/ports/scheduler_port.h"

namespace ssdtlm {

struct CoreDecision {
    GrantAnswer answer = GrantAnswer::nothing;  ///< granted or nothing
    std::uint32_t cycles = 0;  ///< from the edge the question was put to the edge that takes the answer
    Grant grant;
};

/// Calls come in order of their edges: the edge of a call is after that of the call before, and after its cycles. A
/// block that misbehaves otherwise than by its answer (no answer, a handshake broken, an assertion that failed) throws
/// SchedulerFault.
class SchedulerCore {
public:
    virtual ~SchedulerCore() = default;
    /// True: there is no room for another request.
    virtual bool full() const = 0;
    /// Puts a request at `edge` and returns the edge at which it was taken. Precondition: not full.
    virtual std::uint64_t push(const SchedulerRequest& request, std::uint64_t edge) = 0;
    /// Puts a question at `edge` and runs to the edge that takes the answer.
    virtual void decide(const GrantQuery& query, std::uint64_t edge, CoreDecision& out) = 0;
    /// As SchedulerPort::proven().
    virtual bool proven() const { return false; }
    /// As SchedulerPort::fairness().
    virtual std::optional<SchedulerFairness> fairness() const { return {}; }
    /// Returns the waiting requests of each die, as text for reports.
    virtual std::string dump() const = 0;
    /// Writes the block's signals to an FST file from now on. False: this core has no signals.
    virtual bool open_trace(const std::string& path) {
        static_cast<void>(path);
        return false;
    }
};

}  // namespace ssdtlm
