// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/driver_errors.h"

namespace ssdtlm {

const char* op_name(HostOp op) {
    static constexpr const char* kNames[] = {"read", "write", "trim", "flush"};
    return kNames[static_cast<std::size_t>(op)];
}

void DriverErrors::note(DriverCounters& counters, const HostRequest& r, unsigned lba_shift, std::uint16_t queue,
                        const CommandQueues::Ended& ended, const CommandQueues& driver, SimTime now) {
    const bool first_of_its_kind = counters.errors == counters.media_errors();  // all errors before were media errors
    const bool first = counters.errors++ == 0;
    switch (ended.status) {
        case DriveStatus::unrecovered_read:
            ++counters.unrecovered_reads;
            break;
        case DriveStatus::write_fault:
            ++counters.write_faults;
            break;
        case DriveStatus::read_only:
            ++counters.refused_read_only;
            break;
        default:
            if (first_of_its_kind) first_.clear();
    }
    if (!first && !first_.empty()) return;
    first_ = std::string(op_name(r.op)) + " of " + std::to_string(r.bytes >> lba_shift) + " blocks at LBA " +
             std::to_string(r.offset >> lba_shift) + ": " + driver.status_text(ended.code) + ", queue " +
             std::to_string(queue) + " CID " + std::to_string(ended.tag) + ", completed at " +
             std::to_string(now.time_since_epoch().count()) + " ps";
}

}  // namespace ssdtlm
