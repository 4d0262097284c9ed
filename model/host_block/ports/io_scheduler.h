// SPDX-License-Identifier: Apache-2.0
// The boundary of the host's I/O schedulers. A scheduler says which request goes to the drive next. It is plain C++:
// its caller gives it the time, and it never waits. The block layer above it makes requests, counts the commands in the
// drive, and asks whenever there is room.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host_block/ports/block_request.h"

namespace ssdtlm {

/// Says which contexts may have one more request in the drive now. The block layer decides it by the limits of NASS.
class DispatchGate {
public:
    virtual bool may_dispatch(std::uint32_t context) const = 0;
    /// True: a scheduler that waits for the next request of a context may meanwhile dispatch requests of others. It
    /// goes on waiting for that context (AntiBDL).
    virtual bool fills_waits() const { return false; }

protected:
    ~DispatchGate() = default;
};

/// The contract:
/// - A request belongs to the scheduler from insert() until dispatch() returns it. Its address does not change
///   meanwhile. The scheduler may keep its own state by `handle`.
/// - dispatch() returns each inserted request once. It never returns a request whose context the gate refuses; it
///   returns another request instead if its own rules allow that. The same calls at the same times give the same order.
/// - A barrier is dispatched after all requests that were inserted before it, and before all that are inserted later.
/// - dispatch() may return null while requests wait only in three cases. The gate refuses all of them; or a completion
///   will change the answer; or ask_again() returns a time above `now` at which the answer changes, such as the end of
///   an idle slice or a deadline.
/// - As long as the drive takes requests, no request waits longer than the scheduler's rules allow.
class IoScheduler {
public:
    virtual ~IoScheduler() = default;

    virtual void insert(BlockRequest& request, SimTime now) = 0;
    /// Returns a waiting request that `candidate` may join, or null. `front`: set to false if the candidate lies behind
    /// that request (back merge), to true if it lies before it (front merge). Operation and context must fit by the
    /// scheduler's own rules. If the block layer enlarges the request, it then calls merged().
    virtual BlockRequest* find_merge(const BlockRequest& candidate, bool& front) = 0;
    /// `request` has grown. A front merge has also changed its offset from `old_offset`.
    virtual void merged(BlockRequest& request, std::uint64_t old_offset) = 0;
    /// Returns the request to dispatch, or null if none may go now.
    virtual BlockRequest* dispatch(SimTime now, const DispatchGate& gate) = 0;
    /// The time at which dispatch() may return a request although nothing else has happened. kNever: there is no such
    /// time.
    virtual SimTime ask_again() const { return kNever; }
    /// A request that was dispatched has ended in the drive.
    virtual void completed(const BlockRequest& request, SimTime now) = 0;
    /// A reset has cancelled a dispatched request in the drive, so its context was not served. The request comes back
    /// by insert().
    virtual void cancelled(const BlockRequest& request, SimTime now) { completed(request, now); }
    /// Number of requests that wait here.
    virtual std::uint32_t waiting() const = 0;
    /// The context whose next request it expects, and for which it holds back the others; -1: there is none. NASS uses
    /// it.
    virtual std::int64_t anticipates() const { return -1; }
    /// The scheduler's own counters, for the results.
    virtual std::vector<std::pair<const char*, std::uint64_t>> figures() const { return {}; }
    /// The scheduler's state for a report of the watchdog, one fact a line.
    virtual std::string dump() const { return {}; }
};

/// The parameters with which a scheduler is made.
struct IoSchedulerSetup {
    std::uint32_t queue_depth = 32;  ///< commands that the drive takes at a time
    std::uint32_t hardware_queues = 1;
    std::uint64_t drive_bytes = 0;
    bool rotational = false;  ///< always false in this model; some schedulers have other rules for such a drive
    bool queueing = true;     ///< the drive queues commands (NCQ, NVMe)
};

}  // namespace ssdtlm
