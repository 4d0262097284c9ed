// SPDX-License-Identifier: Apache-2.0
// A request of a workload to the host's block layer, and the report of its outcome. Kernel-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/units/units.h"

namespace ssdtlm {

enum class HostOp : std::uint8_t { read, write, trim, flush };

struct HostRequest {
    HostOp op = HostOp::read;
    bool fua = false;
    bool preparation = false;  ///< lays out a file before the job starts: no statistic of the job counts it
    std::uint32_t job = 0;     ///< dense index over all job clones
    std::uint64_t offset = 0;  ///< bytes from the start of the namespace, multiple of the LBA size; of a flush that
                               ///< is a sync of a file: where that begins
    std::uint32_t bytes = 0;   ///< multiple of the LBA size; 0 for flush
    std::uint16_t stream = 0;  ///< write: which lifetime its data shares with others of the number; 0: not said
    std::uint64_t tag = 0;     ///< the workload's own
};

/// Classes of I/O priorities (ioprio_set(2)): realtime before best effort before idle.
enum class IoClass : std::uint8_t { realtime, best_effort, idle };

/// How the host's I/O scheduler treats the requests of a job.
struct IoPriority {
    IoClass io_class = IoClass::best_effort;
    std::uint8_t level = 4;    ///< in its class: 0 first, 7 last; 4 is normal
    std::uint32_t weight = 0;  ///< 1 to 1000, as a cgroup's; 0: not said
    bool buffered = false;     ///< its writes are the kernel's write-back: nobody waits for them
};

/// A closed or open loop source of requests. Plain C++, told the time, never waits.
///
/// The driver calls next() whenever it may have room (at start, after each completion, when `when` is reached):
/// - ready:   `request` is filled and counts as issued at `now`;
/// - wait:    nothing before `when` (rate, think time, start delay, open-loop stamp);
/// - blocked: nothing until a completion is reported;
/// - done:    no more requests ever; outstanding ones still complete.
class Workload {
public:
    enum class State : std::uint8_t { ready, wait, blocked, done };
    struct Next {
        State state = State::done;
        HostRequest request;
        SimTime when{};
    };
    virtual ~Workload() = default;
    virtual Next next(SimTime now) = 0;
    /// A request has completed. `submitted`: when the driver wrote the SQE (>= the `now` of next()). `now`: the
    /// handler's time.
    virtual void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) = 0;
    /// Number of job clones (at least 1); HostRequest::job is below it.
    virtual std::uint32_t jobs() const = 0;
    /// The tenant for which the job works, from 0 on. The drive may be told (host.tenants).
    virtual std::uint32_t tenant(std::uint32_t job) const {
        (void)job;
        return 0;
    }
    /// Priority of the job for the host's I/O scheduler, if there is one (block.scheduler).
    virtual IoPriority priority(std::uint32_t job) const {
        (void)job;
        return {};
    }
    /// Largest number of requests this job can have outstanding (its queue depth).
    virtual std::uint32_t depth(std::uint32_t job) const = 0;
    /// Progress, 0..1, for the progress line: by requests, bytes or simulated time, whichever bounds the run.
    virtual double progress(SimTime now) const = 0;
    /// True once statistics count (after ramp_time), as in the measured window of latency.csv.
    virtual bool measuring(const HostRequest& request, SimTime now) const = 0;

    struct JobTime {
        SimTime begin, end;
    };
    /// The measured life of a job that has ended; its rates are divided by it. Empty: it is the time from the job's
    /// first issue to its last completion. A job may begin with a ramp or end with a sleep. It is asked after the run.
    virtual std::optional<JobTime> job_time(std::uint32_t job) const {
        (void)job;
        return std::nullopt;
    }
};

}  // namespace ssdtlm
