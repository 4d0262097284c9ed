// SPDX-License-Identifier: Apache-2.0
// fio's flow: jobs of one flow_id issue I/O in proportion to their weights (fio 3.33, flow.c). A job that is ahead
// waits.
#pragma once

#include <cstdint>

namespace ssdtlm {

struct FioFlow {
    std::uint64_t issued = 1;  ///< I/Os of all jobs that have not ended; begins with 1, as in fio
    std::uint64_t weight = 0;  ///< sum over all jobs that have not ended
    /// True: a job of weight `share` that has issued `own` I/Os is ahead of the others.
    bool ahead(std::uint64_t own, std::uint32_t share) const {
        return static_cast<double>(own) / static_cast<double>(issued) >
               static_cast<double>(share) / static_cast<double>(weight);
    }
};

}  // namespace ssdtlm
