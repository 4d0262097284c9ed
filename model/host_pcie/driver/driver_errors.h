// SPDX-License-Identifier: Apache-2.0
// Counts the driver's errors, and describes the first one as text. Kernel-free.
#pragma once

#include <cstdint>
#include <string>

#include "host_pcie/ports/command_queues.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

struct DriverCounters {
    std::uint64_t requests_issued = 0;  ///< taken from the workload
    std::uint64_t requests_completed = 0;
    std::uint64_t requests_dropped = 0;    ///< by a run that was interrupted
    std::uint64_t commands_submitted = 0;  ///< written; more than requests when some are split
    std::uint64_t commands_completed = 0;
    std::uint64_t commands_cancelled = 0;  ///< by controller resets; each is submitted again
    std::uint64_t errors = 0;              ///< commands completed with an error status; of these:
    std::uint64_t unrecovered_reads = 0;   ///< data that the flash has lost
    std::uint64_t write_faults = 0;        ///< data that the flash did not take
    std::uint64_t refused_read_only = 0;   ///< writes to a read-only drive
    std::uint64_t media_errors() const { return unrecovered_reads + write_faults + refused_read_only; }
    std::uint64_t interrupts = 0;        ///< of I/O queues
    std::uint64_t announcements = 0;     ///< of commands that were submitted: NVMe's tail doorbells
    std::uint64_t acknowledgements = 0;  ///< of commands that were taken: NVMe's head doorbells
};

/// Counts error statuses, and keeps the text of one.
class DriverErrors {
public:
    /// Counts a command that ended with an error. `now`: time since the start of the workload.
    void note(DriverCounters& counters, const HostRequest& request, unsigned lba_shift, std::uint16_t queue,
              const CommandQueues::Ended& ended, const CommandQueues& driver, SimTime now);
    /// The text of the first error status; empty if there was none. Errors other than media errors go first.
    const std::string& first() const { return first_; }

private:
    std::string first_;
};

/// Name of an operation.
const char* op_name(HostOp op);

}  // namespace ssdtlm
