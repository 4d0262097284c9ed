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
    bool preparation = false;  ///< it lays out a file before the job starts, and counts in no statistic of the job
    std::uint32_t job = 0;     ///< dense index over all job clones
    std::uint64_t offset = 0;  ///< bytes in the namespace, multiple of the LBA size; sync of a file: its begin
    std::uint32_t bytes = 0;   ///< multiple of the LBA size; 0 for flush
    std::uint16_t stream = 0;  ///< writes: data of one number have the same lifetime; 0: not given
    std::uint64_t tag = 0;     ///< for the workload's own use
};

/// Classes of I/O priorities (ioprio_set(2)): realtime before best effort before idle.
enum class IoClass : std::uint8_t { realtime, best_effort, idle };

/// The priority of a job's requests for the host's I/O scheduler.
struct IoPriority {
    IoClass io_class = IoClass::best_effort;
    std::uint8_t level = 4;    ///< within the class: 0 first, 7 last; 4 is normal
    std::uint32_t weight = 0;  ///< 1 to 1000, as for a cgroup; 0: not given
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
    /// The priority of the job for the host's I/O scheduler, if there is one (block.scheduler).
    virtual IoPriority priority(std::uint32_t job) const {
        (void)job;
        return {};
    }
    /// The largest number of requests that this job may have outstanding (its queue depth).
    virtual std::uint32_t depth(std::uint32_t job) const = 0;
    /// The progress, 0..1: by requests, bytes or simulated time, whichever limits the run.
    virtual double progress(SimTime now) const = 0;
    /// True: the request counts in statistics, because the job's ramp_time is over.
    virtual bool measuring(const HostRequest& request, SimTime now) const = 0;

    struct JobTime {
        SimTime begin, end;
    };
    /// The measured time of a job that has ended, by which its rates are divided. It differs from the time between
    /// first issue and last completion if the job begins with a ramp or ends with a sleep. Empty: it does not differ.
    /// It is asked after the run.
    virtual std::optional<JobTime> job_time(std::uint32_t job) const {
        (void)job;
        return std::nullopt;
    }
};

}  // namespace ssdtlm
