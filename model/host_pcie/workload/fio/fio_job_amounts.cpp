// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_job_amounts.h"

#include <algorithm>

namespace ssdtlm {

void FioJobAmounts::begin_pass() {
    pass_bytes_ = 0;
    region_done_ = false;
    ++passes_;
    // As in fio, these jobs overwrite within one pass. All other jobs make a pass per `size`.
    pass_limit_ = job_.size;
    if (job_.writes && (!job_.random || !job_.random_map)) pass_limit_ = std::max(pass_limit_, job_.io_size);
    if (job_.trimwrite()) pass_limit_ += byte_limit() * job_.loops;
}

/// True: io_size (or size) or number_ios is reached, over all loops.
bool FioJobAmounts::limits_reached(std::uint32_t outstanding) const {
    // fio counts reads and writes of a mix together, and only the writes of a trimwrite.
    const std::uint64_t bytes = job_.mixed()  ? issued_bytes_[0] + issued_bytes_[1]
                                : job_.writes ? issued_bytes_[1]
                                : job_.reads  ? issued_bytes_[0]
                                              : issued_bytes_[2];
    if (bytes >= byte_limit() * job_.loops) return true;
    return job_.number_ios != 0 && done_ios_ + outstanding >= io_limit();
}

bool FioJobAmounts::another_pass() {
    if (job_.time_based) return true;
    if (loops_left_ > 0) {
        --loops_left_;
        return true;
    }
    if (job_.number_ios != 0 && done_ios_ >= io_limit()) return false;
    const std::uint64_t limit = byte_limit();
    if (done_bytes_ >= limit || limit - done_bytes_ < job_.largest_block()) return false;
    return !(region_done_ && job_.io_size == 0);
}

double FioJobAmounts::share() const {
    if (job_.time_based) return 0;
    std::uint64_t bytes = 0;
    for (std::uint64_t b : issued_bytes_) bytes += b;
    const double all = static_cast<double>(byte_limit()) * job_.loops * (job_.trimwrite() ? 2 : 1);
    double share = static_cast<double>(bytes) / all;
    if (job_.number_ios != 0) share = std::max(share, static_cast<double>(done_ios_) / static_cast<double>(io_limit()));
    return share;
}

}  // namespace ssdtlm
