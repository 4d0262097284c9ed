// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/driver_errors.h"

namespace ssdtlm {

const char* op_name(HostOp op) {
    static constexpr const char* kNames[] = {"read", "write", "trim", "flush"};
    return kNames[static_cast<std::size_t>(op)];
}

void DriverErrors::note(DriverCounters& counters, const HostRequest& r, unsigned lba_shift, std::uint16_t qid, const nvme::Cqe& cqe, SimTime now) {
    const bool first_of_its_kind = counters.errors == counters.media_errors();  // none was another than a media error
    const bool first = counters.errors++ == 0;
    switch (cqe.status()) {
        case nvme::kStUnrecoveredRead: ++counters.unrecovered_reads; break;
        case nvme::kStWriteFault: ++counters.write_faults; break;
        case nvme::kStReadOnlyRange: ++counters.refused_read_only; break;
        default:
            if (first_of_its_kind) first_.clear();
    }
    if (!first && !first_.empty()) return;
    first_ = std::string(op_name(r.op)) + " of " + std::to_string(r.bytes >> lba_shift) + " blocks at LBA " +
             std::to_string(r.offset >> lba_shift) + ": status SCT " + std::to_string(cqe.status() >> 8) + " SC " +
             std::to_string(cqe.status() & 0xFF) + ", queue " + std::to_string(qid) + " CID " + std::to_string(cqe.cid) +
             ", completed at " + std::to_string(now.time_since_epoch().count()) + " ps";
}

}  // namespace ssdtlm
