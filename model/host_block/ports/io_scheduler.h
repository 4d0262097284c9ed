// SPDX-License-Identifier: Apache-2.0
// What an I/O scheduler of the host does: it says which request goes to the drive next. It is plain C++, is told the
// time, and never waits. The block layer above it makes requests, counts what is in the drive, and asks whenever there
// is room.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host_block/ports/block_request.h"

namespace ssdtlm {

/// Which contexts may have one more request in the drive now. The block layer decides it, with the limits of NASS.
class DispatchGate {
public:
    virtual bool may_dispatch(std::uint32_t context) const = 0;
    /// True: a scheduler that waits for a context, because it expects more of it, may dispatch what others have
    /// meanwhile, as if it had given up waiting. It goes on waiting all the same (AntiBDL).
    virtual bool fills_waits() const { return false; }

protected:
    ~DispatchGate() = default;
};

/// The contract:
/// - A request belongs to the scheduler from insert() until dispatch() returns it, or merge joins it with another. Its
///   address does not change meanwhile; the scheduler may keep its own state by `handle`.
/// - dispatch() returns each inserted request once. It returns none whose context the gate refuses, and another one in
///   its place where its own rules allow that. The same calls at the same times give the same order.
/// - A barrier is dispatched when all that was inserted before it has been, and before all that comes later.
/// - When dispatch() returns null and requests wait, the gate refuses all of them, or a completion changes that, or
///   ask_again() names the time (above `now`) at which it changes (an idle slice, an expired deadline, a token).
/// - No request waits longer than the scheduler's own rule says, as long as the drive takes requests.
class IoScheduler {
public:
    virtual ~IoScheduler() = default;

    virtual void insert(BlockRequest& request, SimTime now) = 0;
    /// Returns the request behind (back merge) or before (front merge) which these blocks lie. Operation and context
    /// must fit by the scheduler's own rules. Null: there is none. The block layer enlarges the request and then calls
    /// merged().
    virtual BlockRequest* find_merge(const BlockRequest& candidate, bool& front) = 0;
    /// `request` has grown; by a front merge its offset has changed from `old_offset`.
    virtual void merged(BlockRequest& request, std::uint64_t old_offset) = 0;
    /// Returns the request to dispatch. Null: none goes now.
    virtual BlockRequest* dispatch(SimTime now, const DispatchGate& gate) = 0;
    /// The time at which dispatch() may return something without another call before; kNever: it need not be asked.
    virtual SimTime ask_again() const { return kNever; }
    /// A request that was dispatched has ended in the drive.
    virtual void completed(const BlockRequest& request, SimTime now) = 0;
    /// A dispatched request was cancelled in the drive (reset) and comes back by insert(): it was no service.
    virtual void cancelled(const BlockRequest& request, SimTime now) { completed(request, now); }
    /// Number of requests that wait here.
    virtual std::uint32_t waiting() const = 0;
    /// The context for which it holds back others because it expects more of it; -1: there is none. NASS asks for it.
    virtual std::int64_t anticipates() const { return -1; }
    /// Its own counters, for results.
    virtual std::vector<std::pair<const char*, std::uint64_t>> figures() const { return {}; }
    /// State for the watchdog, one fact a line.
    virtual std::string dump() const { return {}; }
};

/// The parameters with which a scheduler is made.
struct IoSchedulerSetup {
    std::uint32_t queue_depth = 32;  ///< commands that the drive takes at a time
    std::uint32_t hardware_queues = 1;
    std::uint64_t drive_bytes = 0;
    bool rotational = false;  ///< always false here; schedulers that make a difference read it
    bool queueing = true;     ///< the drive queues commands (NCQ, NVMe)
};

}  // namespace ssdtlm
